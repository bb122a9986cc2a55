package commands

import (
	"context"
	"encoding/json"
	"errors"
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

func (a *app) toolCommand() *cobra.Command {
	return cli.Describe(cli.Group("tool", "Define, publish, compare, explain and call tools",
		a.toolListCommand(), a.toolShowCommand(), a.toolApplyCommand(), a.toolExportCommand(),
		a.toolImportCommand(), a.toolPublishCommand(),
		a.toolVersionCommand(), a.toolRenameCommand(),
		a.toolVersionsCommand(), a.toolFieldsCommand(), a.toolDiffCommand(), a.toolExplainCommand(), a.toolCallCommand(),
		a.toolTestCommand(), a.toolCheckCommand(), a.toolRegisterCommand(),
		a.toolStateCommand(client.Disable, "Stop a tool at once, everywhere",
			"Stops a tool at once: new calls are refused in every run, also where its version is pinned."),
		a.toolStateCommand(client.Enable, "Take a disable or a deprecation back",
			"Makes a disabled or deprecated tool what its versions allow: published if one is, else a draft."),
		a.toolStateCommand(client.Deprecate, "Refuse new bindings of a tool; existing ones go on",
			"Keeps a published tool running where it is bound, with a warning, and refuses to bind it anew."),
		a.toolStateCommand(client.Archive, "Archive a tool that nothing uses; its record stays",
			"Disables a tool and takes it off the lists. Its slug stays taken, and its versions and\n"+
				"the record of its calls stay. It is refused, naming them, while agents, compositions,\n"+
				"graphs, toolsets or runs use it."),
		a.toolStateCommand(client.Restore, "Take a tool out of the archive",
			"Makes an archived tool what its versions allow: published if one is, else a draft."),
		a.toolTermsCommand(), a.toolUsersCommand(), a.toolReplayCommand(), a.toolGateCommand(), a.toolCanaryCommand(),
		a.toolDeleteCommand(), a.toolBulkCommand(), a.toolOverrideCommand(), a.toolAssignCommand(), a.toolRevokeCommand(),
		a.toolDecideCommand("approve", "Approve a call that waits: approvals approve"),
		a.toolDecideCommand("reject", "Reject a call that waits: approvals reject")),
		`A tool has a draft, which applying a definition edits, and versions, which never
change. Production runs published versions; debug mode may run the draft.`,
		`  toolcrib tool apply -f order.yaml
  toolcrib tool diff getOrder
  toolcrib tool publish getOrder
  toolcrib tool call getOrder --arg id=4711`)
}

func (a *app) toolListCommand() *cobra.Command {
	var q client.ToolQuery
	var p paging
	var registry, assignments, profiles bool
	var agent string
	cmd := cli.Describe(&cobra.Command{
		Use: "list", Short: "List tools, the tenant's and the global ones", Args: cli.Operands(),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, _ []string) error {
			ctx := cmd.Context()
			switch {
			case assignments:
				return showList(a, cmd, p, assignmentListing, func(page client.Page) (v1.Page[v1.Assignment], error) {
					return c.Assignments(ctx, client.AssignmentQuery{Agent: agent, Page: page})
				})
			case profiles:
				return showList(a, cmd, p, profileListing, func(page client.Page) (v1.Page[v1.Profile], error) {
					return c.Profiles(ctx, agent, page)
				})
			case agent != "":
				return cli.Usagef("--agent goes with --assignments or --profiles")
			}
			return showList(a, cmd, p, toolListing, func(page client.Page) (v1.Page[v1.Tool], error) {
				q.Page = page
				return c.ListTools(ctx, q)
			})
		}),
	}, `Lists the tools that the key may see, in the order of their names, with the
number of the draft. With --callable it lists what a call would find. With
--assignments it lists which tools are assigned to which agents, with their
profiles, and with --profiles the profiles.`,
		`  toolcrib tool list
  toolcrib tool list --type http --status published --all
  toolcrib tool list --callable production --json
  toolcrib tool list --assignments --agent support`)
	p.register(cmd)
	cmd.Flags().StringVar((*string)(&q.Status), "status", "", "draft, published, deprecated or disabled")
	cmd.Flags().StringVar((*string)(&q.Implementation), "type", "", "implementation type, such as http")
	cmd.Flags().StringVar((*string)(&q.ToolType), "tool-type", "", "built_in, mcp, artifact or custom")
	cmd.Flags().StringVar(&q.Category, "category", "", "only this category")
	cmd.Flags().StringVar((*string)(&q.Egress), "egress-class", "", "none, read_only or write")
	cmd.Flags().StringVar((*string)(&q.Risk), "risk", "", "low, medium or high")
	cmd.Flags().StringVar((*string)(&q.Callable), "callable", "", "only what may be called, in production or debug mode")
	cmd.Flags().BoolVar(&q.Archived, "archived", false, "list the archived tools instead of the others")
	cmd.Flags().BoolVar(&q.SwitchedOff, "switched-off", false, "only tools that the tenant has switched off for itself")
	cmd.Flags().StringVar(&q.Search, "search", "", "text in slug, name or description")
	cmd.Flags().BoolVar(&registry, "registry", false, "list tools, as by default")
	cmd.Flags().BoolVar(&assignments, "assignments", false, "list assignments of tools")
	cmd.Flags().BoolVar(&profiles, "profiles", false, "list profiles")
	cmd.Flags().StringVar(&agent, "agent", "", "only assignments or profiles of this agent")
	cmd.MarkFlagsMutuallyExclusive("registry", "assignments", "profiles")
	_ = cmd.RegisterFlagCompletionFunc("agent", a.completeAgents)
	return cmd
}

