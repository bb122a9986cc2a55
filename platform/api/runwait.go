package api

import (
	"context"
	"fmt"
	"time"

	"github.com/toolcrib/toolcrib/agent"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// maxModelRetries bounds the failed attempts of models that a run is shown with.
const maxModelRetries = 20

// explainRun adds why calls of a run waited, and which attempts got no answer of
// the model.
func (s *server) explainRun(ctx context.Context, run agent.Run, shown mask, out *v1.Run) error {
	if run.Kind != agent.RunKindAgent || run.Plan == nil {
		return nil
	}
	calls, err := s.cfg.Store.TurnCalls(ctx, run.Tenant, run.ID)
	if err != nil {
		return fmt.Errorf("reading the calls of run %s: %w", run.ID, err)
	}
	retries, err := s.cfg.Store.ModelRetries(ctx, run.Tenant, run.ID, maxModelRetries)
	if err != nil {
		return fmt.Errorf("reading the attempts of run %s: %w", run.ID, err)
	}
	until := time.Now()
	if run.CompletedAt != nil {
		until = *run.CompletedAt
	}
	for _, w := range run.Plan.Waits(calls, until) {
		out.Waits = append(out.Waits, v1.FromWait(w))
	}
	for _, r := range retries {
		r.Cause = shown.text(r.Cause)
		out.ModelRetries = append(out.ModelRetries, v1.FromModelRetry(r))
	}
	return nil
}
