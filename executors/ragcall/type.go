package ragcall

import (
	"encoding/json"

	"github.com/toolcrib/toolcrib/executors"
	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/tool"
)

// Type describes rag_retrieval tools. The searcher is nil in a process that only
// validates definitions.
func Type(searcher retrieval.Searcher) executors.Type {
	return executors.Type{
		Traits:      tool.Traits{Implementation: tool.RAGRetrieval, Quick: true},
		Executor:    New(searcher),
		CheckConfig: func(config, _ json.RawMessage) error { return CheckConfig(config) },
	}
}
