package commands

import (
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/space"
	"github.com/toolcrib/toolcrib/tool"
)

func (a *app) spaceNotesCommand() *cobra.Command {
	return cli.Describe(cli.Group("notes", "See and delete what agents keep: goals, memories and plans",
		a.noteListCommand(), a.noteShowCommand(), a.noteDeleteCommand()),
		`Agents that work in spaces keep notes from run to run. They belong to the agent, not
to one space, and may hold what was said in any; seeing them needs spaces.write.`,
		`  toolcrib space notes list supportDesk
  toolcrib space notes delete supportDesk memory seat`)
}

func (a *app) noteListCommand() *cobra.Command {
	var p paging
	var kind string
	cmd := cli.Describe(&cobra.Command{
		Use: "list AGENT", Short: "List the notes of an agent, by kind and key", Args: cli.Operands("agent"),
		ValidArgsFunction: a.completeAgents,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			page, err := collect(p, func(page client.Page) (v1.Page[v1.Note], error) {
				return c.AgentNotes(cmd.Context(), args[0], client.NoteQuery{Kind: space.NoteKind(kind), Page: page})
			})
			if err != nil {
				return err
			}
			return showPage(a, filtered(cmd), page, listing[v1.Note]{
				header: "KIND KEY DONE CHANGED TEXT~",
				row: func(n v1.Note) []string {
					return []string{
						string(n.Kind), terminal.Clean(n.Key), strconv.FormatBool(n.Done),
						terminal.Since(n.UpdatedAt), n.Text,
					}
				},
				empty: "no notes: the agent has kept nothing",
			})
		}),
	}, `Lists the goals, memories and plans that an agent keeps.`,
		`  toolcrib space notes list supportDesk
  toolcrib space notes list supportDesk --kind memory --json`)
	p.register(cmd)
	cmd.Flags().StringVar(&kind, "kind", "", "goal, memory or plan")
	return cmd
}

func (a *app) noteShowCommand() *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: "show AGENT KIND KEY", Short: "Show a note of an agent", Args: cli.Operands("agent", "kind", "key"),
		ValidArgsFunction: a.completeAgents,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			page, err := c.AgentNotes(cmd.Context(), args[0], client.NoteQuery{Kind: space.NoteKind(args[1]), Key: args[2]})
			if err != nil {
				return err
			}
			if len(page.Items) == 0 {
				return &tool.Error{Kind: tool.NotFound, Op: "space notes", Msg: fmt.Sprintf(
					"agent %s has no %s with the key %q: see toolcrib space notes list %s", args[0], args[1], args[2], args[0])}
			}
			n := page.Items[0]
			return a.Printer.Show(n, func(w io.Writer) error {
				return terminal.Pairs(w, "kind", string(n.Kind), "key", terminal.Clean(n.Key), "text",
					terminal.CleanLines(n.Text), "done", strconv.FormatBool(n.Done), "created",
					terminal.StampSinceOf(&n.CreatedAt), "changed", terminal.StampSinceOf(&n.UpdatedAt))
			})
		}),
	}, `Shows a note whole. KIND is goal, memory or plan.`, `  toolcrib space notes show supportDesk memory seat`)
}

func (a *app) noteDeleteCommand() *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: "delete AGENT KIND KEY", Short: "Delete a note of an agent", Args: cli.Operands("agent", "kind", "key"),
		ValidArgsFunction: a.completeAgents,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			gone, err := c.DeleteAgentNote(cmd.Context(), args[0], space.NoteKind(args[1]), args[2])
			if err != nil {
				return err
			}
			return a.Printer.ShowLine(gone, "deleted the %s %s", gone.Kind, terminal.Clean(gone.Key))
		}),
	}, `Deletes a goal, a memory or a plan. The runs of the agent do not see it from their
next turn on.`, `  toolcrib space notes delete supportDesk memory seat`)
}
