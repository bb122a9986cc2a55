package operator

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/definition"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/serve"
	"github.com/toolcrib/toolcrib/registry"
	definitions "github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// globalCommand manages the tools of the platform.
func (a *app) globalCommand() *cobra.Command {
	return cli.Describe(cli.Group("global", "Manage the tools of the platform, for every tenant",
		a.globalApplyCommand(), a.globalListCommand(), a.globalShowCommand(), a.globalVersionCommand(),
		a.globalPublishCommand(),
		a.globalStateCommand("disable", "Stop a global tool at once, for every tenant", (*registry.Registry).Disable),
		a.globalStateCommand("enable", "Take a disable or a deprecation back", (*registry.Registry).Enable),
		a.globalStateCommand("deprecate", "Refuse new bindings of a global tool; existing ones go on",
			(*registry.Registry).Deprecate),
		a.globalStateCommand("delete", "Delete a disabled global tool", (*registry.Registry).Delete)),
		`A global tool belongs to no tenant. It is off for every tenant until it is switched on:
for all with toolcrib tool override set TOOL --on --all-tenants, or by a tenant for
itself. Which tenants it is for at all, its tenant_slugs say. The commands need the URL
of the database as its owner. Built-ins keep their definitions; their state can be
changed.`,
		`  toolcrib global apply -f tools/ --database-url postgres://owner@db/toolcrib
  toolcrib global list
  toolcrib global publish searchShop --version 1.1.0
  toolcrib tool override set searchShop --on --all-tenants`)
}

// withGlobal calls do with the registry of global tools.
func (a *app) withGlobal(ctx context.Context, database string, do func(*registry.Registry) error) error {
	url, err := a.DatabaseURL(database)
	if err != nil {
		return err
	}
	owner, err := store.OpenPlatform(ctx, url, store.Options{Logger: a.Logger(), MaxConns: 1})
	if err != nil {
		return err
	}
	defer owner.Close()
	return do(serve.GlobalTools(owner))
}

// globalRef is a reference by slug or id.
func globalRef(name string) tool.Ref {
	if tool.ValidID(name) {
		return tool.Ref{ID: name}
	}
	return tool.Ref{Slug: name}
}

func (a *app) globalApplyCommand() *cobra.Command {
	var database string
	var files []string
	var dryRun bool
	cmd := cli.Describe(&cobra.Command{
		Use: "apply -f FILE|FOLDER", Short: "Make global tools what their definitions say", Args: cli.Operands(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(files) == 0 {
				return cli.Usagef("toolcrib global apply needs -f with a file or a folder, or - for the standard input")
			}
			documents, err := definition.Read(cmd.Context(), files, cmd.InOrStdin())
			if err != nil {
				return err
			}
			return a.withGlobal(cmd.Context(), database, func(r *registry.Registry) error {
				return a.applyGlobal(cmd.Context(), r, documents, dryRun)
			})
		},
	}, `Reads definitions of tools as toolcrib apply does. All are checked before the first is
stored. One that is published says publish: true; its number is proposed where it
gives none. Applying the same again changes nothing.`,
		`  toolcrib global apply -f tools/ --dry-run
  toolcrib global apply -f search.yaml`)
	cli.DatabaseFlag(cmd, &database)
	cmd.Flags().StringArrayVarP(&files, "file", "f", nil, "file or folder of definitions; may be repeated")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "check, and report what would change")
	return cmd
}

