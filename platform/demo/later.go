package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib/agent"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

// What is said about the stock, and what the warehouse answers.
const (
	stockQuestion   = "When do you have blue teapots again?"
	stockFurther    = "And now?"
	warehouseAnswer = `{"pieces": 20, "date": "2026-03-20"}`
)

// playLater shows a result that comes after its call timed out, and a run that another message
// continues: the model of the continuation finds the result in its inbox.
func (d *demo) playLater(ctx context.Context) error {
	var first, second v1.Run
	d.say("\n  A result that comes late\n")
	err := d.step("run the agent stockClerk", func() (_ string, err error) {
		first, err = d.finish(ctx, func(input json.RawMessage) (v1.Run, error) {
			return d.api.StartRun(ctx, v1.NewRun{Agent: "stockClerk", Input: input, Mode: tool.Production})
		}, stockQuestion)
		return fmt.Sprintf("%s after %d turns, without the warehouse", first.Status, first.Turns), err
	})
	if err != nil {
		return err
	}
	calls, err := gather(ctx, d.api, first.ID)
	if err != nil {
		return fmt.Errorf("listing the calls: %w", err)
	}
	var submitted v1.Submitted
	err = d.step("the warehouse answers after all", func() (_ string, err error) {
		submitted, err = d.api.SubmitRunResult(ctx, first.ID, v1.NewRunResult{
			CallID: "warehouse", NewResult: v1.NewResult{Result: json.RawMessage(warehouseAnswer)},
		})
		return "too late for the call: kept in the inbox", err
	})
	if err != nil {
		return err
	}
	err = d.step("the customer writes again", func() (_ string, err error) {
		second, err = d.finish(ctx, func(input json.RawMessage) (v1.Run, error) {
			return d.api.ContinueRun(ctx, first.ID, v1.NewMessage{Input: input})
		}, stockFurther)
		return fmt.Sprintf("%s after %d turn, as toolcrib run say does", second.Status, second.Turns), err
	})
	if err != nil {
		return err
	}
	messages, err := d.api.Messages(ctx, second.ID)
	if err != nil {
		return fmt.Errorf("reading the transcript: %w", err)
	}
	d.say("")
	printCalls(d.out, calls)
	d.say("\n  Customer: %s\n  Agent: %s", stockQuestion, wrap(first.Output))
	d.say("  Inbox: %s", inboxLine(messages))
	d.say("  Customer: %s\n  Agent: %s", stockFurther, wrap(second.Output))
	return judgeLater(calls, submitted, second, messages)
}

// finish starts a run with a text, and returns it once it has ended.
func (d *demo) finish(
	ctx context.Context, start func(input json.RawMessage) (v1.Run, error), text string,
) (v1.Run, error) {
	return d.finishWith(ctx, start, text, func(context.Context, tool.Event) error { return nil })
}

// finishWith is finish with what is done at each event.
func (d *demo) finishWith(
	ctx context.Context, start func(input json.RawMessage) (v1.Run, error), text string,
	each func(context.Context, tool.Event) error,
) (v1.Run, error) {
	input, err := json.Marshal(text)
	if err != nil {
		return v1.Run{}, fmt.Errorf("encoding the message: %w", err)
	}
	started, err := start(input)
	if err != nil {
		return v1.Run{}, err
	}
	ended, err := d.api.Follow(ctx, started.ID, func(e tool.Event) error { return each(ctx, e) })
	if err == nil && ended.Status != agent.RunCompleted {
		err = fmt.Errorf("the run is %s: %s: %s", ended.Status, ended.ErrorKind, ended.Error)
	}
	return ended, err
}

// inboxLine returns what a transcript has of the late result.
func inboxLine(messages []agent.Message) string {
	for _, m := range messages {
		for _, c := range m.Content {
			if m.Role == agent.RoleUser && strings.HasPrefix(c.Text, "[Tool Result: askWarehouse] (callId: warehouse)") {
				return c.Text
			}
		}
	}
	return ""
}

// judgeLater requires that the call timed out, that its result was kept once, and that the run
// that went on was shown it.
func judgeLater(calls []v1.Invocation, submitted v1.Submitted, second v1.Run, messages []agent.Message) error {
	var errs []error
	errs = append(errs, check(calls, []outcome{{
		call: "warehouse", tool: "askWarehouse@1.0.0", status: tool.StatusExpired, kind: tool.Timeout, attempts: 1,
	}}))
	if !submitted.Late || submitted.Repeated {
		errs = append(errs, fmt.Errorf("the warehouse's result is not kept as a late one: %+v", submitted))
	}
	if second.Status != agent.RunCompleted || !strings.Contains(second.Output, "20 March") {
		errs = append(errs, fmt.Errorf("the continued run is %s: %q", second.Status, second.Output))
	}
	if !strings.Contains(inboxLine(messages), "2026-03-20") {
		errs = append(errs, errors.New("the continued run was not shown the warehouse's result"))
	}
	return errors.Join(errs...)
}
