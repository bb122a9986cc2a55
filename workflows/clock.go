package workflows

import (
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"
)

// clock cancels a context at a deadline. It stands still while a call of the workflow
// waits for a person, and while the run is paused.
type clock struct {
	at      time.Time // When it cancels, unless it is stopped or stands still.
	summary string
	parent  workflow.Context
	cancel  workflow.CancelFunc
	timer   workflow.CancelFunc // Stops the timer; nil while there is none.
	over    bool
	paused  int
	since   time.Time // When it was paused.
}

// deadline returns a context that is cancelled at the given time, and its clock, which is
// stopped by its stop. The waits of the workflow stop it while they last; they may be nil.
func deadline(ctx workflow.Context, at time.Time, summary string, w *waits) (workflow.Context, *clock) {
	limited, cancel := workflow.WithCancel(ctx)
	c := &clock{at: at, summary: summary, parent: ctx, cancel: cancel}
	if !at.After(workflow.Now(ctx)) {
		cancel()
		c.over = true
		return limited, c
	}
	switch {
	case w == nil:
		c.start()
	case w.round.Paused():
		c.paused, c.since = 1, workflow.Now(ctx)
		w.clocks, w.still = append(w.clocks, c), append(w.still, c)
	default:
		c.start()
		w.clocks = append(w.clocks, c)
	}
	return limited, c
}

func (c *clock) start() {
	ctx, stop := workflow.WithCancel(c.parent)
	c.timer = stop
	left := c.at.Sub(workflow.Now(c.parent))
	timer := workflow.NewTimerWithOptions(ctx, left, workflow.TimerOptions{Summary: c.summary})
	workflow.Go(ctx, func(ctx workflow.Context) {
		if timer.Get(ctx, nil) == nil {
			c.over = true
			c.cancel()
		}
	})
}

// pause makes the clock stand still, until it was resumed as often.
func (c *clock) pause(ctx workflow.Context) {
	if c.paused++; c.paused == 1 && !c.over && c.timer != nil {
		c.since = workflow.Now(ctx)
		c.timer()
		c.timer = nil
	}
}

func (c *clock) resume(ctx workflow.Context) {
	if c.paused--; c.paused == 0 && !c.over && !c.since.IsZero() {
		c.at = c.at.Add(workflow.Now(ctx).Sub(c.since))
		c.since = time.Time{}
		c.start()
	}
}

// passed reports whether the clock cancelled its context.
func (c *clock) passed() bool { return c.over }

// stop releases the timer and the context.
func (c *clock) stop(w *waits) {
	if c.timer != nil {
		c.timer()
	}
	c.timer, c.since = nil, time.Time{}
	c.cancel()
	if w != nil {
		w.clocks = slices.DeleteFunc(w.clocks, func(other *clock) bool { return other == c })
	}
}
