package commands

import (
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/quota"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// quotaRule is what a change of a quota prints as JSON.
type quotaRule struct {
	Tenant string `json:"tenant,omitempty"` // Slug; absent for all.
	Name   string `json:"name"`
	Limit  *int64 `json:"limit,omitempty"`
}

// byOperator is who changed a quota, for the tenant.
const byOperator = "platform"

func (o *quotaScope) required() error {
	if !o.byPlatform() {
		return cli.Usagef("say whose quota: --for-tenant SLUG, or --all-tenants for those without one of their own")
	}
	return nil
}

// whose names the tenants in scope.
func whose(t store.Tenant) string {
	if t.ID == "" {
		return "every tenant without a quota of its own"
	}
	return t.Slug
}

func (a *app) quotaSetCommand() *cobra.Command {
	var of quotaScope
	cmd := cli.Describe(&cobra.Command{
		Use: "set NAME LIMIT|none", Short: "Set a quota", Args: cli.Operands("name", "limit|none"), ValidArgs: quotaNames(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := of.required(); err != nil {
				return err
			}
			most, err := parseLimit(args[1])
			if err != nil {
				return err
			}
			rule := quota.Rule{Name: quota.Name(args[0]), Limit: most, ChangedBy: byOperator}
			if of.tenant != "" {
				rule.Tenant = tool.TenantID(of.tenant) // Checked before the database is opened.
			}
			if err := rule.Check(); err != nil {
				return cli.Usagef("%s", tool.AsError(err).Msg)
			}
			return of.with(cmd.Context(), a, func(owner *store.Platform, tenant store.Tenant) error {
				rule.Tenant = tenant.ID
				if err := owner.Quotas().SetQuota(cmd.Context(), rule); err != nil {
					return err
				}
				limit := "no limit"
				if most != nil {
					limit = strconv.FormatInt(*most, 10)
				}
				return a.Printer.ShowLine(quotaRule{Tenant: tenant.Slug, Name: args[0], Limit: most}, "quota %s of %s: %s",
					args[0], whose(tenant), limit)
			})
		},
	}, `Sets a quota of one tenant, or with --all-tenants of every tenant without one of its
own. It is valid from the next creation on; what a tenant has beyond it stays. A number
of bytes may have a unit: KiB, MiB, GiB or TiB. "none" is no limit, which for one
tenant stands in place of that of all. The quota of runs is what "toolcrib tenant
limit" sets; for all tenants it is a setting of the servers, max-unfinished-runs.`,
		`  toolcrib quota set tools 200 --all-tenants --database-url postgres://owner@db/toolcrib
  toolcrib quota set storage_bytes 10GiB --for-tenant acme
  toolcrib quota set agents none --for-tenant acme`)
	of.register(cmd, "set it for tenants without a quota of their own")
	return cmd
}

func (a *app) quotaUnsetCommand() *cobra.Command {
	var of quotaScope
	cmd := cli.Describe(&cobra.Command{
		Use: "unset NAME", Short: "Remove a quota", Args: cli.Operands("name"), ValidArgs: quotaNames(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := of.required(); err != nil {
				return err
			}
			info, err := quota.Find(args[0])
			if err != nil {
				return cli.Usagef("%s", tool.AsError(err).Msg)
			}
			if of.all && info.Name == quota.Runs {
				return cli.Usagef("the limit of runs for all tenants is a setting of the servers, max-unfinished-runs")
			}
			return of.with(cmd.Context(), a, func(owner *store.Platform, tenant store.Tenant) error {
				if err := owner.Quotas().UnsetQuota(cmd.Context(), tenant.ID, info.Name); err != nil {
					return err
				}
				return a.Printer.ShowLine(quotaRule{Tenant: tenant.Slug, Name: args[0]}, "quota %s of %s: unset", args[0],
					whose(tenant))
			})
		},
	}, `Removes a quota of a tenant, for which that of all is then valid; or with --all-tenants
that of all, which leaves tenants without one of their own unlimited.`,
		`  toolcrib quota unset tools --for-tenant acme --database-url postgres://owner@db/toolcrib`)
	of.register(cmd, "remove what is set for tenants without a quota of their own")
	return cmd
}

// quotaReport is what a verification prints as JSON.
type quotaReport struct {
	Tenants  int                 `json:"tenants"` // How many were looked at.
	Repaired bool                `json:"repaired"`
	Wrong    []tenantDifferences `json:"wrong"`
}

type tenantDifferences struct {
	Tenant string             `json:"tenant"` // Slug.
	Counts []quota.Difference `json:"counts"`
}

func (a *app) quotaVerifyCommand() *cobra.Command {
	var of quotaScope
	var repair bool
	cmd := cli.Describe(&cobra.Command{
		Use: "verify", Short: "Compare what is counted with what there is", Args: cli.Operands(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return of.with(cmd.Context(), a, func(owner *store.Platform, only store.Tenant) error {
				report := quotaReport{Repaired: repair, Wrong: []tenantDifferences{}}
				err := eachTenant(cmd, owner, only, func(t store.Tenant) error {
					report.Tenants++
					wrong, err := owner.Quotas().VerifyQuotas(cmd.Context(), t.ID, repair)
					if len(wrong) > 0 {
						report.Wrong = append(report.Wrong, tenantDifferences{t.Slug, wrong})
					}
					return err
				})
				if err != nil {
					return err
				}
				return a.showQuotaReport(report)
			})
		},
	}, `Counts what tenants have, of every tenant or with --for-tenant of one, and compares it
with the counts that quotas are decided by. Differences are printed, and end with exit
code 5; with --repair they are corrected, while the database is in use. Triggers keep the
counts right: they differ after triggers were switched off.`,
		`  toolcrib quota verify --database-url postgres://owner@db/toolcrib
  toolcrib quota verify --repair --for-tenant acme`)
	cmd.Flags().BoolVar(&repair, "repair", false, "correct the counts")
	of.register(cmd, "")
	return cmd
}

// eachTenant calls do with the given tenant, or with every one.
func eachTenant(cmd *cobra.Command, owner *store.Platform, only store.Tenant, do func(store.Tenant) error) error {
	if only.ID != "" {
		return do(only)
	}
	const page = 200
	for after := ""; ; {
		tenants, err := owner.ListTenants(cmd.Context(), after, page)
		if err != nil {
			return err
		}
		for _, t := range tenants {
			if err := do(t); err != nil {
				return fmt.Errorf("verifying the quotas of %s: %w", t.Slug, err)
			}
			after = t.Slug
		}
		if len(tenants) < page {
			return nil
		}
	}
}

func (a *app) showQuotaReport(report quotaReport) error {
	err := a.Printer.Show(report, func(w io.Writer) error {
		var rows [][]string
		for _, t := range report.Wrong {
			for _, d := range t.Counts {
				rows = append(rows, []string{
					t.Tenant, string(d.Name), strconv.FormatInt(d.Counted, 10), strconv.FormatInt(d.Found, 10),
				})
			}
		}
		if len(rows) == 0 {
			_, err := fmt.Fprintf(w, "the counts of %d tenants are right\n", report.Tenants)
			return err
		}
		return terminal.Table(w, "TENANT QUOTA COUNTED FOUND", rows)
	})
	if err != nil || len(report.Wrong) == 0 || report.Repaired {
		return err
	}
	return &tool.Error{
		Kind: tool.Conflict, Op: "quota",
		Msg: fmt.Sprintf("counts of %d tenants are wrong: correct them with toolcrib quota verify --repair",
			len(report.Wrong)),
	}
}
