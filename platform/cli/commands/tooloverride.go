package commands

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

func (a *app) toolOverrideCommand() *cobra.Command {
	return cli.Describe(cli.Group("override", "Switch tools on and off, and require approvals, without changing them",
		a.overrideSetCommand(), a.overrideShowCommand(), a.overrideListCommand(), a.overrideRemoveCommand()),
		`A tenant decides about its own tools and about the global ones; the platform decides
about global tools for every tenant, with --all-tenants and the URL of the database.
Whether a tool is on, the tenant's decision says, else the platform's. Without
either, a tenant's own tool is on and a global one is off; what comes with the
platform is switched on. An approval that either requires is required. Decisions
take effect at the next call, also in runs that are under way.`,
		`  toolcrib tool override set web_fetch --off --reason "not before the audit"
  toolcrib tool override list
  toolcrib tool override remove web_fetch`)
}

// everyTenant are the flags of a decision of the platform.
type everyTenant struct {
	all      bool
	database string
}

func (e *everyTenant) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&e.all, "all-tenants", false, "decide for the platform; needs the database's URL, not a key")
	cli.DatabaseFlag(cmd, &e.database)
}

// with calls do with the registry of global tools.
func (e *everyTenant) with(ctx context.Context, a *app, do func(*registry.Registry) error) error {
	url, err := a.DatabaseURL(e.database)
	if err != nil {
		return err
	}
	owner, err := store.OpenPlatform(ctx, url, store.Options{Logger: a.Logger(), MaxConns: 1})
	if err != nil {
		return err
	}
	defer owner.Close()
	return do(registry.New(owner.Registry(), registry.Options{}))
}

func (a *app) overrideSetCommand() *cobra.Command {
	var in v1.NewOverride
	var everyone everyTenant
	var on, off bool
	cmd := cli.Describe(&cobra.Command{
		Use: "set TOOL", Short: "Switch a tool on or off, or require an approval for its calls",
		Args: cli.Operands("tool"), ValidArgsFunction: a.completeTools,
		RunE: func(cmd *cobra.Command, args []string) error {
			if on || off {
				in.Enabled = &on
			}
			if in.Enabled == nil && !in.RequiresApproval {
				return cli.Usagef("say what to decide: --on, --off or --approval")
			}
			if everyone.all {
				return everyone.with(cmd.Context(), a, func(r *registry.Registry) error {
					o, err := r.OverrideForAll(cmd.Context(), tool.Ref{Slug: args[0]}, tool.Override{
						Enabled: in.Enabled, RequiresApproval: in.RequiresApproval, Reason: in.Reason,
					})
					if err != nil {
						return err
					}
					return a.Printer.ShowLine(v1.FromOverride(o), "%s is decided for every tenant: %s", o.Slug,
						decision(v1.FromOverride(o)))
				})
			}
			return a.onOverride(cmd, args[0], func(c *client.Client) (v1.ToolOverrides, error) {
				return c.OverrideTool(cmd.Context(), args[0], in)
			})
		},
	}, `Replaces what the tenant decided about the tool before, or with --all-tenants what the
platform did. --approval adds to what the tool requires; it cannot be taken away
from a tool, only from a decision.`,
		`  toolcrib tool override set web_fetch --off --reason "not before the audit"
  toolcrib tool override set sendMail --on --approval
  toolcrib tool override set web_fetch --off --all-tenants --database-url postgres://owner@db/toolcrib`)
	flags := cmd.Flags()
	flags.BoolVar(&on, "on", false, "switch it on")
	flags.BoolVar(&off, "off", false, "switch it off")
	flags.BoolVar(&in.RequiresApproval, "approval", false, "ask a person at every call")
	flags.StringVar(&in.Reason, "reason", "", "for people: explain shows it")
	cmd.MarkFlagsMutuallyExclusive("on", "off")
	everyone.register(cmd)
	return cmd
}

