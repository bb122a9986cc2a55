package commands

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

func (a *app) tenantCommand() *cobra.Command {
	cmd := cli.Group("tenant", "Make, list, limit, suspend, export and erase tenants, and choose what their records hide",
		a.tenantCreateCommand(), a.tenantListCommand(), a.tenantLimitCommand(), a.tenantMaskCommand(), a.tenantTaintCommand(),
		a.tenantPublishCommand(),
		a.tenantStatusCommand("suspend", store.TenantSuspended), a.tenantStatusCommand("resume", store.TenantActive))
	return cli.Describe(cmd, `All but mask, taint and publish act on the database and not on a server: they need its
owner's URL, in --database-url or TOOLCRIB_DATABASE_URL. "toolcrib dev" makes a tenant of
its own. Mask, taint and publish ask the server, with the tenant's own key.`,
		`  toolcrib tenant create acme --database-url postgres://owner@db/toolcrib
  toolcrib tenant list`)
}

func (a *app) tenantCreateCommand() *cobra.Command {
	var database, name string
	cmd := &cobra.Command{
		Use: "create SLUG", Short: "Make a tenant", Args: cli.Operands("slug"),
		Long: `Makes a tenant, which nothing of another tenant reaches. Its first key is made
with "toolcrib key create --tenant".`,
		Example: `  toolcrib tenant create acme --name "Acme Corporation"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			url, err := a.DatabaseURL(database)
			if err != nil {
				return err
			}
			platform, err := store.OpenPlatform(cmd.Context(), url, store.Options{Logger: a.Logger(), MaxConns: 1})
			if err != nil {
				return err
			}
			defer platform.Close()
			tenant, err := platform.CreateTenant(cmd.Context(), store.Tenant{Slug: args[0], Name: name})
			if err != nil {
				return err
			}
			return a.Printer.ShowLine(tenant,
				"%s\nmake its first key with: toolcrib key create admin --tenant %s --permission '*'", tenant.ID, tenant.Slug)
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "what people call it (default: the slug)")
	cli.DatabaseFlag(cmd, &database)
	return cmd
}

func (a *app) tenantListCommand() *cobra.Command {
	var database, after string
	var limit int
	cmd := &cobra.Command{
		Use: "list", Short: "List tenants", Args: cli.Operands(),
		Long:    `Lists the tenants of a database in the order of their slugs.`,
		Example: `  toolcrib tenant list --after acme`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			url, err := a.DatabaseURL(database)
			if err != nil {
				return err
			}
			platform, err := store.OpenPlatform(cmd.Context(), url, store.Options{Logger: a.Logger(), MaxConns: 1})
			if err != nil {
				return err
			}
			defer platform.Close()
			tenants, err := platform.ListTenants(cmd.Context(), after, limit)
			if err != nil {
				return err
			}
			return showPage(a, filtered(cmd), v1.Page[store.Tenant]{Items: tenants}, listing[store.Tenant]{
				header: "TENANT SLUG NAME~ STATUS MAX_RUNS CREATED",
				row: func(t store.Tenant) []string {
					return []string{
						string(t.ID), t.Slug, t.Name, string(t.Status), limitOf(t), terminal.Since(t.CreatedAt),
					}
				},
				empty: "no tenants: make one with toolcrib tenant create SLUG",
			})
		},
	}
	cmd.Flags().StringVar(&after, "after", "", "start after this slug")
	cmd.Flags().IntVar(&limit, "limit", 100, "how many")
	cli.DatabaseFlag(cmd, &database)
	return cmd
}

// limitOf returns the tenant's own limit of runs, in words.
func limitOf(t store.Tenant) string {
	if t.MaxUnfinishedRuns == 0 {
		return "default"
	}
	return strconv.Itoa(t.MaxUnfinishedRuns)
}

func (a *app) tenantLimitCommand() *cobra.Command {
	var database string
	cmd := &cobra.Command{
		Use: "limit SLUG RUNS|default", Short: "Set how many unfinished runs a tenant may have",
		Args: cli.Operands("slug", "runs|default"),
		Long: `Sets how many pending and running runs a tenant may have, in place of the servers'
--max-unfinished-runs. It is valid from the next run on, without a restart; runs
beyond a lower limit go on. "default" removes the tenant's own limit.`,
		Example: `  toolcrib tenant limit acme 500 --database-url postgres://owner@db/toolcrib
  toolcrib tenant limit acme default`,
		RunE: func(cmd *cobra.Command, args []string) error {
			most := 0
			if args[1] != "default" {
				var err error
				if most, err = strconv.Atoi(args[1]); err != nil || most < 1 {
					return cli.Usagef("%q: give a number of runs from 1 on, or default", args[1])
				}
			}
			url, err := a.DatabaseURL(database)
			if err != nil {
				return err
			}
			platform, err := store.OpenPlatform(cmd.Context(), url, store.Options{Logger: a.Logger(), MaxConns: 1})
			if err != nil {
				return err
			}
			defer platform.Close()
			found, err := platform.FindTenant(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			changed, err := platform.SetTenantMaxUnfinished(cmd.Context(), found.ID, most)
			if err != nil {
				return err
			}
			return a.Printer.ShowLine(changed, "unfinished runs that %s may have: %s", changed.Slug, limitOf(changed))
		},
	}
	cli.DatabaseFlag(cmd, &database)
	return cmd
}

// tenantStatusCommand is the command that suspends or resumes a tenant.
func (a *app) tenantStatusCommand(verb string, status store.TenantStatus) *cobra.Command {
	var database string
	short, long := "Stop all that a tenant does", `Suspends a tenant: its keys are refused, its calls stop at their next admission, and
its schedules start nothing. "toolcrib tenant resume" makes it active again.`
	if status == store.TenantActive {
		short, long = "Make a suspended tenant active again", `Makes a suspended tenant active again, with its keys. One whose erasure has begun stays
suspended.`
	}
	cmd := &cobra.Command{
		Use: verb + " TENANT", Short: short, Args: cli.Operands("tenant"), Long: long,
		Example: "  toolcrib tenant " + verb + " acme --database-url postgres://owner@db/toolcrib",
		RunE: func(cmd *cobra.Command, args []string) error {
			url, err := a.DatabaseURL(database)
			if err != nil {
				return err
			}
			platform, err := store.OpenPlatform(cmd.Context(), url, store.Options{Logger: a.Logger(), MaxConns: 1})
			if err != nil {
				return err
			}
			defer platform.Close()
			found, err := platform.FindTenant(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			changed, err := platform.SetTenantStatus(cmd.Context(), found.ID, status)
			if err != nil {
				return err
			}
			return a.Printer.ShowLine(changed, "%s is %s", changed.Slug, changed.Status)
		},
	}
	cli.DatabaseFlag(cmd, &database)
	return cmd
}

func (a *app) tenantMaskCommand() *cobra.Command {
	return &cobra.Command{
		Use: "mask on|off", Short: "Choose whether records hide what looks like a secret", Args: cli.Operands("on|off"),
		Long: `Chooses for the tenant of the key in use whether values that look like a secret,
by their name or form, read [redacted] in the inputs of runs, in messages,
invocations and events. It is on at first. Calls go on with the values themselves,
which stay in the database.`,
		Example:   `  toolcrib tenant mask off`,
		ValidArgs: []string{"on", "off"},
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] != "on" && args[0] != "off" {
				return cli.Usagef("%q: say on or off", args[0])
			}
			c, own, err := a.ownTenant(cmd.Context())
			if err != nil {
				return err
			}
			changed, err := c.SetTenantMasking(cmd.Context(), string(own.ID), args[0] == "on")
			if err != nil {
				return err
			}
			return a.Printer.ShowLine(changed, "records of %s hide what looks like a secret: %s", changed.Slug, args[0])
		},
	}
}

