package operator

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/store"
)

// retentionShape is what the command prints as JSON.
type retentionShape struct {
	Rules []store.RetentionRule  `json:"rules"`
	State []store.RetentionState `json:"state"`
}

// sweptShape is what a sweep prints as JSON. A dry run lists what is due.
type sweptShape struct {
	DryRun bool                   `json:"dry_run"`
	Swept  []store.Swept          `json:"swept,omitempty"`
	Due    []store.RetentionState `json:"due,omitempty"`
}

func (a *app) retentionCommand() *cobra.Command {
	cmd := cli.Group("retention", "Show and set how long records are kept, and delete those that are due",
		a.retentionSweepCommand(), a.retentionSetCommand(), a.retentionUnsetCommand())
	var database, tenant string
	cmd.Long = `Lists the rules of retention, and for each class of records how many rows are due
and when the oldest was made. Workers delete what is due every hour. What is open,
and what something open needs, is never due.

The classes are ` + strings.Join(classNames(), ", ") + `.
The URL is that of the database's owner.`
	cmd.Example = `  toolcrib retention --database-url postgres://owner@db/toolcrib
  toolcrib retention set runs 30d --tenant acme
  toolcrib retention sweep --dry-run`
	cmd.Args = cli.Operands()
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return a.withPlatform(cmd.Context(), database, func(platform *store.Platform) error {
			return a.showRetention(cmd.Context(), platform, tenant)
		})
	}
	cli.DatabaseFlag(cmd, &database)
	tenantFlag(cmd, &tenant, "show what is due of this tenant, by slug or id")
	return cmd
}

func classNames() []string {
	classes := store.RetentionClasses()
	out := make([]string, len(classes))
	for i, class := range classes {
		out[i] = string(class)
	}
	return out
}

func tenantFlag(cmd *cobra.Command, tenant *string, usage string) {
	cmd.Flags().StringVar(tenant, "tenant", "", usage)
}

// withPlatform opens the database as its owner.
func (a *app) withPlatform(ctx context.Context, database string, fn func(*store.Platform) error) error {
	url, err := a.DatabaseURL(database)
	if err != nil {
		return err
	}
	platform, err := store.OpenPlatform(ctx, url, store.Options{Logger: a.Logger(), MaxConns: 1})
	if err != nil {
		return err
	}
	defer platform.Close()
	return fn(platform)
}

func (a *app) showRetention(ctx context.Context, platform *store.Platform, tenant string) error {
	found, err := findTenant(ctx, platform, tenant)
	if err != nil {
		return err
	}
	rules, err := platform.RetentionRules(ctx)
	if err != nil {
		return err
	}
	if found.ID != "" {
		rules = slices.DeleteFunc(rules, func(r store.RetentionRule) bool { return r.Tenant != "" && r.Tenant != found.ID })
	}
	state, err := platform.RetentionState(ctx, found.ID)
	if err != nil {
		return err
	}
	return a.Printer.Show(retentionShape{Rules: rules, State: state}, func(w io.Writer) error {
		rows := make([][]string, len(state))
		for i, s := range state {
			rows[i] = []string{string(s.Class), kept(rules, s.Class), strconv.Itoa(s.Due), oldest(s)}
		}
		if err := terminal.Table(w, "CLASS KEPT DUE OLDEST", rows); err != nil {
			return err
		}
		var own [][]string
		for _, r := range rules {
			if r.Tenant != "" {
				own = append(own, []string{r.TenantSlug, string(r.Class), days(r.KeepDays)})
			}
		}
		if len(own) == 0 {
			return nil
		}
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
		return terminal.Table(w, "TENANT CLASS KEPT", own)
	})
}

// findTenant returns the named tenant, or none for no name.
func findTenant(ctx context.Context, platform *store.Platform, name string) (store.Tenant, error) {
	if name == "" {
		return store.Tenant{}, nil
	}
	return platform.FindTenant(ctx, name)
}

func kept(rules []store.RetentionRule, class store.RetentionClass) string {
	for _, r := range rules {
		if r.Class == class && r.Tenant == "" {
			return days(r.KeepDays)
		}
	}
	return "for ever"
}

func days(n int) string {
	if n == 0 {
		return "for ever"
	}
	return strconv.Itoa(n) + "d"
}

func oldest(s store.RetentionState) string { return terminal.StampOf(s.Oldest) }

func (a *app) retentionSweepCommand() *cobra.Command {
	var database string
	var dryRun, yes bool
	var only []string
	how := store.RetentionSweep{}
	cmd := &cobra.Command{
		Use: "sweep", Short: "Delete the records that are due", Args: cli.Operands(),
		Long: `Deletes what is due by the rules, of all tenants, as workers do every hour. It works
in batches and may be interrupted and repeated; a class that a worker is sweeping is
left to it. It asks for --yes, since what is deleted cannot be restored; --dry-run
counts what is due and changes nothing.`,
		Example: `  toolcrib retention sweep --dry-run
  toolcrib retention sweep --yes --class runs --class effects`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dryRun == yes {
				return cli.Usagef("say either --dry-run, to count what is due, or --yes, to delete it")
			}
			for _, name := range only {
				class, err := classOf(name)
				if err != nil {
					return err
				}
				how.Classes = append(how.Classes, class)
			}
			return a.withPlatform(cmd.Context(), database, func(platform *store.Platform) error {
				if dryRun {
					return a.showDue(cmd.Context(), platform, how.Classes)
				}
				swept, err := platform.SweepRetention(cmd.Context(), how)
				if err != nil {
					return err
				}
				return a.Printer.Show(sweptShape{Swept: swept}, func(w io.Writer) error { return writeSwept(w, swept) })
			})
		},
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "count what is due, and change nothing")
	cmd.Flags().BoolVar(&yes, "yes", false, "delete what is due")
	cmd.Flags().StringArrayVar(&only, "class", nil, "sweep this class only; may be repeated")
	cmd.Flags().IntVar(&how.Batch, "batch", 0, "rows that are deleted in one transaction (default 200)")
	cmd.Flags().DurationVar(&how.Pause, "pause", 0, "rest between transactions (default 100ms)")
	cli.DatabaseFlag(cmd, &database)
	return cmd
}

