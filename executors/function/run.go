package function

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/toolcrib/toolcrib/tool"
)

// Run calls a function in this process, without platform, tenant or record, as
// in a test. It fails with [tool.NotFound] for an unknown name. Arguments are
// prepared as for a call: repaired and coerced where that is unambiguous, else
// refused with [tool.Invalid]. The function's own middleware and hooks run.
//
// The function has no [Info], unless ctx has one from [WithInfo], and only the
// deadline of ctx.
func (r *Registry) Run(ctx context.Context, name string, arguments json.RawMessage) (*tool.Result, error) {
	f := r.find(name)
	if f == nil {
		return nil, &tool.Error{
			Kind: tool.NotFound, Op: "function.Run", Msg: fmt.Sprintf("no function %q is registered", name),
		}
	}
	if err := r.ready(f); err != nil {
		return nil, err
	}
	prepared, _, err := f.input.Prepare(ctx, arguments)
	if err != nil {
		return nil, err
	}
	call := &tool.Call{
		Version: &tool.Version{Slug: name, Number: f.tool.Version, Snapshot: tool.Snapshot{Definition: f.tool.Definition}},
		Egress:  f.tool.Policy.EgressClass, Timeout: f.tool.Definition.Execution.Timeout(), Attempt: 1, Arguments: prepared,
	}
	if info, ok := InfoFrom(ctx); ok {
		call.CallID, call.EffectID, call.RunID = info.CallID, info.EffectID, info.RunID
		call.Principal, call.Mode, call.Attempt = info.Principal, info.Mode, max(1, info.Attempt)
	}
	return f.executor.Execute(ctx, call)
}
