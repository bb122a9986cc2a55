package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/toolcrib/toolcrib/agent"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/tool"
)

// message is what the customer wrote.
const message = "Hello, this is Ada (ada@example.com). " +
	"The blue teapot of my order SO-1007 came with a crack. Please pay it back, and what would a new one cost me? " +
	"And where is my tea, order SO-1071, and what would the same again cost? " +
	"One of the cups has fine cracks in its glaze: is that under warranty? " +
	"Also, I would like twelve of your blue cups for my tea room: what are they with shipping? " +
	"(Received on 2026-03-12.)"

// What bounds the agent's run: a live model takes its time.
const (
	runTimeout     = 90 * time.Second
	liveRunTimeout = 6 * time.Minute // Above the agent's own limit.
)

// showing is what there was to see.
type showing struct {
	run   v1.Run
	calls []v1.Invocation // As gather returns them.
	graph string          // Id of the run of the graph.

	notesBefore int // That are not this run's.
}

// cancelUnfinished ends the runs of a demo that was interrupted. They are
// durable: they went on when the worker came back.
func (d *demo) cancelUnfinished(ctx context.Context) error {
	for _, status := range []agent.RunStatus{agent.RunPending, agent.RunRunning} {
		page, err := d.api.ListRuns(ctx, client.RunQuery{Status: status, Kind: agent.RunKindAgent})
		if err != nil {
			return err
		}
		for _, run := range page.Items {
			if _, err := d.api.CancelRun(ctx, run.ID); tool.KindOf(err) == tool.Conflict {
				continue // It has ended meanwhile.
			} else if err != nil {
				return err
			}
			if _, err := d.api.Follow(ctx, run.ID, func(tool.Event) error { return nil }); err != nil {
				return err
			}
		}
	}
	return nil
}

// play runs the agent over the message, prints what it did, and judges it.
func (d *demo) play(ctx context.Context) error {
	timeout := runTimeout
	if d.model.live {
		timeout = liveRunTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	input, err := json.Marshal(message)
	if err != nil {
		return fmt.Errorf("encoding the message: %w", err)
	}
	if err := d.cancelUnfinished(ctx); err != nil {
		return fmt.Errorf("cancelling what an interrupted demo left: %w", err)
	}
	d.company.service.Reset()
	d.notesBefore = len(d.company.notebook.Notes())
	err = d.step("run the agent supportDesk", func() (string, error) {
		started, err := d.api.StartRun(ctx, v1.NewRun{Agent: "supportDesk", Input: input, Mode: tool.Production})
		if err != nil {
			return "", err
		}
		d.run, err = d.api.Follow(ctx, started.ID, func(e tool.Event) error { return d.approve(ctx, e) })
		return fmt.Sprintf("%s after %d turns", d.run.Status, d.run.Turns), err
	})
	if err != nil {
		return err
	}
	if d.calls, err = gather(ctx, d.api, d.run.ID); err != nil {
		return fmt.Errorf("listing the calls: %w", err)
	}
	d.say("\n  Customer: %s\n", wrap(message))
	printCalls(d.out, d.calls)
	d.say("\n  Agent: %s", wrap(d.run.Output))
	return d.judge()
}
