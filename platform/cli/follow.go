package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/agent"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/tool"
)

func (a *app) runWaitCommand() *cobra.Command {
	return a.withRun("wait", "Follow a run until it ends, and print each call", a.follow)
}

// followed is what following a run prints as JSON.
type followed struct {
	Run         v1.Run            `json:"run"`
	Invocations []tool.Invocation `json:"invocations"`
}

// follow prints each call of a run as it ends, then how the run ended. A run
// that did not complete is a failure.
func (a *app) follow(ctx context.Context, c *client.Client, id string) error {
	seen := followed{Invocations: []tool.Invocation{}}
	run, err := c.Follow(ctx, id, func(e tool.Event) error {
		if e.InvocationID == "" || !ends(e.Type) {
			return nil
		}
		invocation, err := c.Invocation(ctx, e.InvocationID)
		if err != nil {
			return err
		}
		seen.Invocations = append(seen.Invocations, invocation)
		if a.printer.json {
			return nil
		}
		return writeCall(a.printer.out, invocation)
	})
	if err != nil {
		return err
	}
	seen.Run = run
	if err := a.printer.show(seen, func(w io.Writer) error { return writeEnd(w, run) }); err != nil {
		return err
	}
	if run.Status != agent.RunCompleted {
		return &silentError{code: ExitFailure}
	}
	return nil
}

// ends reports whether an event tells of the end of a call.
func ends(t tool.EventType) bool {
	switch t {
	case tool.EventCompleted, tool.EventFailed, tool.EventCancelled, tool.EventRejected, tool.EventExpired:
		return true
	case tool.EventStarted, tool.EventOutputAppended, tool.EventNeedsApproval, tool.EventApproved, tool.EventPending,
		tool.EventResultReceived, tool.EventWarning:
		return false
	default:
		return false
	}
}

// writeCall writes one line about a call that ended.
func writeCall(w io.Writer, i tool.Invocation) error {
	status := string(i.Status)
	if i.Status == tool.StatusCompleted && i.IsError {
		status += ", answered no"
	}
	line := fmt.Sprintf("  %-28s %-14s %-10s %-22s %6s ms", clean(versioned(i.Tool, i.Version)), clean(string(i.Implementation)),
		clean(string(i.Mode)), clean(status), millis(i.StartedAt, i.CompletedAt))
	if i.Attempt > 1 {
		line += "  attempt " + strconv.Itoa(i.Attempt)
	}
	if i.Error != "" {
		line += "  " + clean(string(i.ErrorKind)) + ": " + short(i.Error, 100)
	}
	_, err := fmt.Fprintln(w, line)
	return err
}

func writeEnd(w io.Writer, r v1.Run) error {
	line := string(r.Status)
	if r.StartedAt != nil && r.CompletedAt != nil {
		line += fmt.Sprintf(" after %s ms, %d turns", millis(r.StartedAt, r.CompletedAt), r.Turns)
	}
	if r.Error != "" {
		line += ": " + clean(string(r.ErrorKind)+": "+r.Error)
	}
	if _, err := fmt.Fprintln(w, line); err != nil {
		return err
	}
	if r.Output == "" {
		return nil
	}
	_, err := fmt.Fprintln(w, "\n"+cleanLines(r.Output))
	return err
}
