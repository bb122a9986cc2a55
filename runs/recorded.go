package runs

import "github.com/toolcrib/toolcrib/agent"

// Recorded returns the call of a recorded run, to be waited for with [Service.Wait] by others than its caller. One
// that has not begun is not waited for.
func Recorded(run agent.Run) Call {
	return Call{
		RunID: run.ID, WorkflowID: run.WorkflowID, tenant: run.Tenant, confirmed: run.StartedAt != nil || run.Status.Final(),
	}
}
