package commands

import (
	"context"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
)

func (a *app) runPauseCommand() *cobra.Command {
	cmd := a.pauseCommand("pause", "Pause a run", "paused %s: it begins nothing more", (*client.Client).PauseRun)
	return cli.Describe(cmd, `Has a run begin nothing more, with all runs below it, until "toolcrib run resume".
Calls and questions that are in progress come to their end. Approvals and results
may be given meanwhile. What the run is paused for is none of its own time.`,
		`  toolcrib run pause 01987a3c-0000-7000-8000-000000000001 --reason "the warehouse is being counted"`)
}

func (a *app) runResumeCommand() *cobra.Command {
	return cli.Describe(a.pauseCommand("resume", "Resume a run that is paused", "resumed %s", (*client.Client).ResumeRun),
		`Has a run that is paused go on where it was.`,
		`  toolcrib run resume 01987a3c-0000-7000-8000-000000000001`)
}

// pauseCommand makes a command that pauses or resumes a run.
func (a *app) pauseCommand(
	use, short, done string, change func(c *client.Client, ctx context.Context, id, reason string) (v1.Run, error),
) *cobra.Command {
	var reason string
	cmd := a.withRun(use, short, func(ctx context.Context, c *client.Client, id string) error {
		run, err := change(c, ctx, id, reason)
		if err != nil {
			return err
		}
		return a.Printer.ShowLine(run, done, terminal.Clean(run.ID))
	})
	cmd.Flags().StringVar(&reason, "reason", "", "why, for people who look at the run")
	return cmd
}

// writePause describes the pause of a run; it is empty where there is none.
func writePause(p *v1.Paused) string {
	if p == nil {
		return ""
	}
	text := terminal.StampSince(p.At) + " by " + p.By
	if p.Reason != "" {
		text += ": " + p.Reason
	}
	return text
}

// statusOf is the status of a run in lists.
func statusOf(r v1.Run) string {
	if r.Paused != nil {
		return string(r.Status) + ", paused"
	}
	return string(r.Status)
}
