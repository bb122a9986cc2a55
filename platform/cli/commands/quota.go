package commands

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/quota"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

func (a *app) quotaCommand() *cobra.Command {
	return cli.Describe(cli.Group("quota", "How much a tenant may have: list, set and verify quotas",
		a.quotaListCommand(), a.quotaShowCommand(), a.quotaSetCommand(), a.quotaUnsetCommand(), a.quotaVerifyCommand()),
		`A quota limits how many tools, agents, documents, artifacts, bytes, unfinished runs and
idempotency keys a tenant has. The platform sets it, for one tenant or for all that have
none of their own; a tenant reads its own. What would be beyond it is refused, and the
refusal names the quota. Nothing but runs is limited until the platform sets one.`,
		`  toolcrib quota list
  toolcrib quota set tools 200 --all-tenants --database-url postgres://owner@db/toolcrib
  toolcrib quota set storage_bytes 10GiB --for-tenant acme`)
}

// quotaScope is whose quotas a command is about.
type quotaScope struct {
	tenant   string
	all      bool
	database string
}

func (o *quotaScope) register(cmd *cobra.Command, all string) {
	cmd.Flags().StringVar(&o.tenant, "for-tenant", "", "this tenant, by slug or id; needs the database's URL, not a key")
	if all != "" {
		cmd.Flags().BoolVar(&o.all, "all-tenants", false, all+"; needs the database's URL, not a key")
		cmd.MarkFlagsMutuallyExclusive("for-tenant", "all-tenants")
	}
	cli.DatabaseFlag(cmd, &o.database)
}

// byPlatform reports whether the database is asked, and not the server.
func (o *quotaScope) byPlatform() bool { return o.tenant != "" || o.all }

// with calls do with the platform's quotas and the tenant; an empty one for all.
func (o *quotaScope) with(ctx context.Context, a *app, do func(*store.Platform, store.Tenant) error) error {
	url, err := a.DatabaseURL(o.database)
	if err != nil {
		return err
	}
	owner, err := store.OpenPlatform(ctx, url, store.Options{Logger: a.Logger(), MaxConns: 1})
	if err != nil {
		return err
	}
	defer owner.Close()
	var found store.Tenant
	if o.tenant != "" {
		if found, err = owner.FindTenant(ctx, o.tenant); err != nil {
			return err
		}
	}
	return do(owner, found)
}

// quotas returns the quotas in scope.
func (a *app) quotas(ctx context.Context, of quotaScope) (out []v1.Quota, err error) {
	if !of.byPlatform() {
		var c *client.Client
		if c, err = a.Connect(); err != nil {
			return nil, err
		}
		defer c.Close()
		return c.Quotas(ctx)
	}
	err = of.with(ctx, a, func(owner *store.Platform, tenant store.Tenant) error {
		if of.all {
			rules, err := owner.Quotas().QuotaDefaults(ctx)
			out = each(rules, func(r quota.Rule) v1.Quota {
				return v1.FromQuota(quota.Quota{
					Name: r.Name, Limit: r.Limit, Origin: quota.OfPlatform, ChangedBy: r.ChangedBy, ChangedAt: r.ChangedAt,
				})
			})
			return err
		}
		found, err := owner.Quotas().ListQuotas(ctx, tenant.ID)
		out = each(found, v1.FromQuota)
		return err
	})
	return out, err
}

func (a *app) quotaListCommand() *cobra.Command {
	var of quotaScope
	cmd := cli.Describe(&cobra.Command{
		Use: "list", Short: "List quotas, with what is used of them", Args: cli.Operands(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			found, err := a.quotas(cmd.Context(), of)
			if err != nil {
				return err
			}
			return showPage(a, filtered(cmd), v1.Page[v1.Quota]{Items: found}, listing[v1.Quota]{
				header: "QUOTA USED LIMIT SET COUNTS~",
				row: func(q v1.Quota) []string {
					used := strconv.FormatInt(q.Used, 10)
					if of.all {
						used = "-"
					}
					return []string{q.Name, used, limitInWords(q), q.Origin, q.Counts}
				},
				empty: "no quotas",
			})
		},
	}, `Lists the quotas of the tenant of the key in use. SET is who set one: the platform for
the "tenant" alone, the "platform" for every tenant without its own, a setting of the
"servers", or none. With --for-tenant the database is asked about a tenant, which does
not know the setting of the servers; with --all-tenants about what is set for all.`,
		`  toolcrib quota list
  toolcrib quota list --for-tenant acme --database-url postgres://owner@db/toolcrib`)
	of.register(cmd, "what is set for tenants without a quota of their own")
	return cmd
}

// limitInWords returns the limit of a quota, in words.
func limitInWords(q v1.Quota) string {
	switch {
	case q.Limit != nil:
		return strconv.FormatInt(*q.Limit, 10)
	case q.Name == string(quota.Runs):
		return "of the servers"
	default:
		return "none"
	}
}

func (a *app) quotaShowCommand() *cobra.Command {
	var of quotaScope
	cmd := cli.Describe(&cobra.Command{
		Use: "show NAME", Short: "Show a quota", Args: cli.Operands("name"), ValidArgs: quotaNames(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := quota.Find(args[0]); err != nil {
				return cli.Usagef("%s", tool.AsError(err).Msg)
			}
			found, err := a.quotas(cmd.Context(), of)
			if err != nil {
				return err
			}
			for _, q := range found {
				if q.Name == args[0] {
					return a.Printer.Show(q, func(w io.Writer) error { return writeQuota(w, q, !of.all) })
				}
			}
			return &tool.Error{
				Kind: tool.NotFound, Op: "quota", Msg: fmt.Sprintf("no quota %q is set here: nothing is limited", args[0]),
			}
		},
	}, `Shows what a quota counts, its limit, how much is used, and who set it.`, `  toolcrib quota show tools`)
	of.register(cmd, "what is set for tenants without a quota of their own")
	return cmd
}

func writeQuota(w io.Writer, q v1.Quota, used bool) error {
	rows := [][2]string{
		{"quota", q.Name},
		{"counts", q.Counts},
		{"limit", limitInWords(q)},
	}
	if used {
		rows = append(rows, [2]string{"used", strconv.FormatInt(q.Used, 10)})
	}
	rows = append(rows, [2]string{"set", q.Origin})
	if q.ChangedAt != nil {
		rows = append(rows, [2]string{"changed", terminal.StampOf(q.ChangedAt) + " by " + q.ChangedBy})
	}
	for _, row := range rows {
		if _, err := fmt.Fprintf(w, "%-8s %s\n", row[0], terminal.Clean(row[1])); err != nil {
			return err
		}
	}
	return nil
}

func quotaNames() []string {
	names := make([]string, 0, len(quota.All()))
	for _, n := range quota.Names() {
		names = append(names, string(n))
	}
	return names
}

// sizes are the units that a number may have.
var sizes = []struct {
	unit string
	of   int64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}}

// parseLimit reads a quota: a number, of bytes also with a unit, or none.
func parseLimit(text string) (*int64, error) {
	if text == "none" {
		return nil, nil //nolint:nilnil // No limit.
	}
	number, unit := text, int64(1)
	for _, s := range sizes {
		if cut, ok := strings.CutSuffix(text, s.unit); ok {
			number, unit = cut, s.of
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 || n > quota.MaxLimit/unit {
		return nil, cli.Usagef("%q is no quota: give a number up to %d, such as 200, or of bytes 10GiB, or none", text,
			int64(quota.MaxLimit))
	}
	n *= unit
	return &n, nil
}
