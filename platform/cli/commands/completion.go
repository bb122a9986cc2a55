package commands

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/worker"
)

// Bounds of completion, for which the shell waits.
const (
	completionPatience = 1500 * time.Millisecond
	completionNames    = 200
)

// flagWords lists the values of flags, by the command's path and the flag's
// name; a flag of several commands is listed under its name alone.
var flagWords = map[string]string{
	"mode": "production debug",

	"audit list outcome":        "done refused",
	"tool list status":          "draft published deprecated disabled",
	"tool list tool-type":       "built_in mcp artifact custom",
	"tool list callable":        "production debug",
	"tool list egress-class":    "none read_only write",
	"tool list risk":            "low medium high",
	"run list status":           "pending running completed failed cancelled hosted",
	"run list kind":             "agent tool_call tool_test host",
	"approvals list status":     "pending approved rejected expired cancelled",
	"schedule starts status":    "starting started refused",
	"webhook deliveries status": "pending delivered failed",
	"space read kind":           "text tool",
	"results list status":       "open waiting pending resolved expired cancelled",
	"invocations list status":   "pending approved running waiting completed failed rejected cancelled expired unknown",
}

// completeFlags makes the flags of commands complete, and of those below them.
func (a *app) completeFlags(commands []*cobra.Command) {
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		path := cmd.CommandPath()
		for name, fn := range map[string]cobra.CompletionFunc{"agent": a.agents, "tool": a.tools, "run": a.runs} {
			a.CompleteFlag(cmd, name, fn)
		}
		for key, text := range flagWords {
			if name, ok := strings.CutPrefix(key, path+" "); ok || !strings.Contains(key, " ") {
				a.CompleteFlag(cmd, name, cli.Words(text))
			}
		}
		if strings.HasSuffix(path, "audit list") {
			a.CompleteFlag(cmd, "action", cli.Words(actionWords()))
		}
		if path == "tool list" {
			a.CompleteFlag(cmd, "type", cli.Words(strings.Join(implementations(), " ")))
		}
		for _, child := range cmd.Commands() {
			visit(child)
		}
	}
	for _, cmd := range commands {
		visit(cmd)
	}
}

func (a *app) completeTools(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	return cli.FirstOnly(a.tools)(cmd, args, typed)
}

func (a *app) completeAgents(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	return cli.FirstOnly(a.agents)(cmd, args, typed)
}

func (a *app) completeRuns(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	return cli.FirstOnly(a.runs)(cmd, args, typed)
}

func (a *app) tools(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return a.ask(cmd, typed, func(ctx context.Context, c *client.Client) ([]string, error) {
		page, err := collect(paging{limit: completionNames}, func(p client.Page) (v1.Page[v1.Tool], error) {
			return c.ListTools(ctx, client.ToolQuery{Search: searchable(typed), Page: p})
		})
		return each(page.Items, func(t v1.Tool) string { return t.Slug + "\t" + terminal.Shorten(t.Description, 60) }), err
	})
}

// searchable returns the search term for what was typed; empty unless it is a
// valid slug.
func searchable(typed string) string {
	if tool.ValidSlug(typed) {
		return typed
	}
	return ""
}

func (a *app) agents(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return a.ask(cmd, typed, func(ctx context.Context, c *client.Client) ([]string, error) {
		page, err := collect(paging{limit: completionNames}, func(p client.Page) (v1.Page[v1.Agent], error) {
			return c.ListAgents(ctx, p)
		})
		return each(page.Items, func(g v1.Agent) string { return g.Slug + "\t" + terminal.Shorten(g.Description, 60) }), err
	})
}

func (a *app) runs(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return a.ask(cmd, typed, func(ctx context.Context, c *client.Client) ([]string, error) {
		page, err := c.ListRuns(ctx, client.RunQuery{Page: client.Page{Limit: v1.DefaultLimit}})
		return each(page.Items, func(r v1.Run) string {
			return r.ID + "\t" + terminal.Clean(versioned(r.Agent, r.AgentVersion)) + " " + string(r.Status) + " " +
				terminal.Since(r.CreatedAt)
		}), err
	})
}

// completeVersions completes the versions of the tool that a command line names.
func (a *app) completeVersions(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.ask(cmd, typed, func(ctx context.Context, c *client.Client) ([]string, error) {
		page, err := c.ToolVersions(ctx, args[0])
		return each(page.Items, func(v v1.ToolVersion) string { return v.Version + "\t" + versionState(v.Published) }), err
	})
}

// ask requests names from the server. If that fails there are none: errors must
// not appear in shell completion.
func (a *app) ask(
	cmd *cobra.Command, typed string, list func(context.Context, *client.Client) ([]string, error),
) ([]string, cobra.ShellCompDirective) {
	ctx := cmd.Context()
	if ctx == nil {
		ctx = context.Background()
	}
	patience := cmp.Or(a.Env.Patience, completionPatience)
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c, err := a.ConnectFor(patience)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer c.Close()
	found, err := list(ctx, c)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return cli.Matching(found, typed), cobra.ShellCompDirectiveNoFileComp
}

func implementations() []string {
	var types []string
	for _, implementation := range worker.Types(worker.Known{}).Names() {
		types = append(types, string(implementation))
	}
	return types
}
