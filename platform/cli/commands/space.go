package commands

import (
	"context"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
)

func (a *app) spaceCommand() *cobra.Command {
	return cli.Describe(cli.Group("space", "Talk with agents, and see their visible calls",
		a.spaceListCommand(), a.spaceCreateCommand(), a.spaceShowCommand(), a.spaceUpdateCommand(), a.spaceDeleteCommand(),
		a.spaceMembersCommand(), a.spaceAddCommand(), a.spaceRemoveCommand(), a.spacePostCommand(), a.spaceReadCommand(),
		a.spaceFollowCommand(), a.spaceNotesCommand()),
		`People and agents talk in a space. What a person says there wakes the agents of the
space; they enter it, answer, and their calls of visible tools are shown in it, with
their results. An agent works in spaces if its definition has spaces.

A member is written agent:SLUG or person:SUBJECT, such as person:key:01987a3c-….`,
		`  toolcrib space create launch --name Launch --member agent:supportDesk
  toolcrib space post launch "Book a hotel in Tokyo, please."
  toolcrib space follow launch`)
}

func (a *app) spaceListCommand() *cobra.Command {
	var p paging
	var archived bool
	cmd := cli.Describe(&cobra.Command{
		Use: "list", Short: "List spaces, newest first", Args: cli.Operands(),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, _ []string) error {
			page, err := collect(p, func(page client.Page) (v1.Page[v1.Space], error) {
				return c.ListSpaces(cmd.Context(), client.SpaceQuery{Archived: archived, Page: page})
			})
			if err != nil {
				return err
			}
			return showPage(a, filtered(cmd), page, listing[v1.Space]{
				header: "SPACE STATE NAME~ CREATED",
				row: func(s v1.Space) []string {
					return []string{s.Slug, spaceState(s), s.Name, terminal.Since(s.CreatedAt)}
				},
				empty: "no spaces: make one with toolcrib space create SLUG",
			})
		}),
	}, `Lists the spaces that the key is a member of, or with the permission spaces.write all.`,
		`  toolcrib space list
  toolcrib space list --archived --json`)
	p.register(cmd)
	cmd.Flags().BoolVar(&archived, "archived", false, "archived spaces too")
	return cmd
}

func spaceState(s v1.Space) string {
	if s.ArchivedAt != nil {
		return "archived"
	}
	return "open"
}

func (a *app) spaceCreateCommand() *cobra.Command {
	var in v1.NewSpace
	var hops int
	cmd := cli.Describe(&cobra.Command{
		Use: "create SLUG", Short: "Make a space", Args: cli.Operands("slug"),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			in.Slug = args[0]
			if cmd.Flags().Changed("max-hops") {
				in.MaxHops = &hops
			}
			made, err := c.CreateSpace(cmd.Context(), in)
			if err != nil {
				return err
			}
			return a.showSpace(made)
		}),
	}, `Makes a space. Whoever makes it is a member.`,
		`  toolcrib space create launch --name Launch --member agent:supportDesk --member agent:clerk`)
	flags := cmd.Flags()
	flags.StringVar(&in.Name, "name", "", "what people call it")
	flags.StringVar(&in.Description, "description", "", "what it is for; agents read it")
	flags.StringSliceVar(&in.Members, "member", nil, "agent:SLUG or person:SUBJECT; may be repeated")
	flags.IntVar(&hops, "max-hops", 0, "how many messages of agents in a row wake other agents (default 4)")
	return cmd
}

func (a *app) showSpace(s v1.Space) error {
	return a.Printer.Show(s, func(w io.Writer) error {
		return terminal.Pairs(w, "space", s.Slug, "id", s.ID, "name", terminal.Clean(s.Name), "state", spaceState(s),
			"description", terminal.Clean(s.Description), "max hops", strconv.Itoa(s.MaxHops), "created",
			terminal.StampSinceOf(&s.CreatedAt))
	})
}

// spaceAt makes a command of a space that is named first.
func (a *app) spaceAt(
	use, short string, operands []string, run func(ctx context.Context, c *client.Client, args []string) error,
) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: cli.Operands(operands...), ValidArgsFunction: a.completeSpaces,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			return run(cmd.Context(), c, args)
		}),
	}
}

func (a *app) spaceShowCommand() *cobra.Command {
	return cli.Describe(a.spaceAt("show SPACE", "Show a space", []string{"space"},
		func(ctx context.Context, c *client.Client, args []string) error {
			found, err := c.Space(ctx, args[0])
			if err != nil {
				return err
			}
			return a.showSpace(found)
		}), `Shows a space, which is named by its slug or id.`, `  toolcrib space show launch`)
}

