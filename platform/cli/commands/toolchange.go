package commands

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/schema/project"
	"github.com/toolcrib/toolcrib/tool"
)

func (a *app) toolPublishCommand() *cobra.Command {
	var version string
	var calls, different int
	var strict bool
	cmd := cli.Describe(a.withTool("publish", "Publish a tool's draft, or a version it has",
		func(ctx context.Context, c *client.Client, name string) error {
			if calls < 0 || calls > registry.MaxReplay {
				return cli.Usagef("--replay: expected 1 to %d recorded calls", registry.MaxReplay)
			}
			if calls > 0 {
				r, err := a.replay(ctx, c, name, v1.NewReplay{Calls: calls, Version: version})
				if err != nil {
					return err
				}
				if err := showReplay(a.Env.Err, &r); err != nil {
					return err
				}
				if r.Different > different {
					return fmt.Errorf("%s is not published: %d of the replayed calls differ and %d may", terminal.Clean(name),
						r.Different, different)
				}
			}
			publish := c.PublishTool
			if strict {
				publish = c.PublishToolStrict
			}
			published, err := publish(ctx, name, version)
			if err != nil {
				return err
			}
			for _, f := range published.Findings {
				published.Warnings = append(published.Warnings, f.Code+": "+f.Text)
			}
			for _, warning := range published.Warnings {
				if _, err := fmt.Fprintf(a.Env.Err, "warning: %s\n", terminal.Clean(warning)); err != nil {
					return err
				}
			}
			return a.Printer.ShowLine(published, "published %s",
				terminal.Clean(versioned(published.Tool.Slug, published.Version.Version)))
		}), `Makes a version available in production: the draft under its number, or with
--version one that was snapshotted before. The number must be raised by what the
change demands; "toolcrib tool diff" shows it.
With --replay, the last recorded calls are replayed first, and it is published only when
no more than --max-different of them differ. A gate, "toolcrib tool gate", requires that.
What "toolcrib tool check" finds is printed as warnings; with --strict such a tool is not
published.`, `  toolcrib tool publish getOrder
  toolcrib tool publish getOrder --version 1.2.0
  toolcrib tool publish getOrder --replay 20
  toolcrib tool publish getOrder --strict`)
	cmd.Flags().IntVar(&calls, "replay", 0, "how many of the last recorded calls are replayed before (default: none)")
	cmd.Flags().IntVar(&different, "max-different", 0, "how many of the replayed calls may differ")
	cmd.Flags().StringVar(&version, "version", "", "an existing version (default: the draft)")
	cmd.Flags().BoolVar(&strict, "strict", false, "refuse a tool with findings")
	a.CompleteFlag(cmd, "version", a.completeVersions)
	return cmd
}

func (a *app) toolVersionCommand() *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: "version TOOL NUMBER", Short: "Snapshot a tool's draft under a number, without publishing it",
		Args: cli.Operands("tool", "version number"), ValidArgsFunction: a.completeTools,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			version, err := c.VersionTool(cmd.Context(), args[0], args[1])
			if err != nil {
				return a.suggestTool(cmd.Context(), c, args[0], err)
			}
			return a.Printer.ShowLine(version, "made %s, %s",
				terminal.Clean(versioned(version.Slug, version.Version)), terminal.Shorten(version.Digest, 13))
		}),
	}, `Keeps the draft as a version, which can be tried in debug mode and published
later. The number must be raised by what the change demands.`, `  toolcrib tool version getOrder 1.3.0-rc.1
  toolcrib tool version getOrder 1.3.0`)
}

func (a *app) toolRenameCommand() *cobra.Command {
	var in v1.RenameTool
	cmd := cli.Describe(&cobra.Command{
		Use: "rename TOOL SLUG", Short: "Give a tool another slug; the former one works until a day",
		Args: cli.Operands("tool", "new slug"), ValidArgsFunction: a.completeTools,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			in.Slug = args[1]
			if in.KeepUntil == "" && !in.DropFormer { // So that the answer can name it.
				in.KeepUntil = time.Now().UTC().Add(registry.KeepFormerName).Format(time.DateOnly)
			}
			renamed, err := c.RenameTool(cmd.Context(), args[0], in)
			if err != nil {
				return a.suggestTool(cmd.Context(), c, args[0], err)
			}
			for _, warning := range renamed.Warnings {
				if _, err := fmt.Fprintln(a.Env.Err, "warning: "+terminal.Clean(warning)); err != nil {
					return err
				}
			}
			return a.Printer.Show(renamed, func(w io.Writer) error {
				was, is := terminal.Clean(args[0]), terminal.Clean(renamed.Slug)
				said := fmt.Sprintf("%s is called %s now; the former name works until %s\n", was, is, in.KeepUntil)
				switch {
				case in.DropFormer && args[0] == renamed.Slug:
					said = fmt.Sprintf("%s has no name but %s and its aliases now\n", was, is)
				case args[0] == renamed.Slug:
					said = was + " is called that already\n"
				case in.DropFormer:
					said = fmt.Sprintf("%s is called %s now; the former name no longer works\n", was, is)
				}
				_, err := io.WriteString(w, said)
				return err
			})
		}),
	}, `Changes the slug, and leaves id, versions, policy and runs as they are. Calls and
agents that use the former slug still reach the tool until its last day, with a
warning, and no other tool can take it. A model is offered the new slug; where its
agent has the tool by the former one, its calls by that reach it too. Agents whose
drafts use the former slug are named.
With the slug that the tool has, --drop-former ends the former names that it kept.`,
		`  toolcrib tool rename findOrders searchOrders
  toolcrib tool rename findOrders searchOrders --keep-until 2027-06-30
  toolcrib tool rename searchOrders searchOrders --drop-former`)
	cmd.Flags().StringVar(&in.KeepUntil, "keep-until", "",
		"last day, in UTC, that the former slug works (default: 90 days from now)")
	cmd.Flags().BoolVar(&in.DropFormer, "drop-former", false, "end the former slug at once")
	cmd.MarkFlagsMutuallyExclusive("keep-until", "drop-former")
	return cmd
}

