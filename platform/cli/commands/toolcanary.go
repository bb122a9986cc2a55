package commands

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
)

func (a *app) toolCanaryCommand() *cobra.Command {
	return cli.Describe(cli.Group("canary", "Publish a version to a share of the runs, and take it back if it fails",
		a.canaryStartCommand(), a.canaryListCommand(),
		a.canaryEndCommand("promote", "Give the canary of a tool to every run", (*client.Client).PromoteCanary),
		a.canaryEndCommand("stop", "Take the canary of a tool back", (*client.Client).StopCanary)),
		`A canary is a version that a share of the runs gets; the others get what they got
before. It is taken back by itself when too many of its calls fail. Runs that have it
keep it.`,
		`  toolcrib tool canary start getOrder 1.3.0 --share 10 --until 200calls --max-errors 5%
  toolcrib tool canary list getOrder
  toolcrib tool canary promote getOrder`)
}

func (a *app) canaryStartCommand() *cobra.Command {
	var in v1.NewCanary
	var until, errors string
	cmd := cli.Describe(&cobra.Command{
		Use: "start TOOL VERSION", Short: "Publish a version of a tool to a share of the runs",
		Args: cli.Operands("tool", "version, or draft"), ValidArgsFunction: a.completeTools,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			if in.Version = args[1]; in.Version == "draft" {
				in.Version = ""
			}
			var err error
			if in.Share < 1 || in.Share > 99 {
				return cli.Usagef("--share: expected 1 to 99 percent of the runs")
			}
			if in.UntilCalls, err = strconv.Atoi(strings.TrimSuffix(until, "calls")); err != nil || in.UntilCalls < 1 {
				return cli.Usagef("--until: expected a number of calls, such as 200calls")
			}
			if in.MaxErrorPercent, err = strconv.Atoi(strings.TrimSuffix(errors, "%")); err != nil || in.MaxErrorPercent < 0 {
				return cli.Usagef("--max-errors: expected a percentage, such as 5%%")
			}
			started, err := c.StartCanary(cmd.Context(), args[0], in)
			if err != nil {
				return a.suggestTool(cmd.Context(), c, args[0], err)
			}
			return a.Printer.ShowLine(started, "%s is a canary for %d %% of the runs",
				terminal.Clean(versioned(started.Tool, started.Version)), started.Share)
		}),
	}, `The version has to pass all that publishing requires. Which runs get it is decided by
their ids, so a run always gets the same. It is taken back when more than --max-errors
of its calls fail, once --min-calls have ended; it has passed when --until calls have
ended within that, and is then promoted with --promote, else on command.`,
		`  toolcrib tool canary start getOrder 1.3.0 --share 10 --until 200calls --max-errors 5%
  toolcrib tool canary start getOrder draft --share 25 --promote`)
	flags := cmd.Flags()
	flags.IntVar(&in.Share, "share", 10, "percent of the runs that get it")
	flags.StringVar(&until, "until", "200calls", "how many of its calls decide that it has passed")
	flags.StringVar(&errors, "max-errors", "5%", "percent of its calls that may fail")
	flags.IntVar(&in.MinCalls, "min-calls", 0,
		"calls that have to end before it is taken back (default: a twentieth of --until, at least 5)")
	flags.BoolVar(&in.Promote, "promote", false, "give it to every run once it has passed")
	return cmd
}

func (a *app) canaryListCommand() *cobra.Command {
	var p paging
	cmd := cli.Describe(&cobra.Command{
		Use: "list TOOL", Short: "List the canaries of a tool, newest first", Args: cli.Operands("tool"),
		ValidArgsFunction: a.completeTools,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			return a.suggestTool(cmd.Context(), c, args[0], showList(a, cmd, p, canaryListing,
				func(page client.Page) (v1.Page[v1.Canary], error) { return c.Canaries(cmd.Context(), args[0], page) }))
		}),
	}, `Shows how many calls of each ended and failed, beside those of the other versions.`,
		`  toolcrib tool canary list getOrder`)
	p.register(cmd)
	return cmd
}

var canaryListing = listing[v1.Canary]{
	header: "VERSION STATE SHARE CALLS FAILED STABLE_CALLS STABLE_FAILED REASON~ STARTED",
	row: func(c v1.Canary) []string {
		return []string{
			c.Version, string(c.State), strconv.Itoa(c.Share) + "%", strconv.Itoa(c.Calls), strconv.Itoa(c.Failures),
			strconv.Itoa(c.StableCalls), strconv.Itoa(c.StableFailures), c.Reason, terminal.Since(c.StartedAt),
		}
	},
	empty: "it never had a canary",
}

func (a *app) canaryEndCommand(
	verb, short string, end func(*client.Client, context.Context, string) (v1.Canary, error),
) *cobra.Command {
	return cli.Describe(a.withTool(verb, short, func(ctx context.Context, c *client.Client, name string) error {
		ended, err := end(c, ctx, name)
		if err != nil {
			return err
		}
		return a.Printer.ShowLine(ended, "%s is %s", terminal.Clean(versioned(ended.Tool, ended.Version)), ended.State)
	}), short+". Runs that have begun keep the version that they have.", "  toolcrib tool canary "+verb+" getOrder")
}
