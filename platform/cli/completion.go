package cli

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/worker"
)

// A shell waits for completions, so that they are quick or absent.
const (
	completionPatience = 1500 * time.Millisecond
	completionNames    = 200
)

func (a *app) completionCommand() *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print what makes a shell complete commands",
		Long: `Prints a script that makes a shell complete commands, flags, and the names of
tools, agents, runs and contexts, which it asks the server for.`,
		Example: `  source <(toolcrib completion bash)
  toolcrib completion zsh > "${fpath[1]}/_toolcrib"
  toolcrib completion fish > ~/.config/fish/completions/toolcrib.fish
  toolcrib completion powershell | Out-String | Invoke-Expression`,
		Args:      operands("shell"),
		ValidArgs: shells,
		RunE: func(cmd *cobra.Command, args []string) error {
			root, out := cmd.Root(), cmd.OutOrStdout()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(out, true)
			case "zsh":
				return root.GenZshCompletion(out)
			case "fish":
				return root.GenFishCompletion(out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(out)
			default:
				return usage("%q is no shell that is known: expected %s", args[0], strings.Join(shells, ", "))
			}
		},
	}
}

// completer returns the words that complete an argument or a flag.
type completer = cobra.CompletionFunc

// words completes with words that do not depend on anything.
func words(text string) completer {
	return func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return matching(strings.Fields(text), typed), cobra.ShellCompDirectiveNoFileComp
	}
}

// flagWords lists the values of flags, by the command's path and the flag's
// name; a flag of several commands is listed under its name alone.
var flagWords = map[string]string{
	"mode": "production debug",

	"tool list status":        "draft published deprecated disabled",
	"tool list tool-type":     "built_in mcp artifact custom",
	"tool list callable":      "production debug",
	"run list status":         "pending running completed failed cancelled hosted",
	"run list kind":           "agent tool_call tool_test host",
	"invocations list status": "pending approved running waiting completed failed rejected cancelled expired unknown",
}

// completeFlags makes the flags of all commands complete.
func (a *app) completeFlags(root *cobra.Command) {
	a.completeFlag(root, "context", a.completeContexts)
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		path := strings.TrimPrefix(cmd.CommandPath(), root.Name()+" ")
		for name, fn := range map[string]completer{"agent": a.agents, "tool": a.tools, "run": a.runs} {
			a.completeFlag(cmd, name, fn)
		}
		for key, text := range flagWords {
			if name, ok := strings.CutPrefix(key, path+" "); ok || !strings.Contains(key, " ") {
				a.completeFlag(cmd, name, words(text))
			}
		}
		for _, child := range cmd.Commands() {
			visit(child)
		}
	}
	visit(root)
	var types []string
	for _, implementation := range worker.Types(worker.Known{}).Names() {
		types = append(types, string(implementation))
	}
	if list, _, err := root.Find([]string{"tool", "list"}); err == nil {
		a.completeFlag(list, "type", words(strings.Join(types, " ")))
	}
}

// completeFlag makes a flag complete, if the command has one of that name.
func (a *app) completeFlag(cmd *cobra.Command, name string, fn completer) {
	if cmd.LocalNonPersistentFlags().Lookup(name) == nil && cmd.PersistentFlags().Lookup(name) == nil {
		return
	}
	_ = cmd.RegisterFlagCompletionFunc(name, fn) // It fails for a flag that has one already.
}

// firstOnly completes the first operand of a command only.
func firstOnly(fn completer) completer {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return fn(cmd, args, typed)
	}
}

func (a *app) completeTools(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	return firstOnly(a.tools)(cmd, args, typed)
}

func (a *app) completeAgents(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	return firstOnly(a.agents)(cmd, args, typed)
}

func (a *app) completeRuns(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	return firstOnly(a.runs)(cmd, args, typed)
}

func (a *app) completeContexts(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	_, contexts, err := a.readContexts()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var found []string
	for _, name := range sortedNames(contexts.Contexts) {
		found = append(found, name+"\t"+contexts.Contexts[name].Server)
	}
	return matching(append(found, localContext+"\tthe stack of toolcrib dev"), typed), cobra.ShellCompDirectiveNoFileComp
}

func (a *app) tools(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return a.ask(cmd, typed, func(ctx context.Context, c *client.Client) ([]string, error) {
		page, err := collect(paging{limit: completionNames}, func(p client.Page) (v1.Page[v1.Tool], error) {
			return c.ListTools(ctx, client.ToolQuery{Search: searchable(typed), Page: p})
		})
		return names(page.Items, func(t v1.Tool) string { return t.Slug + "\t" + short(t.Description, 60) }), err
	})
}

// searchable returns what a server may be asked to search for.
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
		return names(page.Items, func(g v1.Agent) string { return g.Slug + "\t" + short(g.Description, 60) }), err
	})
}

func (a *app) runs(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return a.ask(cmd, typed, func(ctx context.Context, c *client.Client) ([]string, error) {
		page, err := c.ListRuns(ctx, client.RunQuery{Page: client.Page{Limit: v1.DefaultLimit}})
		return names(page.Items, func(r v1.Run) string {
			return r.ID + "\t" + clean(versioned(r.Agent, r.AgentVersion)) + " " + string(r.Status) + " " + since(r.CreatedAt)
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
		return names(page.Items, func(v v1.ToolVersion) string { return v.Version + "\t" + versionState(v.Published) }), err
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
	patience := cmp.Or(a.env.Patience, completionPatience)
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c, err := a.connectFor(patience)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer c.Close()
	found, err := list(ctx, c)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return matching(found, typed), cobra.ShellCompDirectiveNoFileComp
}

// matching keeps the words that begin with what was typed.
func matching(found []string, typed string) []string {
	return slices.DeleteFunc(found, func(word string) bool { return !strings.HasPrefix(word, typed) })
}
