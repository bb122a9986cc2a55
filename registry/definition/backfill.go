package definition

import (
	"encoding/json"

	"github.com/toolcrib/toolcrib/registry/release"
	"github.com/toolcrib/toolcrib/tool"
)

// Backfill fills in the fields that the definition of another system's tool
// omits: status, version and implementation type.
func Backfill(s ToolSpec) ToolSpec {
	if s.Status == "" && !s.Publish {
		s.Status = tool.Published
		if s.Active != nil && !*s.Active {
			s.Status = tool.Disabled
		}
	}
	if s.Version == "" {
		s.Version = release.First
	}
	if s.ImplementationType() == "" {
		s.Implementation = inferType(&s)
	}
	return s
}

// inferType infers an implementation type from the fields that are configured.
func inferType(s *ToolSpec) tool.Implementation {
	if s.ArtifactID != "" {
		return tool.Artifact
	}
	var config map[string]json.RawMessage
	if json.Unmarshal(s.Config, &config) == nil {
		for _, sign := range []struct {
			key  string
			impl tool.Implementation
		}{
			{"function_name", tool.Function},
			{"server_url", tool.MCP},
			{"pipeline_id", tool.RAGRetrieval},
			{"target_agent_id", tool.AgentCall},
			{"target_agent_slug", tool.AgentCall},
			{"url", tool.HTTP},
		} {
			if config[sign.key] != nil {
				return sign.impl
			}
		}
	}
	if s.System || s.BuiltinKey != "" {
		return tool.Internal
	}
	return tool.Custom
}
