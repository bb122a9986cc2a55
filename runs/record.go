package runs

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// recordLease is for how long only the caller of [Recorder.Record] starts the workflow of a run.
// It is longer than a workflow is without a worker when one dies.
const recordLease = 2 * time.Minute

// Recorder records runs whose workflows a workflow starts as its children. It needs no client of
// Temporal.
type Recorder struct {
	service *Service
}

// NewRecorder returns a recorder.
func NewRecorder(store Store, resolver Resolver) *Recorder {
	return &Recorder{service: &Service{cfg: Config{Store: store, Resolver: resolver}}}
}

// Record records a pending run as [Service.Start] does. The caller starts its workflow on the
// task queue: what does not happen within minutes is done by [Service.Dispatch]. maxUnfinished
// is [Config.MaxUnfinished]; zero is no bound. A request that is served again gets the run that
// it recorded before.
//
// It fails as Start does.
func (r *Recorder) Record(ctx context.Context, n NewRun, queue string, maxUnfinished int) (agent.Run, error) {
	known, err := r.service.findRunOfRequest(ctx, n.Principal.Tenant, n.Request)
	if err != nil || known != nil {
		if known == nil {
			return agent.Run{}, err
		}
		return *known, nil
	}
	n.Mode = cmp.Or(n.Mode, tool.Production)
	run, err := r.service.newRun(ctx, n)
	if err != nil {
		return agent.Run{}, err
	}
	first, start, err := opening(n, run, takenOver{})
	if err != nil {
		return agent.Run{}, err
	}
	start.Tenant, start.WorkflowID, start.RunID, start.TaskQueue = run.Tenant, run.WorkflowID, run.ID, queue
	run, err = r.service.cfg.Store.AcceptRun(ctx, agent.Acceptance{
		Run: run, First: first, Start: start, MaxUnfinished: maxUnfinished, Lease: recordLease,
	})
	if err != nil {
		return agent.Run{}, fmt.Errorf("recording the run: %w", err)
	}
	return run, nil
}