func (a *app) showDue(ctx context.Context, platform *store.Platform, only []store.RetentionClass) error {
	due, err := platform.RetentionState(ctx, "")
	if err != nil {
		return err
	}
	due = slices.DeleteFunc(due, func(s store.RetentionState) bool {
		return len(only) > 0 && !slices.Contains(only, s.Class)
	})
	return a.Printer.Show(sweptShape{DryRun: true, Due: due}, func(w io.Writer) error {
		rows := make([][]string, len(due))
		for i, s := range due {
			rows[i] = []string{string(s.Class), strconv.Itoa(s.Due), oldest(s)}
		}
		return terminal.Table(w, "CLASS DUE OLDEST", rows)
	})
}

func writeSwept(w io.Writer, swept []store.Swept) error {
	rows := make([][]string, len(swept))
	for i, s := range swept {
		note := ""
		if s.Busy {
			note = "being swept by another process"
		}
		rows[i] = []string{string(s.Class), strconv.Itoa(s.Removed), note}
	}
	return terminal.Table(w, "CLASS DELETED NOTE", rows)
}

func classOf(name string) (store.RetentionClass, error) {
	class := store.RetentionClass(name)
	if !slices.Contains(store.RetentionClasses(), class) {
		return "", cli.Usagef("%q is no class of records; the classes are %s", name, strings.Join(classNames(), ", "))
	}
	return class, nil
}

func (a *app) retentionSetCommand() *cobra.Command {
	var database, tenant string
	cmd := &cobra.Command{
		Use: "set CLASS TIME", Short: "Set how long records of a class are kept", Args: cli.Operands("class", "time"),
		Long: `Sets how long records are kept after their end: a number of days, such as 90d, or
forever. With --tenant the rule is for one tenant, in place of that of all.`,
		Example: `  toolcrib retention set runs 90d
  toolcrib retention set runs forever --tenant acme`,
		RunE: func(cmd *cobra.Command, args []string) error {
			class, err := classOf(args[0])
			if err != nil {
				return err
			}
			keep, err := parseDays(args[1])
			if err != nil {
				return err
			}
			return a.withPlatform(cmd.Context(), database, func(platform *store.Platform) error {
				found, err := findTenant(cmd.Context(), platform, tenant)
				if err != nil {
					return err
				}
				rule := store.RetentionRule{Tenant: found.ID, TenantSlug: found.Slug, Class: class, KeepDays: keep}
				if err := platform.SetRetentionRule(cmd.Context(), rule); err != nil {
					return err
				}
				return a.Printer.ShowLine(rule, "%s are kept: %s", class, days(keep))
			})
		},
	}
	tenantFlag(cmd, &tenant, "the tenant, by slug or id (default: all without a rule of their own)")
	cli.DatabaseFlag(cmd, &database)
	return cmd
}

// parseDays reads a time of whole days; zero is for ever.
func parseDays(text string) (int, error) {
	if text == "forever" {
		return 0, nil
	}
	number, isDays := strings.CutSuffix(text, "d")
	n, err := strconv.Atoi(number)
	if err != nil || !isDays || n < 1 {
		return 0, cli.Usagef("%q is no time: give a number of days from 1 on, such as 90d, or forever", text)
	}
	return n, nil
}

func (a *app) retentionUnsetCommand() *cobra.Command {
	var database, tenant string
	cmd := &cobra.Command{
		Use: "unset CLASS", Short: "Remove a tenant's own rule", Args: cli.Operands("class"),
		Long:    `Removes a tenant's own rule; the rule of all tenants is then valid for it.`,
		Example: `  toolcrib retention unset runs --tenant acme`,
		RunE: func(cmd *cobra.Command, args []string) error {
			class, err := classOf(args[0])
			if err != nil {
				return err
			}
			if tenant == "" {
				return cli.Usagef("say whose rule is removed: --tenant SLUG; the rules of all tenants can only be set")
			}
			return a.withPlatform(cmd.Context(), database, func(platform *store.Platform) error {
				found, err := findTenant(cmd.Context(), platform, tenant)
				if err != nil {
					return err
				}
				if err := platform.DropRetentionRule(cmd.Context(), found.ID, class); err != nil {
					return err
				}
				return a.Printer.ShowLine(store.RetentionRule{Tenant: found.ID, TenantSlug: found.Slug, Class: class},
					"%s has no rule of its own for %s", found.Slug, class)
			})
		},
	}
	tenantFlag(cmd, &tenant, "the tenant, by slug or id")
	cli.DatabaseFlag(cmd, &database)
	return cmd
}
