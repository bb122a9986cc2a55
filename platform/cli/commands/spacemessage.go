package commands

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/space"
)

func (a *app) spacePostCommand() *cobra.Command {
	return cli.Describe(a.spaceAt("post SPACE TEXT", "Say something in a space", []string{"space", "text"},
		func(ctx context.Context, c *client.Client, args []string) error {
			posted, err := c.PostSpaceMessage(ctx, args[0], args[1])
			if err != nil {
				return err
			}
			return a.Printer.ShowLine(posted, "posted as message %d: it wakes %s", posted.Seq, agents(posted.Woken))
		}), `Says something in a space that the key is a member of. It wakes the agents of the
space, which act with the permissions of the key.`,
		`  toolcrib space post launch "Book a hotel in Tokyo, please."`)
}

func agents(n int) string {
	if n == 1 {
		return "1 agent"
	}
	return fmt.Sprintf("%d agents", n)
}

func (a *app) spaceReadCommand() *cobra.Command {
	var p paging
	var kind string
	cmd := cli.Describe(&cobra.Command{
		Use: "read SPACE", Short: "Read the messages of a space", Args: cli.Operands("space"),
		ValidArgsFunction: a.completeSpaces,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			page, err := collect(p, func(page client.Page) (v1.Page[v1.SpaceMessage], error) {
				return c.SpaceMessages(cmd.Context(), args[0], client.SpaceMessageQuery{Kind: kind, Page: page})
			})
			if err != nil {
				return err
			}
			return a.Printer.Show(page, func(w io.Writer) error {
				if len(page.Items) == 0 {
					_, err := fmt.Fprintln(a.Env.Err, "nothing was said yet: toolcrib space post SPACE TEXT")
					return err
				}
				for _, m := range slices.Backward(page.Items) {
					if err := writeSpaceMessage(w, m); err != nil {
						return err
					}
				}
				return a.more(page.Next)
			})
		}),
	}, `Reads the last messages of a space, oldest first. With --json they are newest first,
as the API pages them.`,
		`  toolcrib space read launch
  toolcrib space read launch --kind tool --json`)
	p.register(cmd)
	cmd.Flags().StringVar(&kind, "kind", "", "text for what was said, tool for visible calls")
	return cmd
}

// writeSpaceMessage writes a message, and how one answers a call that waits.
func writeSpaceMessage(w io.Writer, m v1.SpaceMessage) error {
	head := terminal.Stamp(m.CreatedAt) + "  " + terminal.Clean(m.From)
	var err error
	switch {
	case m.Call == nil:
		_, err = fmt.Fprintf(w, "%s\n  %s\n", head, terminal.CleanLines(m.Text))
	default:
		line := terminal.Clean(versioned(m.Call.Tool, m.Call.Version)) + " " + terminal.Clean(string(m.Status))
		if m.Call.Error != "" {
			line += ": " + terminal.Shorten(m.Call.Error, 200)
		}
		_, err = fmt.Fprintf(w, "%s\n  %s %s\n", head, line, terminal.Shorten(string(m.Call.Input), 200))
		if err == nil && len(m.Call.Output) > 0 {
			_, err = fmt.Fprintf(w, "  → %s\n", terminal.Shorten(string(m.Call.Output), 200))
		}
		if err == nil && m.Status == space.RequiresAction {
			_, err = fmt.Fprintf(w, "  it waits for somebody: %s\n", terminal.Clean(m.ID))
		}
	}
	if err == nil && m.NotWoken != "" {
		_, err = fmt.Fprintf(w, "  woke nobody: %s\n", terminal.Shorten(m.NotWoken, 200))
	}
	return err //nolint:wrapcheck // Of the output.
}

func (a *app) spaceFollowCommand() *cobra.Command {
	var after int64
	cmd := cli.Describe(&cobra.Command{
		Use: "follow SPACE", Short: "Follow what is said and called in a space", Args: cli.Operands("space"),
		ValidArgsFunction: a.completeSpaces,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			from := after
			if !cmd.Flags().Changed("after") {
				found, err := c.Space(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				from = found.LastSeq
			}
			for m, err := range c.FollowSpace(cmd.Context(), args[0], from) {
				if cmd.Context().Err() != nil {
					return nil // Interrupted: a stream has no end of its own.
				}
				if err != nil {
					return err
				}
				if err := a.Printer.Show(m, func(w io.Writer) error { return writeSpaceMessage(w, m) }); err != nil {
					return err
				}
			}
			return nil
		}),
	}, `Prints messages as they come, and calls again whenever they change, until it is
interrupted. With --json each is a JSON value.`,
		`  toolcrib space follow launch
  toolcrib space follow launch --after 0 --json`)
	cmd.Flags().Int64Var(&after, "after", 0,
		"changed_seq to begin after: 0 for everything (default what comes from now on)")
	return cmd
}
