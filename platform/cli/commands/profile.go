package commands

import (
	"context"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/tool"
)

func (a *app) profileCommand() *cobra.Command {
	return cli.Describe(cli.Group("profile", "Restrict uses of tools by named profiles",
		a.profileListCommand(), a.profileGetCommand(), a.profileSetCommand(), a.profileDeleteCommand()),
		`A profile is a named set of restrictions: it denies calls, asks for approvals or a
permission, limits how many calls begin in a time and how many run at once, and may
have a budget (toolcrib budget set --profile). It only adds to what a tool requires.
It applies to the tools and agents that it is assigned to (toolcrib tool assign).`,
		`  toolcrib profile set careful --approval --rate 10/minute
  toolcrib tool assign --tool getOrder --agent support --profile careful
  toolcrib profile list`)
}

var profileListing = listing[v1.Profile]{
	header: "PROFILE RESTRICTS~ USED CHANGED DESCRIPTION~",
	row: func(p v1.Profile) []string {
		return []string{
			p.Name, restrictions(p.ProfileRestrictions), strconv.Itoa(p.Assignments), terminal.Since(p.UpdatedAt),
			terminal.Shorten(p.Description, 60),
		}
	},
	empty: "no profiles: make one with toolcrib profile set",
}

func (a *app) profileListCommand() *cobra.Command {
	var agent string
	cmd := cli.Describe(listCommand(a, "List profiles",
		func(c *client.Client, ctx context.Context, page client.Page) (v1.Page[v1.Profile], error) {
			return c.Profiles(ctx, agent, page)
		}, profileListing), `Lists profiles by name, with how many assignments use each.`,
		`  toolcrib profile list
  toolcrib profile list --agent support --json`)
	cmd.Flags().StringVar(&agent, "agent", "", "only those that apply to some calls of this agent")
	_ = cmd.RegisterFlagCompletionFunc("agent", a.completeAgents)
	return cmd
}

func (a *app) profileGetCommand() *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: "get NAME", Short: "Show a profile", Args: cli.Operands("name"), ValidArgsFunction: a.completeProfiles,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			p, err := c.Profile(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.Printer.Show(p, func(w io.Writer) error {
				return terminal.Pairs(w, "profile", p.Name, "id", p.ID, "description", p.Description, "restricts",
					restrictions(p.ProfileRestrictions), "assignments", strconv.Itoa(p.Assignments), "changed",
					terminal.StampSince(p.UpdatedAt)+" by "+p.ChangedBy)
			})
		}),
	}, `Shows what a profile restricts, and how many assignments use it.`, `  toolcrib profile get careful`)
}

