package commands

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/input"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/tool"
)

func (a *app) runWaitCommand() *cobra.Command {
	return cli.Describe(a.withRun("wait", "Wait until a run ends, and print each call",
		func(ctx context.Context, c *client.Client, id string) error {
			defer a.Progress("following %s", id)()
			return a.follow(ctx, c, id)
		}), `Waits until a run ends and prints each call as it ends. A run that did not
complete ends the command with exit code 1. Interrupting the command leaves the
run alone.`, `  toolcrib run wait 01987a3c-0000-7000-8000-000000000001`)
}

// followed is what following a run prints as JSON.
type followed struct {
	Run         v1.Run          `json:"run"`
	Invocations []v1.Invocation `json:"invocations"`
}

// follow prints each call of a run as it ends, then how the run ended. A run
// that did not complete is a failure.
func (a *app) follow(ctx context.Context, c *client.Client, id string) error {
	seen := followed{Invocations: []v1.Invocation{}}
	var after int64
	run, err := c.Watch(ctx, id, func(e tool.Event) error {
		after = e.Seq
		switch {
		case a.Printer.JSON:
		case e.Type == tool.EventWarning:
			return writeWarning(a.Printer.Out, e)
		case e.Type == agent.EventModelRetrying:
			return writeModelRetry(a.Printer.Out, e)
		case e.Type == tool.EventNeedsApproval:
			return writeAsked(a.Printer.Out, e, a.ApproverFlags())
		case e.Type == tool.EventPending:
			return writeOffered(a.Printer.Out, e)
		}
		if e.InvocationID == "" || !ends(e.Type) {
			return nil
		}
		invocation, err := c.Invocation(ctx, e.InvocationID)
		if err != nil {
			return err
		}
		seen.Invocations = append(seen.Invocations, invocation)
		if a.Printer.JSON {
			return nil
		}
		return writeCall(a.Printer.Out, invocation)
	}, a.warner())
	if err != nil {
		return a.leave(ctx, &liveView{out: a.Printer.Out}, id, after, err)
	}
	seen.Run = run
	if err := a.Printer.Show(seen, func(w io.Writer) error { return writeEnd(w, run) }); err != nil {
		return err
	}
	if run.Status != agent.RunCompleted {
		return &cli.ExitError{Code: cli.ExitFailure}
	}
	return nil
}

// warner returns a function that prints on the error stream why a run is not
// progressing, once for each reason.
func (a *app) warner() func(v1.Run) error {
	last := ""
	return func(run v1.Run) error {
		if run.Warning == "" || run.Warning == last {
			return nil
		}
		last = run.Warning
		_, err := fmt.Fprintf(a.Env.Err, "toolcrib: the run waits: %s\n", terminal.Clean(run.Warning))
		return err
	}
}

// ends reports whether an event is the end of a call.
func ends(t tool.EventType) bool {
	switch t {
	case tool.EventCompleted, tool.EventFailed, tool.EventCancelled, tool.EventRejected, tool.EventExpired:
		return true
	case tool.EventStarted, tool.EventOutputAppended, tool.EventNeedsApproval, tool.EventApproved, tool.EventPending,
		tool.EventEscalated, tool.EventResultReceived, tool.EventWarning:
		return false
	default:
		return false
	}
}

// writeWarning writes a warning event, one line about a tool that needs
// attention.
func writeWarning(w io.Writer, e tool.Event) error {
	var warning agent.Warning
	if err := json.Unmarshal(e.Data, &warning); err != nil {
		return fmt.Errorf("reading event %d: %w", e.Seq, err)
	}
	line := "  warning: " + terminal.Clean(versioned(warning.Tool, warning.Version)) + " is " +
		terminal.Clean(warning.Reason)
	if warning.Reason == agent.WarningOmitted {
		line = "  warning: the run goes without " + terminal.Clean(warning.Tool) + ": " +
			terminal.Shorten(warning.Message, 200)
	}
	if warning.Reason == tool.WarningOutputMismatch {
		line = "  warning: " + terminal.Clean(versioned(warning.Tool, warning.Version)) + ": " +
			terminal.Shorten(warning.Message, 200)
	}
	_, err := fmt.Fprintln(w, line)
	return err
}