func (a *app) overrideRemoveCommand() *cobra.Command {
	var everyone everyTenant
	cmd := cli.Describe(&cobra.Command{
		Use: "remove TOOL", Short: "Take back what was decided about a tool", Args: cli.Operands("tool"),
		ValidArgsFunction: a.completeTools,
		RunE: func(cmd *cobra.Command, args []string) error {
			if everyone.all {
				return everyone.with(cmd.Context(), a, func(r *registry.Registry) error {
					if err := r.RemoveOverrideForAll(cmd.Context(), tool.Ref{Slug: args[0]}); err != nil {
						return err
					}
					return a.Printer.ShowLine(struct {
						Tool string `json:"tool"`
					}{args[0]}, "nothing is decided about %s for every tenant", args[0])
				})
			}
			return a.onOverride(cmd, args[0], func(c *client.Client) (v1.ToolOverrides, error) {
				return c.RemoveOverride(cmd.Context(), args[0])
			})
		},
	}, `The platform's decision applies then, if there is one. With --all-tenants the
platform's is taken back; a global tool is off then, unless a tenant switched it on.`,
		`  toolcrib tool override remove web_fetch
  toolcrib tool override remove web_fetch --all-tenants --database-url postgres://owner@db/toolcrib`)
	everyone.register(cmd)
	return cmd
}

func (a *app) overrideShowCommand() *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: "show TOOL", Short: "Show whether a tool is switched on, and who decided", Args: cli.Operands("tool"),
		ValidArgsFunction: a.completeTools,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.onOverride(cmd, args[0], func(c *client.Client) (v1.ToolOverrides, error) {
				return c.ToolOverrides(cmd.Context(), args[0])
			})
		},
	}, `Shows the outcome, and what the tenant and the platform decided.`, `  toolcrib tool override show web_fetch`)
}

func (a *app) overrideListCommand() *cobra.Command {
	return cli.Describe(listCommand(a, "List what the tenant and the platform decided about tools",
		func(c *client.Client, ctx context.Context, page client.Page) (v1.Page[v1.Override], error) {
			return c.Overrides(ctx, page)
		}, listing[v1.Override]{
			header: "TOOL BY DECIDED REASON~ CHANGED",
			row: func(o v1.Override) []string {
				return []string{o.Tool, o.By, decision(o), o.Reason, terminal.Since(o.ChangedAt)}
			},
			empty: "nothing is decided: the tenant's own tools are on, and global ones off",
		}), `Lists decisions in the order of tools; a tenant's comes before the platform's.`,
		`  toolcrib tool override list --all`)
}

// onOverride asks the server, and shows what is decided about a tool then.
func (a *app) onOverride(
	cmd *cobra.Command, name string, ask func(*client.Client) (v1.ToolOverrides, error),
) error {
	c, err := a.Connect()
	if err != nil {
		return err
	}
	decided, err := ask(c)
	if err != nil {
		return a.suggestTool(cmd.Context(), c, name, err)
	}
	return a.Printer.Show(decided, func(w io.Writer) error {
		state := "off"
		if decided.Enabled {
			state = "on"
		}
		if decided.RequiresApproval {
			state += ", and its calls need an approval"
		}
		if _, err := fmt.Fprintf(w, "%s is %s\n", terminal.Clean(decided.Tool), state); err != nil {
			return err
		}
		for _, o := range []*v1.Override{decided.Tenant, decided.Platform} {
			if o == nil {
				continue
			}
			line := fmt.Sprintf("  the %s, %s, %s: %s", o.By, terminal.Since(o.ChangedAt), o.ChangedBy, decision(*o))
			if o.Reason != "" {
				line += " (" + o.Reason + ")"
			}
			if _, err := fmt.Fprintln(w, terminal.Clean(line)); err != nil {
				return err
			}
		}
		return nil
	})
}

// decision describes a decision in a few words.
func decision(o v1.Override) string {
	switch {
	case o.Enabled == nil:
		return "approval"
	case *o.Enabled && o.RequiresApproval:
		return "on, approval"
	case *o.Enabled:
		return "on"
	case o.RequiresApproval:
		return "off, approval"
	default:
		return "off"
	}
}