var toolListing = listing[v1.Tool]{
	header: "TOOL VERSION STATUS TOOL_TYPE TYPE EGRESS SCOPE DESCRIPTION~",
	row: func(t v1.Tool) []string {
		status, description := string(t.Status), t.Description
		if e := t.Effective; e != nil {
			description = e.Description
			if !e.Enabled {
				status += ", off"
			}
		}
		return []string{
			t.Slug, t.Version, status, string(t.ToolType), string(t.Implementation), string(t.EgressClass),
			t.Scope, terminal.Shorten(description, 60),
		}
	},
	empty: "no tools yet: write a definition and apply it with toolcrib apply -f FILE (toolcrib apply --help shows one)",
}

// withTool makes a command that takes the name of a tool.
func (a *app) withTool(
	use, short string, fn func(ctx context.Context, c *client.Client, name string) error,
) *cobra.Command {
	return &cobra.Command{
		Use: use + " TOOL", Short: short, Args: cli.Operands("tool"), ValidArgsFunction: a.completeTools,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			return a.suggestTool(cmd.Context(), c, args[0], fn(cmd.Context(), c, args[0]))
		}),
	}
}

// toolDetail is what showing a tool prints as JSON.
type toolDetail struct {
	Tool     v1.Tool          `json:"tool"`
	Versions []v1.ToolVersion `json:"versions"`
}

func (a *app) toolShowCommand() *cobra.Command {
	return cli.Describe(a.withTool("show", "Show a tool and its versions",
		func(ctx context.Context, c *client.Client, name string) error {
			t, err := c.Tool(ctx, name)
			if err != nil {
				return err
			}
			versions, err := c.ToolVersions(ctx, t.ID)
			if err != nil {
				return err
			}
			return a.Printer.Show(toolDetail{t, versions.Items}, func(w io.Writer) error {
				return writeTool(w, t, versions.Items)
			})
		}), `Shows a tool's draft, state and policy, and its versions. The tool is named by its
slug or id.`, `  toolcrib tool show getOrder
  toolcrib tool show getOrder --json`)
}

