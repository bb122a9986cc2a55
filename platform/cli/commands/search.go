package commands

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
)

// searchKinds are what a search can be limited to, as the server calls it.
const searchKinds = "tool agent pipeline space credential key toolset schedule mcp_server profile role budget " +
	"webhook tool_session view"

func (a *app) searchCommand() *cobra.Command {
	var q client.SearchQuery
	cmd := cli.Describe(&cobra.Command{
		Use: "search WORD...", Short: "Find anything by words of its name, or by its id",
		Args: func(cmd *cobra.Command, args []string) error {
			return cli.Operands("word")(cmd, args[:min(len(args), 1)])
		},
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			for _, kind := range q.Kinds {
				if !slices.Contains(strings.Fields(searchKinds), kind) {
					return cli.Usagef("--kind %s: expected one of %s", kind, strings.ReplaceAll(searchKinds, " ", ", "))
				}
			}
			q.Text = strings.Join(args, " ")
			found, err := c.Search(cmd.Context(), q)
			if err != nil {
				return err
			}
			return a.Printer.Show(found, func(w io.Writer) error {
				if len(found.Items) == 0 {
					_, err := fmt.Fprintf(a.Env.Err, "nothing is called %q, of what the key may see\n", terminal.Clean(q.Text))
					return err
				}
				return terminal.Table(w, "KIND NAME STATE TITLE~", each(found.Items, func(f v1.Found) []string {
					return []string{f.Kind, f.Name, f.State, f.Title}
				}))
			})
		}),
	}, `Finds what has all the words in its names, of all that the key may see: tools, agents,
pipelines, spaces, credentials, keys, toolsets, schedules, MCP servers, profiles, roles,
budgets, webhooks, tool sessions and published views. With an id, finds the run, the call,
the request for approval or for input, or the call that waits for its result. The best
matches come first: the name itself, then names that begin with the text.`,
		`  toolcrib search refund
  toolcrib search order refund --kind tool,agent
  toolcrib search 01975c2e-7d1a-7c3e-9f00-0000000000c1 --json`)
	flags := cmd.Flags()
	flags.StringSliceVar(&q.Kinds, "kind", nil, "of these alone, such as tool or agent; several with commas")
	flags.IntVar(&q.Limit, "limit", 0, "how many at most, up to 20 (default 20)")
	a.CompleteFlag(cmd, "kind", cli.Words(searchKinds))
	return cmd
}
