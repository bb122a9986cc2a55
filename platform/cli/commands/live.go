package commands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/agent"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/tool"
)

func (a *app) runFollowCommand() *cobra.Command {
	var after int64
	cmd := cli.Describe(a.withRun("follow", "Watch a run live: what the model says, and each call",
		func(ctx context.Context, c *client.Client, id string) error { return a.watch(ctx, c, id, after) }),
		`Prints what the model says while it says it, each call as it ends, and how the
run ended. With --json it prints one event a line. A run that did not complete
ends the command with exit code 1. Interrupting the command leaves the run alone.`,
		`  toolcrib run follow 01987a3c-0000-7000-8000-000000000001
  toolcrib run follow 01987a3c-0000-7000-8000-000000000001 --after 12 --json`)
	cmd.Flags().Int64Var(&after, "after", 0, "number of the last event you have")
	return cmd
}

// watch prints the events of a run after a number as they arrive, to its end. A run that
// did not complete is a failure.
func (a *app) watch(ctx context.Context, c *client.Client, id string, after int64) error {
	defer a.Progress("following %s", id)()
	defer a.reportWaits(ctx, c, id)()
	view := &liveView{
		out: a.Printer.Out, approver: a.ApproverFlags(),
		call: func(id string) (v1.Invocation, error) { return c.Invocation(ctx, id) },
	}
	show := view.show
	if a.Printer.JSON {
		enc := json.NewEncoder(a.Printer.Out)
		enc.SetEscapeHTML(false)
		show = func(e tool.Event) error { return enc.Encode(e) }
	}
	for e, err := range c.FollowRun(ctx, id, after) {
		if err == nil {
			err = show(e)
		}
		if err != nil {
			return a.leave(ctx, view, id, after, err)
		}
		after = e.Seq
	}
	run, err := c.Run(ctx, id)
	if err != nil {
		return err
	}
	if !a.Printer.JSON {
		if view.said == run.Output {
			run.Output = "" // It stands there already.
		}
		if err := errors.Join(view.endLine(), writeEnd(a.Printer.Out, run)); err != nil {
			return err
		}
	}
	if run.Status != agent.RunCompleted {
		return &cli.ExitError{Code: cli.ExitFailure}
	}
	return nil
}

// leave returns the error of following a run that has not ended; if the user
// interrupted, it prints how to resume.
func (a *app) leave(ctx context.Context, view *liveView, id string, after int64, err error) error {
	if ctx.Err() == nil || a.Printer.JSON {
		return err
	}
	if err := view.endLine(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.Env.Err, "the run goes on; watch it again with: toolcrib run follow %s --after %d\n",
		terminal.Clean(id),
		after)
	return errors.Join(err, &cli.ExitError{Code: cli.ExitInterrupted})
}

// liveView shows a run to a person.
type liveView struct {
	out      io.Writer
	call     func(id string) (v1.Invocation, error)
	approver string // Flags of the key that decides on what the run waits for.

	turn, attempt int
	said          string // By the model, in the turn and attempt.
	inLine        bool   // What was written last does not end in a newline.
}

func (v *liveView) show(e tool.Event) error {
	switch {
	case e.Type == agent.EventOutputAppended:
		var o agent.Output
		if err := json.Unmarshal(e.Data, &o); err != nil {
			return fmt.Errorf("reading event %d: %w", e.Seq, err)
		}
		return v.say(o)
	case e.Type == agent.EventTurn:
		return v.endLine()
	case e.Type == agent.EventModelRetrying:
		return errors.Join(v.endLine(), writeModelRetry(v.out, e))
	case e.Type == tool.EventWarning:
		return errors.Join(v.endLine(), writeWarning(v.out, e))
	case e.Type == tool.EventNeedsApproval:
		return errors.Join(v.endLine(), writeAsked(v.out, e, v.approver))
	case e.Type == tool.EventPending:
		return errors.Join(v.endLine(), writeOffered(v.out, e))
	case e.InvocationID != "" && ends(e.Type):
		invocation, err := v.call(e.InvocationID)
		if err != nil {
			return err
		}
		return errors.Join(v.endLine(), writeCall(v.out, invocation))
	default:
		return nil
	}
}

// say writes output of the model. A retried attempt starts over, and late output
// of an earlier attempt is dropped.
func (v *liveView) say(o agent.Output) error {
	switch {
	case o.Turn == v.turn && o.Attempt < v.attempt:
		return nil
	case o.Turn == v.turn && o.Attempt > v.attempt && v.said != "":
		if err := v.endLine(); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(v.out, "(the model is asked again)"); err != nil {
			return err
		}
	}
	if o.Turn != v.turn || o.Attempt != v.attempt {
		v.turn, v.attempt, v.said = o.Turn, o.Attempt, ""
	}
	v.said += o.Text
	text := terminal.CleanLines(o.Text)
	if text == "" {
		return nil
	}
	v.inLine = !strings.HasSuffix(text, "\n")
	_, err := io.WriteString(v.out, text)
	return err
}

// endLine begins a new line unless one has begun.
func (v *liveView) endLine() error {
	if !v.inLine {
		return nil
	}
	v.inLine = false
	_, err := fmt.Fprintln(v.out)
	return err
}
