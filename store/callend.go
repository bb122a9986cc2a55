package store

import (
	"context"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// FindCallEnd returns how the run of a single call ended, in one round trip, or the
// status of a run that has not. It fails with tool.NotFound.
func (s *Store) FindCallEnd(ctx context.Context, tenant tool.TenantID, runID string) (agent.CallEnd, error) {
	const op = "store.FindCallEnd"
	if !tool.ValidID(runID) {
		return agent.CallEnd{}, notFound(op, "run not found")
	}
	row, err := ask(ctx, s.doPlanned, op, tenant, (*db.Queries).FindCallEnd, db.FindCallEndParams{
		TenantID: string(tenant), ID: runID,
	})
	if err != nil {
		return agent.CallEnd{}, explain(err, tool.NotFound, "run not found")
	}
	end := agent.CallEnd{
		Status: agent.RunStatus(row.Status), EndedBy: row.EndedBy, Kind: tool.Kind(row.ErrorKind), Msg: row.Error,
		InvocationID: row.InvocationID, CallStatus: tool.InvocationStatus(row.CallStatus),
		CallKind: tool.Kind(row.CallKind), CallMsg: row.CallError,
	}
	if len(row.Output) > 0 {
		end.Result = &tool.Result{}
		return end, decode(row.Output, end.Result)
	}
	var execution tool.Execution
	if err := decode(row.Execution, &execution); err != nil {
		return end, err
	}
	end.Acted = row.Sent && !execution.Repeatable()
	return end, nil
}
