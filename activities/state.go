package activities

import (
	"context"

	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/tool"
)

// withState gives the attempt the state of its run, as [tool.State] returns it.
func (t *attempt) withState(ctx context.Context) context.Context {
	if t.a.States == nil || t.in.RunID == "" {
		return ctx
	}
	owner := ledger.StateOwner{
		Tenant: t.in.Principal.Tenant, RunID: t.in.RunID, EffectID: t.in.EffectID, Fence: t.fence,
		Pure: t.in.Pin.Execution.Pure,
	}
	return tool.WithState(ctx, owner.In(t.a.States))
}
