package registrytest

import (
	"encoding/json"

	"github.com/toolcrib/toolcrib/executors"
	"github.com/toolcrib/toolcrib/internal/input"
	"github.com/toolcrib/toolcrib/tool"
)

// Types returns the platform's implementation types without checks, with some
// replaced or added.
func Types(others ...executors.Type) executors.Types {
	var types executors.Types
	for _, i := range []tool.Implementation{
		tool.Internal, tool.HTTP, tool.Function, tool.RAGRetrieval, tool.MCP, tool.Custom,
	} {
		types = append(types, executors.Type{Traits: tool.Traits{Implementation: i, Quick: true}})
	}
	for _, i := range []tool.Implementation{
		tool.AgentCall, tool.Task, tool.Composition, tool.Graph, tool.Artifact, tool.Prompt,
	} {
		types = append(types, executors.Type{Traits: tool.Traits{Implementation: i}})
	}
	types = append(types, executors.Type{Traits: tool.Traits{Implementation: tool.Client, RunBy: tool.RunByClient}})
	types = append(types, executors.Type{
		Traits:      tool.Traits{Implementation: tool.Input, RunBy: tool.RunByClient},
		InputSchema: func(json.RawMessage) json.RawMessage { return json.RawMessage(input.Schema) },
	})
	types = append(types, executors.Type{Traits: tool.Traits{Implementation: tool.Provider, RunBy: tool.RunByProvider}})
	return types.With(others...)
}
