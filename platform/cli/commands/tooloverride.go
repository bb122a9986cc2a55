package commands

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

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
	return cli.Describe(cli.Group("override", "Switch, describe and narrow tools without changing them",
		a.overrideSetCommand(), a.overrideShowCommand(), a.overrideListCommand(), a.overrideHistoryCommand(),
		a.overrideRemoveCommand()),
		`A tenant decides about its own tools and about the global ones; the platform decides
about global tools for every tenant, with --all-tenants and the URL of the database.
Whether a tool is on, the tenant's decision says, else the platform's. Without
either, a tenant's own tool is on and a global one is off; what comes with the
platform is switched on. An approval that either requires is required. These two
take effect at the next call, also in runs that are under way. A description,
defaults of arguments and limits take effect in runs that begin from then on.`,
		`  toolcrib tool override set web_fetch --off --reason "not before the audit"
  toolcrib tool override set web_fetch --description "Fetches pages of our suppliers." --default max_bytes=20000
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

// overrideFlags are what a command changes of a decision.
type overrideFlags struct {
	on, off, approval bool
	description       string
	defaults          []string
	limits            v1.OverrideLimits
	clear             []string
	reason            string
}

// Parts of a decision that can be cleared.
const (
	clearSwitch      = "switch"
	clearDescription = "description"
	clearDefaults    = "defaults"
	clearLimits      = "limits"
)

func (f *overrideFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&f.on, "on", false, "switch it on")
	flags.BoolVar(&f.off, "off", false, "switch it off")
	flags.BoolVar(&f.approval, "approval", false, "ask a person at every call; --approval=false takes the decision back")
	flags.StringVar(&f.description, "description", "", "what models and clients are shown instead of the tool's own")
	flags.StringArrayVar(&f.defaults, "default", nil, "NAME=VALUE of an argument that calls leave out, as JSON or text")
	flags.Float64Var(&f.limits.TimeoutSeconds, "timeout", 0, "seconds that an attempt may take, less than the tool's own")
	flags.IntVar(&f.limits.MaxAttempts, "max-attempts", 0, "attempts of a call that may be repeated, fewer than its own")
	flags.IntVar(&f.limits.InlineBytes, "inline-bytes", 0, "largest result that a model is shown whole, less than its own")
	flags.StringSliceVar(&f.clear, "clear", nil, "leave to the next level: switch, description, defaults, limits")
	flags.StringVar(&f.reason, "reason", "", "for people: explain and history show it")
	cmd.MarkFlagsMutuallyExclusive("on", "off")
}

// change applies the flags that were given to a decision. The reason is that of the change alone.
func (f *overrideFlags) change(cmd *cobra.Command, o *v1.NewOverride) error {
	given := false
	set := func(name string) bool {
		changed := cmd.Flags().Changed(name)
		given = given || changed
		return changed
	}
	o.Reason = f.reason
	for _, part := range f.clear {
		given = true
		switch part {
		case clearSwitch:
			o.Enabled = nil
		case clearDescription:
			o.Description = ""
		case clearDefaults:
			o.Defaults = nil
		case clearLimits:
			o.Limits = nil
		default:
			return cli.Usagef("--clear %s: expected %s, %s, %s or %s", part, clearSwitch, clearDescription, clearDefaults,
				clearLimits)
		}
	}
	if on, off := set("on"), set("off"); on || off {
		enabled := f.on || off && !f.off
		o.Enabled = &enabled
	}
	if set("approval") {
		o.RequiresApproval = f.approval
	}
	if set("description") {
		o.Description = f.description
	}
	if set("default") {
		defaults := maps.Clone(o.Defaults)
		if defaults == nil {
			defaults = map[string]json.RawMessage{}
		}
		for _, pair := range f.defaults {
			name, value, ok := strings.Cut(pair, "=")
			if !ok || name == "" {
				return cli.Usagef("--default %s: expected NAME=VALUE", pair)
			}
			read, err := jsonOrText("the default of "+name, value)
			if err != nil {
				return err
			}
			defaults[name] = read
		}
		o.Defaults = defaults
	}
	limits := v1.OverrideLimits{}
	if o.Limits != nil {
		limits = *o.Limits
	}
	if set("timeout") {
		limits.TimeoutSeconds = f.limits.TimeoutSeconds
	}
	if set("max-attempts") {
		limits.MaxAttempts = f.limits.MaxAttempts
	}
	if set("inline-bytes") {
		limits.InlineBytes = f.limits.InlineBytes
	}
	if o.Limits = &limits; limits == (v1.OverrideLimits{}) {
		o.Limits = nil
	}
	if !given {
		return cli.Usagef("say what to decide: --on, --off, --approval, --description, --default, --timeout, " +
			"--max-attempts, --inline-bytes or --clear")
	}
	return nil
}

// asDecided returns a decision as it is changed from; its revision guards the change.
func asDecided(o *v1.Override) v1.NewOverride {
	if o == nil {
		return v1.NewOverride{}
	}
	return v1.NewOverride{
		Enabled: o.Enabled, RequiresApproval: o.RequiresApproval, Description: o.Description, Defaults: o.Defaults,
		Limits: o.Limits, Revision: o.Revision,
	}
}

func (a *app) overrideSetCommand() *cobra.Command {
	var in overrideFlags
	var everyone everyTenant
	cmd := cli.Describe(&cobra.Command{
		Use: "set TOOL", Short: "Decide about a tool: its switch, approval, description, defaults, limits",
		Args: cli.Operands("tool"), ValidArgsFunction: a.completeTools,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := in.change(cmd, &v1.NewOverride{}); err != nil { // Before the server is asked.
				return err
			}
			if everyone.all {
				return everyone.with(cmd.Context(), a, func(r *registry.Registry) error {
					return a.overrideForAll(cmd, r, args[0], &in)
				})
			}
			return a.onOverride(cmd, args[0], func(c *client.Client) (v1.ToolOverrides, error) {
				now, err := c.ToolOverrides(cmd.Context(), args[0])
				if err != nil {
					return now, err
				}
				o := asDecided(now.Tenant)
				if err := in.change(cmd, &o); err != nil {
					return now, err
				}
				return c.OverrideTool(cmd.Context(), now.ToolID, o)
			})
		},
	}, `Changes what the flags say of the tenant's decision about the tool, or with
--all-tenants of the platform's, and keeps the rest. --approval adds to what the
tool requires; it cannot be taken away from a tool, only from a decision. Limits
only narrow the tool's own. A decision that was changed by another person meanwhile
is left as it is.`,
		`  toolcrib tool override set web_fetch --off --reason "not before the audit"
  toolcrib tool override set sendMail --on --approval
  toolcrib tool override set web_fetch --description "Fetches pages of our suppliers." --timeout 10
  toolcrib tool override set web_fetch --clear description,limits
  toolcrib tool override set web_fetch --off --all-tenants --database-url postgres://owner@db/toolcrib`)
	in.register(cmd)
	everyone.register(cmd)
	return cmd
}

