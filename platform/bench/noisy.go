package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/client"

	"github.com/toolcrib/toolcrib/tool"
)

// noisy measures the calls of a quiet tenant, first with the worker to itself
// and then while another tenant has thousands queued on the same task queue.
func noisy(ctx context.Context, l *lab) ([]Figure, error) {
	s, err := l.newSite(ctx, "bench-noisy")
	if err != nil {
		return nil, err
	}
	loud, err := s.newTenant(ctx, "bench-loud")
	if err != nil {
		return nil, err
	}
	for _, p := range []tool.Principal{s.principal, loud} {
		if err := s.publish(ctx, p, advanceFunction); err != nil {
			return nil, err
		}
	}
	if _, err := s.probe(ctx, l.size.Probes/3, nil); err != nil {
		return nil, err
	}
	l.progress("a quiet tenant alone")
	alone, err := s.probe(ctx, l.size.Probes, nil)
	if err != nil {
		return nil, err
	}
	l.progress("the other tenant queues %d calls", l.size.Backlog)
	crowd, err := s.burst(ctx, loud, l.size.Backlog)
	if err != nil {
		return nil, err
	}
	beside, err := s.probe(ctx, l.size.Probes, func() (bool, error) { return s.queued(ctx, crowd) })
	stopErr := s.terminate(ctx, crowd)
	if err := errors.Join(err, stopErr); err != nil {
		return nil, err
	}
	a, b := record{beside}, record{alone}
	times := a.times()
	return []Figure{Figure{
		Name: "noisy_tenant", Unit: "ms", Ratio: medianTime(beside) / medianTime(alone), Ours: medianTime(beside),
		Floor: medianTime(alone),
		P50:   ms(percentile(times, 0.5)), P99: ms(percentile(times, 0.99)), N: len(times),
		Note: fmt.Sprintf("a quiet tenant's call beside %d queued ones of another's; the floor is the same call alone, "+
			"p99 %.0f ms",
			l.size.Backlog, ms(percentile(b.times(), 0.99))),
	}.aimed(atMost(2))}, nil
}

// probeBudget bounds how long the quiet tenant's calls are measured: where the
// other one is in its way, a few of them say so.
const probeBudget = time.Minute

// probe makes calls of the quiet tenant one after the other, for as long as
// they have company, and at least one.
func (s *site) probe(ctx context.Context, n int, company func() (bool, error)) (sample, error) {
	var got sample
	began := time.Now()
	for range max(n, 1) {
		one, err := repeat(ctx, 1, 1, 1, func(ctx context.Context) error {
			return s.hand(
				ctx, hostedChain, hostedInput{Principal: s.principal, Tool: toolName(advanceFunction, tool.LaneVisible), Calls: 1},
				1,
			)
		})
		if err != nil {
			return got, err
		}
		got.calls, got.took, got.each = got.calls+1, got.took+one.took, append(got.each, one.each...)
		if company == nil {
			continue
		}
		if still, err := company(); err != nil || !still || time.Since(began) > probeBudget {
			return got, err
		}
	}
	return got, nil
}

// burstWidth is how many calls one workflow makes at once.
const burstWidth = 500

// burst has workflows of the loud tenant make n calls at once, and returns when
// they are under way.
func (s *site) burst(ctx context.Context, loud tool.Principal, n int) ([]client.WorkflowRun, error) {
	var runs []client.WorkflowRun
	for n > 0 {
		width := min(n, burstWidth)
		n -= width
		w, err := s.temporal.ExecuteWorkflow(ctx, s.options("loud/"+uuid.NewString()), hostedBurst,
			hostedInput{Principal: loud, Tool: toolName(advanceFunction, tool.LaneVisible), Calls: width})
		if err != nil {
			return runs, fmt.Errorf("queueing calls: %w", err)
		}
		runs = append(runs, w)
	}
	return runs, nil
}

// queued reports whether any of the workflows is still under way.
func (s *site) queued(ctx context.Context, runs []client.WorkflowRun) (bool, error) {
	for _, w := range runs {
		described, err := s.temporal.DescribeWorkflowExecution(ctx, w.GetID(), w.GetRunID())
		if err != nil {
			return false, fmt.Errorf("looking at the queued calls: %w", err)
		}
		if described.GetWorkflowExecutionInfo().GetCloseTime() == nil {
			return true, nil
		}
	}
	return false, nil
}

// terminate takes back what is still queued.
func (s *site) terminate(ctx context.Context, runs []client.WorkflowRun) error {
	for _, w := range runs {
		still, err := s.queued(ctx, []client.WorkflowRun{w})
		if err != nil {
			return err
		}
		if !still {
			continue
		}
		if err := s.temporal.TerminateWorkflow(ctx, w.GetID(), w.GetRunID(), "measured"); err != nil {
			return fmt.Errorf("taking back queued calls: %w", err)
		}
	}
	return nil
}
