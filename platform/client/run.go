package client

import (
	"context"
	"net/url"
	"time"

	"github.com/toolcrib/toolcrib/agent"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

// StartRun starts a run of an agent.
func (c *Client) StartRun(ctx context.Context, in v1.NewRun) (v1.Run, error) {
	return post[v1.Run](ctx, c, in, "runs")
}

// ContinueRun says more to an agent whose run has ended: a new run takes over the
// transcript.
func (c *Client) ContinueRun(ctx context.Context, id string, in v1.NewMessage) (v1.Run, error) {
	return post[v1.Run](ctx, c, in, "runs", id, "messages")
}

// Rerun starts a run again with the same input.
func (c *Client) Rerun(ctx context.Context, id string, in v1.Rerun) (v1.Run, error) {
	return post[v1.Run](ctx, c, in, "runs", id, "rerun")
}

// Run returns a run.
func (c *Client) Run(ctx context.Context, id string) (v1.Run, error) {
	return get[v1.Run](ctx, c, nil, "runs", id)
}

// ExplainRun returns a run with why its calls waited, and which attempts got no
// answer of the model.
func (c *Client) ExplainRun(ctx context.Context, id string) (v1.Run, error) {
	return get[v1.Run](ctx, c, url.Values{"explain": {"true"}}, "runs", id)
}

// RunQuery filters runs. Zero fields do not filter.
type RunQuery struct {
	Status agent.RunStatus
	Kind   agent.RunKind
	Agent  string // Slug or id.
	Parent string // Id of the run that asked for them.
	Paused bool   // Those that are paused.
	Since  time.Time
	Until  time.Time
	Page
}

// ListRuns returns a page of runs, newest first.
func (c *Client) ListRuns(ctx context.Context, q RunQuery) (v1.Page[v1.Run], error) {
	return list[v1.Run](ctx, c, q.query(
		"status", q.Status, "kind", q.Kind, "agent", q.Agent, "parent", q.Parent, "paused", q.Paused,
		"since", q.Since, "until", q.Until,
	), "runs")
}

// CancelRun asks a run to stop.
func (c *Client) CancelRun(ctx context.Context, id string) (v1.Run, error) {
	return post[v1.Run](ctx, c, nil, "runs", id, "cancel")
}

// PauseRun has a run begin nothing more until it is resumed. The reason may be empty.
func (c *Client) PauseRun(ctx context.Context, id, reason string) (v1.Run, error) {
	return post[v1.Run](ctx, c, v1.PauseRun{Reason: reason}, "runs", id, "pause")
}

// ResumeRun has a run go on that is paused. The reason may be empty.
func (c *Client) ResumeRun(ctx context.Context, id, reason string) (v1.Run, error) {
	return post[v1.Run](ctx, c, v1.PauseRun{Reason: reason}, "runs", id, "resume")
}

// Messages returns a run's transcript.
func (c *Client) Messages(ctx context.Context, runID string) ([]agent.Message, error) {
	return items[agent.Message](ctx, c, nil, "runs", runID, "messages")
}

// Events returns a run's events after a number, in order; 200 when limit is
// zero.
func (c *Client) Events(ctx context.Context, runID string, after int64, limit int) ([]tool.Event, error) {
	return items[tool.Event](ctx, c, query("after", after, "limit", limit), "runs", runID, "events")
}

// Follow calls fn with each event of a run, in order, until the run has ended,
// and returns the run as it ended. It stops at the first error of fn.
func (c *Client) Follow(ctx context.Context, runID string, fn func(tool.Event) error) (v1.Run, error) {
	return c.Watch(ctx, runID, fn, func(v1.Run) error { return nil })
}

// Watch is [Client.Follow] that also calls look with the current run, each time
// it is fetched.
func (c *Client) Watch(
	ctx context.Context, runID string, fn func(tool.Event) error, look func(v1.Run) error,
) (v1.Run, error) {
	const slowest = 500 * time.Millisecond
	var seen int64
	pause := 25 * time.Millisecond
	for {
		run, err := c.Run(ctx, runID)
		if err != nil {
			return v1.Run{}, err
		}
		if err := look(run); err != nil {
			return run, err
		}
		for seen < run.LastSeq {
			events, err := c.Events(ctx, runID, seen, 0)
			if err != nil {
				return run, err
			}
			for _, e := range events {
				if err := fn(e); err != nil {
					return run, err
				}
				seen = e.Seq
				pause = 25 * time.Millisecond
			}
			if len(events) == 0 {
				break
			}
		}
		if run.Status.Final() {
			return run, nil
		}
		select {
		case <-ctx.Done():
			return run, ctx.Err()
		case <-time.After(pause):
			pause = min(pause*3/2, slowest)
		}
	}
}
