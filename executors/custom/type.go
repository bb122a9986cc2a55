package custom

import (
	"encoding/json"

	"github.com/toolcrib/toolcrib/executors"
	"github.com/toolcrib/toolcrib/tool"
)

// Type describes custom tools that the executors of m run. Where m is nil, the
// workers' executors are unknown, and tools may name any.
func Type(m *Mux) executors.Type {
	t := executors.Type{
		Traits:      tool.Traits{Implementation: tool.Custom, Quick: true},
		CheckConfig: func(config, _ json.RawMessage) error { return CheckConfig(config) },
	}
	if m != nil {
		t.Executor, t.CheckWorkers, t.InputSchema = m, m.Check, m.InputSchema
	}
	return t
}