func writeTool(w io.Writer, t v1.Tool, versions []v1.ToolVersion) error {
	switched, shownAs := "", ""
	if e := t.Effective; e != nil {
		switched = e.Why
		if e.Description != t.Description {
			shownAs = e.Description
		}
	}
	err := terminal.Pairs(w,
		"tool", t.Slug, "switch", switched, "shown as", shownAs, "id", t.ID, "name", t.Name,
		"description", t.Description, "scope", t.Scope,
		"status", string(t.Status), "active", strconv.FormatBool(t.Active), "quarantine", t.Quarantine, "draft", t.Version,
		"type", string(t.Implementation),
		"tool type", string(t.ToolType), "egress", string(t.EgressClass), "egress rules", rulesOf(t.EgressRules), "policy",
		string(t.PermissionPolicy),
		"POST reads", declared(t.ReadsDeclared), "approval", strconv.FormatBool(t.RequiresApproval), "permission",
		t.RequiredPermission, "execution", compact(t.Execution),
		"config", plainJSON(t.Config), "input", plainJSON(t.InputSchema), "output", plainJSON(t.OutputSchema), "output check",
		string(t.OutputCheck), "published", terminal.StampSinceOf(t.PublishedAt))
	return errors.Join(err, gap(w), writeToolVersions(w, versions))
}

// declared returns who declared that a POST only reads, and when; it is empty
// without a declaration.
func declared(d *v1.Declaration) string {
	if d == nil {
		return ""
	}
	return "declared by " + d.By + " on " + terminal.StampSince(d.At)
}

// rulesOf writes egress rules; nothing where they narrow nothing.
func rulesOf(r tool.EgressRules) string {
	if r.IsZero() {
		return ""
	}
	return compact(r)
}

func writeToolVersions(w io.Writer, versions []v1.ToolVersion) error {
	rows := make([][]string, len(versions))
	for i, v := range versions {
		rows[i] = []string{
			v.Version, versionState(v.Published), terminal.Shorten(v.Digest, 13),
			terminal.Since(v.CreatedAt), v.CreatedBy,
		}
	}
	return terminal.Table(w, "VERSION STATE DIGEST CREATED BY~", rows)
}

func versionState(published bool) string {
	if published {
		return "published"
	}
	return "snapshot"
}

func (a *app) toolVersionsCommand() *cobra.Command {
	return cli.Describe(a.withTool("versions", "List a tool's versions, newest first",
		func(ctx context.Context, c *client.Client, name string) error {
			page, err := c.ToolVersions(ctx, name)
			if err != nil {
				return err
			}
			return showPage(a, false, page, listing[v1.ToolVersion]{
				header: "VERSION STATE DIGEST CREATED BY~ DESCRIPTION~",
				row: func(v v1.ToolVersion) []string {
					return []string{
						v.Version, versionState(v.Published), terminal.Shorten(v.Digest, 13), terminal.Since(v.CreatedAt), v.CreatedBy,
						terminal.Shorten(v.Definition.Description, 60),
					}
				},
				empty: terminal.Clean(name) + " has only a draft: publish it with toolcrib tool publish " +
					terminal.Clean(name),
			})
		}), `Lists the versions of a tool. A version never changes; its digest names its
content. Those in the state snapshot are not published yet.`, `  toolcrib tool versions getOrder`)
}

// plainJSON is JSON for people: characters that are escaped only for HTML are
// not escaped.
func plainJSON(raw json.RawMessage) string { return unescapeHTML.Replace(string(raw)) }

// unescapeHTML undoes the escapes that keep JSON safe in a page. A backslash
// that is escaped itself does not begin one.
var unescapeHTML = strings.NewReplacer(`\\`, `\\`, `\u0026`, "&", `\u003c`, "<", `\u003e`, ">")

// compact writes v as one line of JSON, or nothing for an empty object.
func compact(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	raw := ""
	if enc.Encode(v) == nil {
		raw = strings.TrimSpace(b.String())
	}
	if raw == "{}" || raw == "null" {
		return ""
	}
	return plainJSON(json.RawMessage(raw))
}