func (a *app) toolStateCommand(to client.Transition, short, long string) *cobra.Command {
	return cli.Describe(a.withTool(string(to), short, func(ctx context.Context, c *client.Client, name string) error {
		t, err := c.SetTool(ctx, name, to)
		if err != nil {
			return err
		}
		return a.Printer.ShowLine(t, "%s is %s", terminal.Clean(t.Slug), terminal.Clean(string(t.Status)))
	}), long, "  toolcrib tool "+string(to)+" getOrder")
}

// unseen says what models are not shown of a tool.
func unseen(w v1.Weakened) string {
	switch {
	case w.Refused == "":
		return "do not see: " + strings.Join(w.Lost, ", ")
	case w.Dialect == project.OpenAIStrict:
		return "are offered it as a function that is not strict: " + w.Refused
	default:
		return "are not offered it: " + w.Refused
	}
}

func (a *app) toolExplainCommand() *cobra.Command {
	var is client.Explain
	cmd := cli.Describe(a.withTool("explain", "Explain how a tool resolves, rule by rule",
		func(ctx context.Context, c *client.Client, name string) error {
			e, err := c.ExplainTool(ctx, name, is)
			if err != nil {
				return err
			}
			return a.Printer.Show(e, func(w io.Writer) error {
				rows := make([][]string, len(e.Steps))
				for i, step := range e.Steps {
					verdict := "refused"
					if step.Passed {
						verdict = "passed"
					}
					rows[i] = []string{step.Rule, verdict, step.Saw}
				}
				if err := terminal.Table(w, "RULE VERDICT SAW~", rows); err != nil {
					return err
				}
				if e.Code != "" {
					_, err := fmt.Fprintf(w, "\n%s is refused: %s: %s\n", terminal.Clean(e.Ref), terminal.Clean(string(e.Code)),
						terminal.Clean(e.Detail))
					return err
				}
				_, err := fmt.Fprintf(w, "\n%s runs %s\n", terminal.Clean(e.Ref), terminal.Clean(versioned(e.Slug, e.Version)))
				if err == nil && e.Detail != "" {
					_, err = fmt.Fprintln(w, terminal.Clean(e.Detail))
				}
				if err == nil && e.ReadsDeclared != nil {
					_, err = fmt.Fprintf(w, "its POST is %s to read only, so egress class read_only lets it pass\n",
						terminal.Clean(declared(e.ReadsDeclared)))
				}
				for _, weak := range e.Weakened {
					if err == nil {
						_, err = fmt.Fprintf(w, "models of the dialect %s %s\n", terminal.Clean(string(weak.Dialect)),
							terminal.Clean(unseen(weak)))
					}
				}
				return err
			})
		}), `Applies every rule that a call would meet, and says what each looked at: which
version would run, or why none would. With the id of a run, it says whether the run
is tainted, by which call, and how calls of the tool are then decided.`, `  toolcrib tool explain getOrder
  toolcrib tool explain getOrder --version ^1.2 --mode debug
  toolcrib tool explain getOrder --agent support
  toolcrib tool explain getOrder --run 01987a3c-0000-7000-8000-000000000001`)
	cmd.Flags().StringVar(&is.Run, "run", "", "id of a run: with its taint and its budgets (default: no run)")
	cmd.Flags().StringVar(&is.Agent, "agent", "",
		"slug of an agent: with the profiles of its calls (default: other callers)")
	_ = cmd.RegisterFlagCompletionFunc("agent", a.completeAgents)
	cmd.Flags().StringVar(&is.Version, "version", "", "version or constraint, such as ^1.2")
	a.CompleteFlag(cmd, "version", a.completeVersions)
	cmd.Flags().StringVar((*string)(&is.Mode), "mode", string(tool.Production), "production or debug")
	return cmd
}