func (a *app) applyGlobal(
	ctx context.Context, r *registry.Registry, documents []definition.Document, dryRun bool,
) error {
	parsed := make([]definitions.Definition, len(documents))
	changes := make([]definitions.Change, len(documents))
	for i, d := range documents {
		var err error
		if parsed[i], err = definitions.Parse(d.Raw); err == nil && parsed[i].Tool == nil {
			err = &tool.Error{
				Kind: tool.Invalid, Op: "global.apply",
				Msg: "only tools can be global: agents, servers, artifacts and pipelines belong to tenants",
			}
		}
		if err == nil {
			changes[i], err = r.Check(ctx, registry.Operator(), parsed[i])
		}
		if err != nil {
			return placed(d, err)
		}
	}
	for i := range parsed {
		if dryRun {
			break
		}
		var err error
		if changes[i], err = r.Apply(ctx, registry.Operator(), parsed[i]); err != nil {
			return placed(documents[i], err)
		}
	}
	return a.Printer.Show(changes, func(w io.Writer) error {
		for _, c := range changes {
			line := fmt.Sprintf("%s %s@%s", c.Action, c.Slug, c.Version)
			if c.Published {
				line += ", published"
			}
			if _, err := fmt.Fprintln(w, terminal.Clean(line)); err != nil {
				return err
			}
			for _, warning := range c.Warnings {
				if _, err := fmt.Fprintln(a.Env.Err, terminal.Clean("  "+warning)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// placed returns an error with the place of the fault in the file of a definition.
func placed(d definition.Document, err error) error {
	if e := tool.AsError(err); e.Kind == tool.Invalid {
		return d.Fault(e.Path, e.Msg)
	}
	return fmt.Errorf("applying %s: %w", d.Outline().Slug, err)
}

// globalTool is a global tool with what the platform decided about it.
type globalTool struct {
	v1.Tool

	Platform *v1.Override `json:"override,omitempty"`
}

func (a *app) globalListCommand() *cobra.Command {
	var database, status, search string
	cmd := cli.Describe(&cobra.Command{
		Use: "list", Short: "List global tools", Args: cli.Operands(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withGlobal(cmd.Context(), database, func(r *registry.Registry) error {
				found, err := listGlobal(cmd.Context(), r, registry.ToolQuery{Status: tool.Status(status), Search: search})
				if err != nil {
					return err
				}
				return a.Printer.Show(found, func(w io.Writer) error {
					rows := make([][]string, len(found))
					for i, t := range found {
						rows[i] = []string{
							t.Slug, t.Version, string(t.Status), string(t.Implementation), switchOf(t.Platform),
							strings.Join(t.TenantSlugs, ", "), terminal.Shorten(t.Description, 60),
						}
					}
					return terminal.Table(w, "TOOL VERSION STATUS TYPE BY_DEFAULT FOR~ DESCRIPTION~", rows)
				})
			})
		},
	}, `BY_DEFAULT is what holds for a tenant that decided nothing itself.`,
		`  toolcrib global list --status published --json`)
	cli.DatabaseFlag(cmd, &database)
	cmd.Flags().StringVar(&status, "status", "", "draft, published, deprecated or disabled")
	cmd.Flags().StringVar(&search, "search", "", "text in slug, name or description")
	return cmd
}

// switchOf returns whether a global tool is on for a tenant that decided nothing.
func switchOf(o *v1.Override) string {
	switch {
	case o == nil || o.Enabled == nil || !*o.Enabled:
		return "off"
	case o.RequiresApproval:
		return "on, approval"
	default:
		return "on"
	}
}

// listGlobal returns the global tools that match, in the order of their slugs.
func listGlobal(ctx context.Context, r *registry.Registry, q registry.ToolQuery) ([]globalTool, error) {
	q.Limit = 200
	out := []globalTool{}
	for {
		tools, err := r.List(ctx, registry.Operator(), q)
		if err != nil {
			return nil, err
		}
		for _, t := range tools {
			shown, err := showGlobal(ctx, r, t)
			if err != nil {
				return nil, err
			}
			out = append(out, shown)
		}
		if len(tools) < q.Limit {
			return out, nil
		}
		q.AfterSlug, q.AfterID = tools[len(tools)-1].Slug, tools[len(tools)-1].ID
	}
}

func showGlobal(ctx context.Context, r *registry.Registry, t tool.Tool) (globalTool, error) {
	_, overrides, err := r.OverridesOf(ctx, registry.Operator(), tool.Ref{ID: t.ID})
	out := globalTool{Tool: v1.FromTool(t)}
	if overrides.Platform != nil {
		out.Platform = new(v1.FromOverride(*overrides.Platform))
	}
	return out, err
}

func (a *app) globalShowCommand() *cobra.Command {
	var database string
	cmd := cli.Describe(&cobra.Command{
		Use: "show TOOL", Short: "Show a global tool and its versions", Args: cli.Operands("tool"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withGlobal(cmd.Context(), database, func(r *registry.Registry) error {
				t, err := r.Get(cmd.Context(), registry.Operator(), globalRef(args[0]))
				if err != nil {
					return err
				}
				shown, err := showGlobal(cmd.Context(), r, t)
				if err != nil {
					return err
				}
				versions, err := r.Versions(cmd.Context(), registry.Operator(), tool.Ref{ID: t.ID})
				if err != nil {
					return err
				}
				numbers := make([]string, len(versions))
				for i, v := range versions {
					if numbers[i] = v.Number; !v.Published {
						numbers[i] += " (snapshot)"
					}
				}
				return a.Printer.Show(struct {
					Tool     globalTool `json:"tool"`
					Versions []string   `json:"versions"`
				}{shown, numbers}, func(w io.Writer) error {
					return terminal.Pairs(w, "tool", t.Slug, "id", t.ID, "name", t.Name, "description", t.Description,
						"status", string(t.Status), "draft", t.Version, "type", string(t.ImplementationType()), "egress",
						string(t.EgressClass), "by default", switchOf(shown.Platform), "for tenants",
						strings.Join(t.TenantSlugs, ", "), "versions", strings.Join(numbers, ", "))
				})
			})
		},
	}, `Shows its draft and state, what the platform decided about it, and its versions,
newest first.`, `  toolcrib global show searchShop --json`)
	cli.DatabaseFlag(cmd, &database)
	return cmd
}

func (a *app) globalVersionCommand() *cobra.Command {
	var database, number string
	cmd := cli.Describe(&cobra.Command{
		Use: "version TOOL", Short: "Snapshot the draft of a global tool, without publishing it",
		Args: cli.Operands("tool"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if number == "" {
				return cli.Usagef("say the number of the version: --version 1.1.0")
			}
			return a.withGlobal(cmd.Context(), database, func(r *registry.Registry) error {
				_, v, err := r.Version(cmd.Context(), registry.Operator(), globalRef(args[0]), number)
				if err != nil {
					return err
				}
				return a.Printer.ShowLine(v1.FromToolVersion(v), "%s is a snapshot", v.String())
			})
		},
	}, `The number must be greater than every other, and raised by what the change demands.`,
		`  toolcrib global version searchShop --version 1.1.0`)
	cli.DatabaseFlag(cmd, &database)
	cmd.Flags().StringVar(&number, "version", "", "number of the snapshot")
	return cmd
}

func (a *app) globalPublishCommand() *cobra.Command {
	var database, number string
	cmd := cli.Describe(&cobra.Command{
		Use: "publish TOOL", Short: "Publish the draft of a global tool, or a snapshot", Args: cli.Operands("tool"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withGlobal(cmd.Context(), database, func(r *registry.Registry) error {
				ref := globalRef(args[0])
				ref.Constraint = number
				_, v, err := r.Publish(cmd.Context(), registry.Operator(), ref)
				if err != nil {
					return err
				}
				return a.Printer.ShowLine(v1.FromToolVersion(v), "%s is published", v.String())
			})
		},
	}, `Publishes the snapshot of --version; without it the draft, under its number. Tenants
that have the tool switched on get it in runs that begin from then on.`,
		`  toolcrib global publish searchShop
  toolcrib global publish searchShop --version 1.1.0`)
	cli.DatabaseFlag(cmd, &database)
	cmd.Flags().StringVar(&number, "version", "", "exact number of a snapshot")
	return cmd
}

// globalStateCommand makes a command that changes the state of a global tool.
func (a *app) globalStateCommand(
	verb, short string,
	change func(*registry.Registry, context.Context, tool.Principal, tool.Ref) (tool.Tool, error),
) *cobra.Command {
	var database string
	cmd := cli.Describe(&cobra.Command{
		Use: verb + " TOOL", Short: short, Args: cli.Operands("tool"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withGlobal(cmd.Context(), database, func(r *registry.Registry) error {
				t, err := change(r, cmd.Context(), registry.Operator(), globalRef(args[0]))
				if err != nil {
					return err
				}
				if verb == "delete" {
					return a.Printer.ShowLine(v1.FromTool(t), "%s is deleted", t.Slug)
				}
				return a.Printer.ShowLine(v1.FromTool(t), "%s is %s", t.Slug, t.Status)
			})
		},
	}, short+". It applies to every tenant.", "  toolcrib global "+verb+" searchShop")
	cli.DatabaseFlag(cmd, &database)
	return cmd
}
