package commands

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/agent"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
)

func (a *app) agentCommand() *cobra.Command {
	return cli.Describe(cli.Group("agent", "Look at agents and publish them",
		a.agentListCommand(), a.agentShowCommand(), a.agentPublishCommand(), a.agentVersionsCommand(),
		a.agentExportCommand()),
		`An agent is instructions, a model and the tools it may call. It is defined as
tools are, with "toolcrib apply", and runs with "toolcrib run start".`,
		`  toolcrib agent list
  toolcrib agent publish supportDesk`)
}

func (a *app) agentListCommand() *cobra.Command {
	var p paging
	var q client.AgentQuery
	cmd := cli.Describe(&cobra.Command{
		Use: "list", Short: "List agents", Args: cli.Operands(),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, _ []string) error {
			return showList(a, cmd, p, agentListing, func(page client.Page) (v1.Page[v1.Agent], error) {
				q.Page = page
				return c.FindAgents(cmd.Context(), q)
			})
		}),
	}, `Lists the tenant's agents in the order of their names, with the number of the draft.`,
		`  toolcrib agent list
  toolcrib agent list --status published --search refund
  toolcrib agent list --all --json`)
	p.register(cmd)
	cmd.Flags().StringVar((*string)(&q.Status), "status", "", "draft, published, deprecated or disabled")
	cmd.Flags().StringVar(&q.Search, "search", "", "text in slug, name or description")
	return cmd
}

var agentListing = listing[v1.Agent]{
	header: "AGENT VERSION STATUS MODEL TOOLS DESCRIPTION~",
	row: func(g v1.Agent) []string {
		return []string{
			g.Slug, g.Version, string(g.Status), g.Model, strconv.Itoa(len(g.Tools)),
			terminal.Shorten(g.Description, 60),
		}
	},
	empty: "no agents yet: write a definition with kind: agent and apply it with toolcrib apply -f FILE",
}

// withAgent makes a command that takes the name of an agent.
func (a *app) withAgent(
	use, short string, fn func(ctx context.Context, c *client.Client, name string) error,
) *cobra.Command {
	return &cobra.Command{
		Use: use + " AGENT", Short: short, Args: cli.Operands("agent"), ValidArgsFunction: a.completeAgents,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			return a.suggestAgent(cmd.Context(), c, args[0], fn(cmd.Context(), c, args[0]))
		}),
	}
}

// agentDetail is what showing an agent prints as JSON.
type agentDetail struct {
	Agent    v1.Agent          `json:"agent"`
	Versions []v1.AgentVersion `json:"versions"`
}

func (a *app) agentShowCommand() *cobra.Command {
	return cli.Describe(a.withAgent("show", "Show an agent and its versions",
		func(ctx context.Context, c *client.Client, name string) error {
			g, err := c.Agent(ctx, name)
			if err != nil {
				return err
			}
			versions, err := c.AgentVersions(ctx, g.ID)
			if err != nil {
				return err
			}
			return a.Printer.Show(agentDetail{g, versions.Items}, func(w io.Writer) error {
				return writeAgent(w, g, versions.Items)
			})
		}), `Shows an agent's draft and state, and its versions. The agent is named by its slug
or id.`, `  toolcrib agent show supportDesk`)
}

func writeAgent(w io.Writer, g v1.Agent, versions []v1.AgentVersion) error {
	err := terminal.Pairs(w,
		"agent", g.Slug, "id", g.ID, "name", g.Name, "description", g.Description, "status", string(g.Status), "draft",
		g.Version,
		"model", g.Model, "fallback models", strings.Join(fallbacks(g.FallbackModels), " "),
		"tools", strings.Join(g.Tools, " "), "tool mode", string(g.ToolMode), "on unavailable tool",
		string(g.OnUnavailableTool), "limits", compact(g.Limits), "max concurrency", compact(g.MaxConcurrency),
		"output schema", string(g.OutputSchema), "text tool calls", string(g.TextToolCalls),
		"spaces", strings.Join(g.Spaces, ", "), "tool groups", strings.Join(g.ToolGroups, ", "),
		"skills", strings.Join(slices.Sorted(maps.Keys(g.Skills)), " "),
		"published", terminal.StampSinceOf(g.PublishedAt), "instructions", g.Instructions)
	return errors.Join(err, gap(w), terminal.Table(w, agentVersionHeader, each(versions, agentVersionRow)))
}

func fallbacks(models []agent.FallbackModel) []string {
	out := make([]string, len(models))
	for i, m := range models {
		out[i] = m.Model
	}
	return out
}

const agentVersionHeader = "VERSION STATE DIGEST CREATED"

func agentVersionRow(v v1.AgentVersion) []string {
	return []string{v.Version, versionState(v.Published), terminal.Shorten(v.Digest, 13), terminal.Since(v.CreatedAt)}
}

func (a *app) agentVersionsCommand() *cobra.Command {
	return cli.Describe(a.withAgent("versions", "List an agent's versions, newest first",
		func(ctx context.Context, c *client.Client, name string) error {
			page, err := c.AgentVersions(ctx, name)
			if err != nil {
				return err
			}
			return showPage(a, false, page, listing[v1.AgentVersion]{
				header: agentVersionHeader, row: agentVersionRow,
				empty: terminal.Clean(name) + " has only a draft: publish it with toolcrib agent publish " +
					terminal.Clean(name),
			})
		}), `Lists the versions of an agent. A version never changes; its digest names its
content.`, `  toolcrib agent versions supportDesk`)
}

func (a *app) agentPublishCommand() *cobra.Command {
	return cli.Describe(a.withAgent("publish", "Publish an agent's draft",
		func(ctx context.Context, c *client.Client, name string) error {
			published, err := c.PublishAgent(ctx, name)
			if err != nil {
				return err
			}
			return a.Printer.ShowLine(published, "published %s",
				terminal.Clean(versioned(published.Agent.Slug, published.Version.Version)))
		}), `Makes the draft available in production. All its tools are resolved as
production would: one that is missing is refused here.`, `  toolcrib agent publish supportDesk`)
}