func (a *app) profileSetCommand() *cobra.Command {
	var in v1.ProfileRestrictions
	var rate string
	var burst int
	var ask bool
	cmd := cli.Describe(&cobra.Command{
		Use: "set NAME", Short: "Make a profile, or replace it", Args: cli.Operands("name"),
		ValidArgsFunction: a.completeProfiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			if ask {
				in.PermissionPolicy = tool.PermissionAlwaysAsk
			}
			var err error
			if in.Rate, err = parseRate(rate, burst); err != nil {
				return err
			}
			asked := in.Profile(args[0])
			if err := asked.Check(); err != nil {
				return cli.Usagef("%s: %s", strings.TrimPrefix(tool.AsError(err).Path, "/"), tool.AsError(err).Msg)
			}
			c, err := a.Connect()
			if err != nil {
				return err
			}
			defer c.Close()
			set, err := c.CreateProfile(cmd.Context(), v1.NewProfile{Name: args[0], ProfileRestrictions: in})
			if tool.KindOf(err) == tool.Conflict {
				set, err = c.ChangeProfile(cmd.Context(), args[0], in)
			}
			if err != nil {
				return err
			}
			return a.Printer.ShowLine(set, "profile %s: %s", set.Name, restrictions(set.ProfileRestrictions))
		},
	}, `Makes a profile, or replaces all that the one with the name restricts. What it
restricts applies at the next call, also of runs that are under way.

A rate is a token bucket: so many calls begin in a second, minute, hour or day, and
after a rest --burst of them at once (as many as the rate says, by default). It is
counted for each tool and, of an assignment to an agent, for each agent by itself.
A call beyond it is tried again when its turn comes, as often as its tool allows.`,
		`  toolcrib profile set careful --approval --description "until the audit"
  toolcrib profile set slow --rate 10/minute --burst 2 --max-concurrency 1
  toolcrib profile set off --deny`)
	flags := cmd.Flags()
	flags.BoolVar(&in.Denied, "deny", false, "refuse every call")
	flags.BoolVar(&in.RequiresApproval, "approval", false, "ask a person at every call")
	flags.BoolVar(&ask, "always-ask", false, "treat the permission policy as always_ask")
	flags.StringVar((*string)(&in.EgressClass), "egress", "", "treat calls as at least this: read_only or write")
	flags.StringVar(&in.RequiredPermission, "permission", "", "require this permission too")
	flags.StringVar(&rate, "rate", "", "how many calls begin in a time, such as 10/minute")
	flags.IntVar(&burst, "burst", 0, "how many may begin at once, after a rest (default: those of the rate)")
	flags.IntVar(&in.MaxConcurrency, "max-concurrency", 0, "how many run at once")
	flags.StringVar(&in.Description, "description", "", "for people")
	return cmd
}

// parseRate reads a rate such as 10/minute; nil for none.
func parseRate(text string, burst int) (*v1.Rate, error) {
	if text == "" {
		if burst != 0 {
			return nil, cli.Usagef("--burst needs --rate")
		}
		return nil, nil //nolint:nilnil // There is none.
	}
	calls, per, found := strings.Cut(text, "/")
	n, err := strconv.Atoi(calls)
	if !found || err != nil {
		return nil, cli.Usagef("--rate %q: expected calls and a period, such as 10/minute", text)
	}
	return &v1.Rate{Calls: n, Per: tool.RatePeriod(per), Burst: burst}, nil
}

func (a *app) profileDeleteCommand() *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: "delete NAME", Short: "Delete a profile that no assignment uses", Args: cli.Operands("name"),
		ValidArgsFunction: a.completeProfiles,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			gone, err := c.DeleteProfile(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.Printer.ShowLine(gone, "profile %s is deleted", gone.Name)
		}),
	}, `Deletes a profile and its budgets. One that assignments use is not deleted: revoke them
first (toolcrib tool revoke).`, `  toolcrib profile delete careful`)
}

// restrictions describes a profile in a few words.
func restrictions(r v1.ProfileRestrictions) string {
	var out []string
	add := func(when bool, text string) {
		if when {
			out = append(out, text)
		}
	}
	add(r.Denied, "denied")
	add(r.RequiresApproval, "approval")
	add(r.PermissionPolicy != "", string(r.PermissionPolicy))
	add(r.EgressClass != "", "egress "+string(r.EgressClass))
	add(r.RequiredPermission != "", "permission "+r.RequiredPermission)
	if r.Rate != nil {
		rate := tool.Rate{Calls: r.Rate.Calls, Per: r.Rate.Per}.String()
		if r.Rate.Burst != r.Rate.Calls && r.Rate.Burst > 0 {
			rate += " (burst " + strconv.Itoa(r.Rate.Burst) + ")"
		}
		out = append(out, rate)
	}
	add(r.MaxConcurrency > 0, strconv.Itoa(r.MaxConcurrency)+" at once")
	if len(out) == 0 {
		return "nothing"
	}
	return strings.Join(out, ", ")
}

// completeProfiles completes names of profiles.
func (a *app) completeProfiles(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return a.ask(cmd, typed, func(ctx context.Context, c *client.Client) ([]string, error) {
		page, err := c.Profiles(ctx, "", client.Page{Limit: completionNames})
		return each(page.Items, func(p v1.Profile) string { return p.Name }), err
	})
}
