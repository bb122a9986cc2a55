package httpcall

import (
	"encoding/json"

	"github.com/toolcrib/toolcrib/executors"
	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

// Type describes http tools. Gate and secrets are nil in a process that only
// validates definitions.
func Type(gate *egress.Gate, secrets secret.Resolver) executors.Type {
	return executors.Type{
		Traits:        tool.Traits{Implementation: tool.HTTP, Quick: true, Guarded: true},
		Executor:      New(gate, secrets),
		CheckConfig:   func(config, _ json.RawMessage) error { return CheckConfig(config) },
		Needs:         Needs,
		DeclaresReads: DeclaresReads,
		Advise:        Advise,
		Aims:          Aims,
		Target:        ApprovalTarget,
	}
}
