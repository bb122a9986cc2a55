package builtins

import (
	"context"
	"encoding/json"

	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/retrieval/ask"
	"github.com/toolcrib/toolcrib/tool"
)

// retrievalPipeline searches a pipeline of the caller's tenant: the one in the call, or, for
// a tenant's own tool (such as searchDocuments), the one in its configuration. The result
// has the passages, and a line to cite each. A pipeline that the tenant does not have is
// [tool.NotFound].
func retrievalPipeline(searcher retrieval.Searcher) Builtin {
	spec := Spec{
		Key: "retrieval_pipeline", Version: "1.0.2",
		Definition: tool.Definition{
			Name: "Search documents",
			Description: "Searches the documents of a retrieval pipeline and returns the passages that answer best, each " +
				"with a citation. Use it when the answer should be in documents of the organisation, before you search the " +
				"web. It does not list documents: ask for what they say.",
			Category:       "search",
			InputSchema:    json.RawMessage(ask.AnyPipelineSchema),
			OutputSchema:   json.RawMessage(ask.OutputSchema),
			Implementation: tool.Internal,
			Execution: tool.Execution{
				Pure: true, MaxConcurrency: tool.ReadConcurrency, ConcurrencyGroup: "retrieval_pipeline", TimeoutSeconds: 30,
			},
			Interaction: tool.Interaction{OpenInput: true}, // A filter names fields of the tenant's own.
		},
		Policy: tool.Policy{EgressClass: tool.EgressReadOnly, PermissionPolicy: tool.PermissionAuto},
	}
	return Builtin{
		Spec:   spec,
		Secret: true, // The pipeline that a call names may have one.
		For: func(config json.RawMessage, _ tool.Egress) tool.Definition {
			d := spec.Definition
			if c, err := ask.ReadConfig(config); err == nil && c.Target() != "" {
				d.InputSchema = json.RawMessage(ask.InputSchema)
			}
			return d
		},
		Check: func(config json.RawMessage, _ tool.Egress) ([]string, error) {
			_, err := ask.ReadConfig(config)
			return nil, err
		},
		Run: func(ctx context.Context, call *tool.Call) (*tool.Result, error) {
			c, err := ask.ReadConfig(configOf(call))
			if err != nil {
				return nil, err
			}
			return ask.Run(ctx, searcher, c, call)
		},
	}
}