func (a *app) spaceUpdateCommand() *cobra.Command {
	var name, description string
	var hops int
	var archived bool
	cmd := cli.Describe(&cobra.Command{
		Use: "update SPACE", Short: "Change or archive a space", Args: cli.Operands("space"),
		ValidArgsFunction: a.completeSpaces,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			var in v1.SpaceChange
			changed := cmd.Flags().Changed
			if changed("name") {
				in.Name = &name
			}
			if changed("description") {
				in.Description = &description
			}
			if changed("max-hops") {
				in.MaxHops = &hops
			}
			if changed("archived") {
				in.Archived = &archived
			}
			found, err := c.ChangeSpace(cmd.Context(), args[0], in)
			if err != nil {
				return err
			}
			return a.showSpace(found)
		}),
	}, `Changes what the flags name. Nothing is posted to an archived space, and no agent
enters it; its messages stay.`,
		`  toolcrib space update launch --max-hops 0
  toolcrib space update launch --archived`)
	flags := cmd.Flags()
	flags.StringVar(&name, "name", "", "what people call it")
	flags.StringVar(&description, "description", "", "what it is for; agents read it")
	flags.IntVar(&hops, "max-hops", 0, "how many messages of agents in a row wake other agents")
	flags.BoolVar(&archived, "archived", true, "whether it is archived")
	return cmd
}

func (a *app) spaceDeleteCommand() *cobra.Command {
	return cli.Describe(a.spaceAt("delete SPACE", "Delete a space, with its messages", []string{"space"},
		func(ctx context.Context, c *client.Client, args []string) error {
			gone, err := c.DeleteSpace(ctx, args[0])
			if err != nil {
				return err
			}
			return a.Printer.ShowLine(gone, "deleted %s", gone.Slug)
		}), `Deletes a space with all that was said in it. To keep that, archive it:
toolcrib space update SPACE --archived`, `  toolcrib space delete launch`)
}

func (a *app) spaceMembersCommand() *cobra.Command {
	return cli.Describe(a.spaceAt("members SPACE", "List the members of a space", []string{"space"},
		func(ctx context.Context, c *client.Client, args []string) error {
			page, err := c.SpaceMembers(ctx, args[0])
			if err != nil {
				return err
			}
			return showPage(a, false, page, listing[v1.SpaceMember]{
				header: "MEMBER ADDED BY~",
				row: func(m v1.SpaceMember) []string {
					return []string{m.Member, terminal.Since(m.CreatedAt), m.AddedBy}
				},
				empty: "no members: add one with toolcrib space add SPACE MEMBER",
			})
		}), `Lists the agents and people of a space.`, `  toolcrib space members launch`)
}

func (a *app) spaceAddCommand() *cobra.Command {
	return cli.Describe(a.spaceAt("add SPACE MEMBER", "Add a member to a space", []string{"space", "member"},
		func(ctx context.Context, c *client.Client, args []string) error {
			added, err := c.AddSpaceMember(ctx, args[0], args[1])
			if err != nil {
				return err
			}
			return a.Printer.ShowLine(added, "added %s", added.Member)
		}), `Adds an agent or a person. An agent needs spaces in its definition to enter.`,
		`  toolcrib space add launch agent:supportDesk
  toolcrib space add launch person:key:01987a3c-0000-7000-8000-000000000004`)
}

func (a *app) spaceRemoveCommand() *cobra.Command {
	return cli.Describe(a.spaceAt("remove SPACE MEMBER", "Remove a member from a space", []string{"space", "member"},
		func(ctx context.Context, c *client.Client, args []string) error {
			removed, err := c.RemoveSpaceMember(ctx, args[0], args[1])
			if err != nil {
				return err
			}
			return a.Printer.ShowLine(removed, "removed %s", removed.Member)
		}), `Removes an agent or a person. Runs of the agent leave the space, and nothing wakes it
there any more.`, `  toolcrib space remove launch agent:supportDesk`)
}

// completeSpaces completes slugs of spaces.
func (a *app) completeSpaces(
	cmd *cobra.Command, args []string, typed string,
) ([]string, cobra.ShellCompDirective) {
	return cli.FirstOnly(func(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return a.ask(cmd, typed, func(ctx context.Context, c *client.Client) ([]string, error) {
			page, err := c.ListSpaces(ctx, client.SpaceQuery{Page: client.Page{Limit: completionNames}})
			return each(page.Items, func(s v1.Space) string { return s.Slug + "\t" + terminal.Shorten(s.Name, 60) }), err
		})
	})(cmd, args, typed)
}