func (a *app) tenantTaintCommand() *cobra.Command {
	rules := []string{}
	for _, r := range tool.TaintRules() {
		rules = append(rules, string(r))
	}
	usage := strings.Join(rules, "|")
	return &cobra.Command{
		Use: "taint " + usage, Short: "Choose what is done with calls of runs that read something untrusted",
		Args: cli.Operands(usage),
		Long: `Chooses for the tenant of the key in use what is done with calls that write outside or
use a credential, in runs that got a result of an untrusted source before, such as a
web page or an MCP server: they wait for an approval (approve, at first), are denied,
or run as others do (off).`,
		Example:   `  toolcrib tenant taint deny`,
		ValidArgs: rules,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(rules, args[0]) {
				return cli.Usagef("%q: say off, approve or deny", args[0])
			}
			c, own, err := a.ownTenant(cmd.Context())
			if err != nil {
				return err
			}
			changed, err := c.SetTenantTaint(cmd.Context(), string(own.ID), tool.TaintRule(args[0]))
			if err != nil {
				return err
			}
			return a.Printer.ShowLine(changed, "calls of tainted runs of %s: %s", changed.Slug, args[0])
		},
	}
}

// ownTenant returns the tenant of the key in use.
func (a *app) ownTenant(ctx context.Context) (*client.Client, v1.Tenant, error) {
	c, err := a.Connect()
	if err != nil {
		return nil, v1.Tenant{}, err
	}
	own, err := c.Tenants(ctx)
	if err != nil {
		return nil, v1.Tenant{}, err
	}
	if len(own) != 1 {
		return nil, v1.Tenant{}, cli.Usagef("the key belongs to no tenant")
	}
	return c, own[0], nil
}

func (a *app) tenantPublishCommand() *cobra.Command {
	return &cobra.Command{
		Use: "publish on|off", Short: "Choose whether views may be published", Args: cli.Operands("on|off"),
		Long: `Chooses for the tenant of the key in use whether views may be published: pages that
show a result, or what a tool does, to everyone who has their link. It is off at
first. On, MCP clients whose key may call tools and publish views are offered
publish_view and submit_view_response too, and the console shows the pages that MCP
servers have for the results of their tools. Links that were shared before
it was switched off open until they are revoked.`,
		Example:   `  toolcrib tenant publish on`,
		ValidArgs: []string{"on", "off"},
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] != "on" && args[0] != "off" {
				return cli.Usagef("%q: say on or off", args[0])
			}
			c, own, err := a.ownTenant(cmd.Context())
			if err != nil {
				return err
			}
			changed, err := c.SetTenantPublishing(cmd.Context(), string(own.ID), args[0] == "on")
			if err != nil {
				return err
			}
			return a.Printer.ShowLine(changed, "%s publishes views: %s", changed.Slug, args[0])
		},
	}
}
