package function

import (
	"fmt"
	"slices"

	"github.com/toolcrib/toolcrib/tool"
)

// permits checks a call against the host's declaration of its function. Tool
// definitions are untrusted: their authors are tenants.
func (f *function) permits(call *tool.Call) error {
	if len(f.tool.Tenants) > 0 && !slices.Contains(f.tool.Tenants, call.Principal.Tenant) {
		return unknown(f.tool.Definition.Name)
	}
	declared, claimed := f.tool.Definition.Execution, call.Version.Snapshot.Execution
	switch class := f.tool.Policy.EgressClass; {
	case rank(call.Egress) < rank(class):
		return denied("the function needs egress class %s: set the tool's egress_class to %s", class, class)
	case claimed.Pure && !declared.Pure:
		return denied("the function is not declared pure: set the tool's execution.is_pure to false, or define the " +
			"function with function.Pure")
	case claimed.Idempotent && !declared.Repeatable():
		return denied("the function is not declared idempotent: set the tool's execution.idempotent to false, or define " +
			"the function with function.Idempotent")
	}
	return nil
}

// rank orders classes by what they allow; an unknown one allows nothing.
func rank(class tool.Egress) int {
	switch class {
	case tool.EgressReadOnly:
		return 1
	case tool.EgressWrite:
		return 2
	case tool.EgressNone:
	}
	return 0
}

func denied(format string, args ...any) *tool.Error {
	return &tool.Error{Kind: tool.Denied, Op: "function.Execute", Msg: fmt.Sprintf(format, args...)}
}