// overrideForAll changes the platform's decision about a tool.
func (a *app) overrideForAll(cmd *cobra.Command, r *registry.Registry, name string, in *overrideFlags) error {
	ctx, ref := cmd.Context(), tool.Ref{Slug: name}
	_, now, err := r.OverridesOf(ctx, tool.Principal{}, ref)
	if err != nil {
		return err
	}
	at := v1.NewOverride{}
	if now.Platform != nil {
		shown := v1.FromOverride(*now.Platform)
		at = asDecided(&shown)
	}
	if err := in.change(cmd, &at); err != nil {
		return err
	}
	o, err := r.At(at.Revision).OverrideForAll(ctx, ref, at.Decision())
	if err != nil {
		return err
	}
	shown := v1.FromOverride(o)
	return a.Printer.ShowLine(shown, "%s is decided for every tenant: %s", o.Slug, decision(shown))
}

func (a *app) overrideHistoryCommand() *cobra.Command {
	var p paging
	var platform bool
	cmd := cli.Describe(&cobra.Command{
		Use: "history TOOL", Short: "List what was decided about a tool, newest first", Args: cli.Operands("tool"),
		ValidArgsFunction: a.completeTools,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			return a.suggestTool(cmd.Context(), c, args[0], showList(a, cmd, p, listing[v1.OverrideVersion]{
				header: "REVISION DECIDED REASON~ BY~ CHANGED",
				row: func(v v1.OverrideVersion) []string {
					what := decision(v.Override)
					if v.Removed {
						what = "removed"
					}
					return []string{strconv.FormatInt(v.Revision, 10), what, v.Reason, v.ChangedBy, terminal.Since(v.ChangedAt)}
				},
				empty: "nothing was ever decided about " + terminal.Clean(args[0]),
			}, func(page client.Page) (v1.Page[v1.OverrideVersion], error) {
				return c.OverrideVersions(cmd.Context(), args[0], platform, page)
			}))
		}),
	}, `Every change of the tenant's decision is kept, with its author and reason; with
--platform those of the platform's decision are listed.`,
		`  toolcrib tool override history web_fetch
  toolcrib tool override history web_fetch --platform --json`)
	cmd.Flags().BoolVar(&platform, "platform", false, "list the platform's decisions")
	p.register(cmd)
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
		if adapted := decided.Tenant != nil && decided.Tenant.Description != "" ||
			decided.Platform != nil && decided.Platform.Description != ""; adapted {
			if _, err := fmt.Fprintf(w, "  shown as: %s\n", terminal.Clean(decided.Description)); err != nil {
				return err
			}
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
	var words []string
	switch {
	case o.Enabled == nil:
	case *o.Enabled:
		words = append(words, "on")
	default:
		words = append(words, "off")
	}
	if o.RequiresApproval {
		words = append(words, "approval")
	}
	if o.Description != "" {
		words = append(words, "description")
	}
	for _, name := range slices.Sorted(maps.Keys(o.Defaults)) {
		words = append(words, name+"="+compact(o.Defaults[name]))
	}
	if l := o.Limits; l != nil {
		if l.TimeoutSeconds > 0 {
			words = append(words, "timeout_s "+strconv.FormatFloat(l.TimeoutSeconds, 'f', -1, 64))
		}
		if l.MaxAttempts > 0 {
			words = append(words, "max_attempts "+strconv.Itoa(l.MaxAttempts))
		}
		if l.InlineBytes > 0 {
			words = append(words, "inline_bytes "+strconv.Itoa(l.InlineBytes))
		}
	}
	return strings.Join(words, ", ")
}
