package commands

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/registry"
)

func (a *app) toolGateCommand() *cobra.Command {
	return cli.Describe(cli.Group("gate", "Require a replay of recorded calls before versions are published",
		a.gateSetCommand(), a.gateShowCommand(), a.gateRemoveCommand()),
		`A gate is of a tool, or of all tools of the tenant without one of their own. Versions
are then published only when exactly their content was replayed with so many of the
last calls, and no more than so many differed: "toolcrib tool publish --replay".`,
		`  toolcrib tool gate set getOrder --replay 20
  toolcrib tool gate set --replay 10 --max-different 1
  toolcrib tool gate show getOrder`)
}

// tenantOrTool takes the name of a tool, or none for the tenant.
func tenantOrTool(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

func (a *app) gateSetCommand() *cobra.Command {
	var in v1.NewPublishGate
	cmd := cli.Describe(&cobra.Command{
		Use: "set [TOOL]", Short: "Set the gate of a tool, or of the tenant", Args: cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeTools,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			if in.Replay < 1 || in.Replay > registry.MaxReplay {
				return cli.Usagef("--replay: expected 1 to %d recorded calls", registry.MaxReplay)
			}
			g, err := c.SetPublishGate(cmd.Context(), tenantOrTool(args), in)
			if err != nil {
				return a.suggestGate(cmd.Context(), c, args, err)
			}
			return a.Printer.ShowLine(g, "%s", gateText(g))
		}),
	}, `Replaces the gate that it had. Without a tool it is that of the tenant.`,
		`  toolcrib tool gate set getOrder --replay 20
  toolcrib tool gate set --replay 10 --max-different 1`)
	cmd.Flags().IntVar(&in.Replay, "replay", 20, "how many of the last recorded calls are replayed")
	cmd.Flags().IntVar(&in.MaxDifferent, "max-different", 0, "how many of them may differ")
	return cmd
}

func (a *app) gateShowCommand() *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: "show [TOOL]", Short: "Show the gate that applies to a tool, or that of the tenant", Args: cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeTools,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			g, err := c.PublishGate(cmd.Context(), tenantOrTool(args))
			if err != nil {
				return a.suggestGate(cmd.Context(), c, args, err)
			}
			return a.Printer.ShowLine(g, "%s", gateText(g))
		}),
	}, `That of the tenant applies to tools without one of their own.`, `  toolcrib tool gate show getOrder`)
}

func (a *app) gateRemoveCommand() *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: "remove [TOOL]", Short: "Remove the gate of a tool, or of the tenant", Args: cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeTools,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			g, err := c.RemovePublishGate(cmd.Context(), tenantOrTool(args))
			if err != nil {
				return a.suggestGate(cmd.Context(), c, args, err)
			}
			return a.Printer.ShowLine(g, "removed: %s", gateText(g))
		}),
	}, `That of the tenant applies then, if there is one.`, `  toolcrib tool gate remove getOrder`)
}

func (a *app) suggestGate(ctx context.Context, c *client.Client, args []string, err error) error {
	if len(args) == 0 {
		return err
	}
	return a.suggestTool(ctx, c, args[0], err)
}

func gateText(g v1.PublishGate) string {
	of := "every tool of the tenant without a gate of its own"
	if g.Tool != "" {
		of = terminal.Clean(g.Tool)
	}
	return fmt.Sprintf("%s: %d recorded calls are replayed before a version is published, and %d may differ", of, g.Replay,
		g.MaxDifferent)
}

// replayEvery is how often a replay is asked for until it has ended.
const replayEvery = 500 * time.Millisecond

// replay replays recorded calls of a tool, waits for the end, and shows what differs.
func (a *app) replay(ctx context.Context, c *client.Client, name string, in v1.NewReplay) (v1.Replay, error) {
	r, err := c.CreateReplay(ctx, name, in)
	if err != nil {
		return r, err
	}
	for !r.Ended {
		_, err := fmt.Fprintf(a.Env.Err, "replayed %d of %d calls\n", r.Same+r.Different+r.Skipped, len(r.Calls))
		if err != nil {
			return r, err
		}
		select {
		case <-ctx.Done():
			return r, ctx.Err()
		case <-time.After(replayEvery):
		}
		if r, err = c.Replay(ctx, name, r.ID); err != nil {
			return r, err
		}
	}
	return r, nil
}

func showReplay(w io.Writer, r *v1.Replay) error {
	var rows [][]string
	for _, call := range r.Calls {
		what := call.Reason
		if len(call.Differences) > 0 {
			what = fmt.Sprintf("%s", call.Differences)
		}
		rows = append(rows, []string{
			call.InvocationID, string(call.Way), string(call.Outcome), strconv.FormatInt(call.WasMillis, 10),
			strconv.FormatInt(call.IsMillis, 10), what,
		})
	}
	if err := terminal.Table(w, "CALL WAY OUTCOME WAS_MS IS_MS WHAT~", rows); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%d same, %d different, %d not replayed\n", r.Same, r.Different, r.Skipped)
	return err
}

func (a *app) toolReplayCommand() *cobra.Command {
	var in v1.NewReplay
	cmd := cli.Describe(a.withTool("replay", "Compare a tool's last recorded calls with its draft, or a version",
		func(ctx context.Context, c *client.Client, name string) error {
			if in.Calls < 1 || in.Calls > registry.MaxReplay {
				return cli.Usagef("--calls: expected 1 to %d recorded calls", registry.MaxReplay)
			}
			r, err := a.replay(ctx, c, name, in)
			if err != nil {
				return err
			}
			return a.Printer.Show(r, func(w io.Writer) error { return showReplay(w, &r) })
		}), `Calls of pure tools and of those of the egress class read_only are made again, as tests
without leave to write; of others, recorded arguments and answers are held against the
schemas. Calls that cannot be replayed are listed with the reason.`,
		`  toolcrib tool replay getOrder --calls 20
  toolcrib tool replay getOrder --version 1.3.0 --json`)
	cmd.Flags().IntVar(&in.Calls, "calls", 20, "how many of the last calls in production")
	cmd.Flags().StringVar(&in.Version, "version", "", "a version that the tool has (default: the draft)")
	a.CompleteFlag(cmd, "version", a.completeVersions)
	return cmd
}
