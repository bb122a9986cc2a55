package commands

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/budget"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/usage"
)

func (a *app) budgetCommand() *cobra.Command {
	return cli.Describe(cli.Group("budget", "Limit what may be spent",
		a.budgetSetCommand(), a.budgetListCommand(), a.budgetRemoveCommand()),
		`A budget limits what the tenant, an agent, a tool or each run may spend in a day, a
month or a run, by the prices that are set (toolcrib price). A call and a turn of a
model reserve their price in every budget that they count in before they begin, and
are denied where one has too little left. The denial names the budget and when it
resets, and the model reads it.`,
		`  toolcrib budget set support-day --agent support --per day --limit 5
  toolcrib budget set each-run --per run --limit 0.50
  toolcrib budget list`)
}

// ofTenant is a choice of who decides: the tenant of the key, or the platform for a tenant.
type ofTenant struct{ slug, database string }

func (o *ofTenant) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.slug, "for-tenant", "",
		"decide for the platform, about this tenant; needs the database's URL, not a key")
	cli.DatabaseFlag(cmd, &o.database)
}

// with calls do with the budgets of the platform and the id of the tenant.
func (o *ofTenant) with(ctx context.Context, a *app, do func(budget.Budgets, tool.TenantID) error) error {
	url, err := a.DatabaseURL(o.database)
	if err != nil {
		return err
	}
	owner, err := store.OpenPlatform(ctx, url, store.Options{Logger: a.Logger(), MaxConns: 1})
	if err != nil {
		return err
	}
	defer owner.Close()
	found, err := owner.FindTenant(ctx, o.slug)
	if err != nil {
		return err
	}
	return do(owner.Budgets(), found.ID)
}

func (a *app) budgetSetCommand() *cobra.Command {
	var in v1.NewBudget
	var limit, period string
	var of ofTenant
	cmd := cli.Describe(&cobra.Command{
		Use: "set NAME", Short: "Set a budget", Args: cli.Operands("name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if limit == "" || period == "" {
				return cli.Usagef("say how much may be spent and in which period: --limit and --per")
			}
			most, err := usage.ParseMoney(limit, budget.MaxLimit)
			if err != nil {
				return cli.Usagef("--limit: %w", err)
			}
			in.Name, in.Period, in.LimitMicros = args[0], budget.Period(period), int64(most)
			asked := in.Budget()
			if err := asked.Check(); err != nil {
				return cli.Usagef("%s", tool.AsError(err).Msg)
			}
			var set v1.Budget
			if of.slug != "" {
				if in.Agent != "" || in.Tool != "" || in.Profile != "" {
					return cli.Usagef(
						"a budget of the platform is for all of a tenant: leave --agent, --tool and --profile out")
				}
				err = of.with(cmd.Context(), a, func(budgets budget.Budgets, tenant tool.TenantID) error {
					asked.Tenant, asked.ChangedBy = tenant, "platform"
					stored, err := budgets.SetBudget(cmd.Context(), asked)
					set = v1.FromBudget(stored)
					return err
				})
			} else {
				var c *client.Client
				if c, err = a.Connect(); err != nil {
					return err
				}
				defer c.Close()
				set, err = c.SetBudget(cmd.Context(), in)
			}
			if err != nil {
				return err
			}
			return a.Printer.ShowLine(set, "%s may spend %s %s", budgetedThing(set), usage.Micros(set.LimitMicros),
				periodInWords(set.Period))
		},
	}, `Sets a budget of the tenant, or with --for-tenant one of the platform for a tenant,
which sees it and cannot change it. It replaces the one with the same name; what was
spent of that one in the present period stays. A new budget counts what begins after
it. Days and months are those of UTC.

A budget of an agent counts its runs and the runs below them; one per run without an
agent counts what the outermost run and all below it spend. What has no price is not
counted and never denied.`,
		`  toolcrib budget set all-month --per month --limit 200
  toolcrib budget set support-day --agent support --per day --limit 5
  toolcrib budget set lookups --tool readInvoice --per day --limit 1.50
  toolcrib budget set careful-day --profile careful --per day --limit 2
  toolcrib budget set cap --for-tenant acme --per month --limit 1000 --database-url postgres://owner@db/toolcrib`)
	flags := cmd.Flags()
	flags.StringVar(&limit, "limit", "", "amount that may be spent")
	flags.StringVar(&period, "per", "", "period: day, month or run")
	flags.StringVar(&in.Agent, "agent", "", "slug of the agent (default: every agent, and calls without one)")
	flags.StringVar(&in.Tool, "tool", "", "slug of the tool (default: every tool, and turns of models)")
	flags.StringVar(&in.Profile, "profile", "", "name of the profile, whose calls are counted (default: all, and turns)")
	_ = cmd.RegisterFlagCompletionFunc("tool", a.completeTools)
	_ = cmd.RegisterFlagCompletionFunc("profile", a.completeProfiles)
	_ = cmd.RegisterFlagCompletionFunc("per", cobra.FixedCompletions(periodNames(), cobra.ShellCompDirectiveNoFileComp))
	of.register(cmd)
	return cmd
}

