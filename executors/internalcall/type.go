package internalcall

import (
	"github.com/toolcrib/toolcrib/executors"
	"github.com/toolcrib/toolcrib/tool"
)

// Type describes internal tools, over the built-ins and the authority that [New]
// takes.
func Type(builtins Builtins, authority Authority) executors.Type {
	return executors.Type{
		Traits:   tool.Traits{Implementation: tool.Internal, Quick: true, Guarded: true},
		Executor: New(builtins, authority),
	}
}