// writeAsked writes that a call waits for a person, and how one answers: by a command with these flags.
func writeAsked(w io.Writer, e tool.Event, flags string) error {
	var asked agent.ApprovalAsked
	if err := json.Unmarshal(e.Data, &asked); err != nil {
		return fmt.Errorf("reading event %d: %w", e.Seq, err)
	}
	_, err := fmt.Fprintf(w, "  %s waits for an approval: %s\n    toolcrib approvals approve %s%s\n",
		terminal.Clean(versioned(asked.Tool, asked.Version)), terminal.Shorten(strings.Join(asked.Reasons, "; "), 200),
		terminal.Clean(asked.ApprovalID), terminal.Clean(flags))
	return err
}

// writeOffered writes that a call waits for its result from outside, and how one gives it.
func writeOffered(w io.Writer, e tool.Event) error {
	var offered agent.CallOffered
	if err := json.Unmarshal(e.Data, &offered); err != nil {
		return fmt.Errorf("reading event %d: %w", e.Seq, err)
	}
	if !offered.RequiresResponse {
		return nil
	}
	if offered.Kind == input.Kind {
		_, err := fmt.Fprintf(w, "  %s asks a person:\n    toolcrib inputs link %s\n",
			terminal.Clean(versioned(offered.Tool, offered.Version)), terminal.Clean(offered.PendingID))
		return err
	}
	_, err := fmt.Fprintf(w, "  %s is answered from outside:\n    toolcrib results submit %s --result …\n",
		terminal.Clean(versioned(offered.Tool, offered.Version)), terminal.Clean(offered.PendingID))
	return err
}

// writeModelRetry writes one line about an attempt that got no answer of the
// model.
func writeModelRetry(w io.Writer, e tool.Event) error {
	var retry agent.ModelRetry
	if err := json.Unmarshal(e.Data, &retry); err != nil {
		return fmt.Errorf("reading event %d: %w", e.Seq, err)
	}
	if retry.NextModel != "" {
		_, err := fmt.Fprintf(w, "  %s did not answer: %s: %s; %s is asked\n", terminal.Clean(retry.Model),
			terminal.Clean(string(retry.Kind)), terminal.Shorten(retry.Cause, 300), terminal.Clean(retry.NextModel))
		return err
	}
	_, err := fmt.Fprintf(w, "  the model did not answer: attempt %d of %d failed: %s: %s; the next is due at %s\n",
		retry.Attempt, retry.MaxAttempts, terminal.Clean(string(retry.Kind)), terminal.Shorten(retry.Cause, 300),
		terminal.Stamp(retry.RetryAt))
	return err
}

// writeCall writes one line about a call that ended.
func writeCall(w io.Writer, i v1.Invocation) error {
	status := string(i.Status)
	if i.Status == tool.StatusCompleted && i.IsError {
		status += ", answered no"
	}
	line := fmt.Sprintf("  %-28s %-14s %-10s %-22s %6s ms", terminal.Clean(versioned(i.Tool, i.Version)),
		terminal.Clean(string(i.Implementation)),
		terminal.Clean(string(i.Mode)), terminal.Clean(status), terminal.Millis(i.StartedAt, i.CompletedAt))
	if i.Attempt > 1 {
		line += "  attempt " + strconv.Itoa(i.Attempt)
	}
	if i.Error != "" {
		line += "  " + terminal.Clean(string(i.ErrorKind)) + ": " + terminal.Shorten(i.Error, 100)
	}
	_, err := fmt.Fprintln(w, line)
	return err
}

func writeEnd(w io.Writer, r v1.Run) error {
	line := terminal.Clean(string(r.Status))
	if r.StartedAt != nil && r.CompletedAt != nil {
		line += fmt.Sprintf(" after %s ms, %d turns", terminal.Millis(r.StartedAt, r.CompletedAt), r.Turns)
	}
	if r.Error != "" {
		line += ": " + terminal.Clean(string(r.ErrorKind)+": "+r.Error)
	}
	if _, err := fmt.Fprintln(w, line); err != nil {
		return err
	}
	if r.Output == "" {
		return nil
	}
	_, err := fmt.Fprintln(w, "\n"+terminal.CleanLines(r.Output))
	return err
}