func periodNames() []string {
	var names []string
	for _, p := range budget.Periods() {
		names = append(names, string(p))
	}
	return names
}

func (a *app) budgetListCommand() *cobra.Command {
	return cli.Describe(listCommand(a, "List budgets, with what is spent and reserved of them",
		(*client.Client).Budgets, listing[v1.Budget]{
			header: "BUDGET OF~ BY PER LIMIT SPENT RESERVED RESETS",
			row: func(b v1.Budget) []string {
				return []string{
					b.Name, budgetedThing(b), b.By, string(b.Period), usage.Micros(b.LimitMicros).String(),
					usage.Micros(b.SpentMicros).String(), usage.Micros(b.ReservedMicros).String(), terminal.StampOf(b.ResetsAt),
				}
			},
			empty: "no budgets: set one with toolcrib budget set",
		}), `Lists budgets of the tenant, and of the platform for it. Of a budget per run, SPENT and
RESERVED are those of the run that spent most.`,
		`  toolcrib budget list --all
  toolcrib budget list --json`)
}

func (a *app) budgetRemoveCommand() *cobra.Command {
	var of ofTenant
	cmd := cli.Describe(&cobra.Command{
		Use: "remove NAME", Short: "Remove a budget", Args: cli.Operands("name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var gone v1.Budget
			var err error
			if of.slug != "" {
				err = of.with(cmd.Context(), a, func(budgets budget.Budgets, tenant tool.TenantID) error {
					deleted, err := budgets.DeleteBudget(cmd.Context(), tenant, budget.Key{Name: args[0]})
					gone = v1.FromBudget(deleted)
					return err
				})
			} else {
				var c *client.Client
				if c, err = a.Connect(); err != nil {
					return err
				}
				defer c.Close()
				gone, err = c.DeleteBudget(cmd.Context(), args[0])
			}
			if err != nil {
				return err
			}
			return a.Printer.ShowLine(gone, "the budget %s is removed", gone.Name)
		},
	}, `Calls and turns are no longer denied for it, from the next one on. What it counted is
gone with it; the usage report is not (toolcrib usage).`,
		`  toolcrib budget remove support-day`)
	of.register(cmd)
	return cmd
}

// budgetedThing names what a budget is of.
func budgetedThing(b v1.Budget) string {
	var of []string
	if b.Tool != "" {
		of = append(of, "tool "+terminal.Clean(b.Tool))
	}
	if b.Agent != "" {
		of = append(of, "agent "+terminal.Clean(b.Agent))
	}
	if b.Profile != "" {
		of = append(of, "profile "+terminal.Clean(b.Profile))
	}
	if len(of) == 0 {
		return "everything"
	}
	return strings.Join(of, " in ")
}

func periodInWords(p budget.Period) string {
	switch p {
	case budget.Day:
		return "a day"
	case budget.Month:
		return "a month"
	case budget.Run:
	}
	return "a run"
}
