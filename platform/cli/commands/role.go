package commands

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/access"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
)

func (a *app) roleCommand() *cobra.Command {
	return cli.Describe(cli.Group("role", "Make, list and change roles", a.roleListCommand(), a.roleShowCommand(),
		a.roleCreateCommand(), a.roleChangeCommand(), a.roleDeleteCommand()),
		`A role is a set of permissions with a name. Keys have roles, and tokens of people are
mapped to them; they may do what the role permits when they are used, so that a change
of a role counts from the next request on. `+builtinRoles()+` are the same
in every tenant.`,
		`  toolcrib role list
  toolcrib role create support --permission runs.read --permission orders.read
  toolcrib key create desk --role support`)
}

// builtinRoles names the built-in roles in a sentence.
func builtinRoles() string {
	var names []string
	for _, r := range access.Builtin() {
		names = append(names, r.Name)
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

func (a *app) roleListCommand() *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: "list", Short: "List the built-in roles and the tenant's", Args: cli.Operands(),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, _ []string) error {
			roles, err := c.Roles(cmd.Context())
			if err != nil {
				return err
			}
			return showPage(a, filtered(cmd), v1.Page[v1.Role]{Items: roles}, listing[v1.Role]{
				header: "ROLE BY DESCRIPTION~ PERMISSIONS~",
				row: func(r v1.Role) []string {
					return []string{r.Name, madeBy(r), r.Description, strings.Join(r.Permissions, " ")}
				},
				empty: "no roles",
			})
		}),
	}, `Lists the roles that keys of the tenant can have, with what each permits.`,
		`  toolcrib role list
  toolcrib role list --json`)
}

func madeBy(r v1.Role) string {
	if r.Builtin {
		return "built-in"
	}
	return "tenant"
}

func (a *app) roleShowCommand() *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: "show NAME", Short: "Show a role", Args: cli.Operands("name"), ValidArgsFunction: a.completeRoles,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			r, err := c.Role(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.Printer.ShowLine(r, "%s (%s): %s", r.Name, madeBy(r), terminal.Clean(strings.Join(r.Permissions, " ")))
		}),
	}, `Shows what a role permits.`, `  toolcrib role show operator`)
}

func (a *app) roleCreateCommand() *cobra.Command {
	var in v1.NewRole
	cmd := cli.Describe(&cobra.Command{
		Use: "create NAME", Short: "Make a role of the tenant", Args: cli.Operands("name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Name = args[0]
			if len(in.Permissions) == 0 {
				return cli.Usagef("a role needs at least one --permission, such as runs.read")
			}
			if _, builtin := access.Find(in.Name); builtin {
				return cli.Usagef("%s is a built-in role: choose another name", in.Name)
			}
			c, err := a.Connect()
			if err != nil {
				return err
			}
			defer c.Close()
			r, err := c.CreateRole(cmd.Context(), in)
			if err != nil {
				return err
			}
			a.warnOfPermissions(cmd.Context(), c, in.Permissions)
			return a.Printer.ShowLine(r, "the role %s permits %s", r.Name, terminal.Clean(strings.Join(r.Permissions, " ")))
		},
	}, `Makes a role that permits nothing that the key in use may not do. "toolcrib key
permissions" lists what can be permitted; a permission of your own is for tools that
require it.`,
		`  toolcrib role create support --permission runs.read --permission orders.read --description "Answers customers"`)
	cmd.Flags().StringArrayVar(&in.Permissions, "permission", nil, "what the role permits; may be repeated")
	cmd.Flags().StringVar(&in.Description, "description", "", "what the role is for")
	_ = cmd.RegisterFlagCompletionFunc("permission", cli.Words(strings.Join(access.Names(), " ")))
	return cmd
}

func (a *app) roleChangeCommand() *cobra.Command {
	var add, remove []string
	var description string
	cmd := cli.Describe(&cobra.Command{
		Use: "change NAME", Short: "Change a role of the tenant, for all that have it", Args: cli.Operands("name"),
		ValidArgsFunction: a.completeRoles,
		RunE: func(cmd *cobra.Command, args []string) error {
			described := cmd.Flags().Changed("description")
			if len(add)+len(remove) == 0 && !described {
				return cli.Usagef("say what to change: --add, --remove or --description")
			}
			c, err := a.Connect()
			if err != nil {
				return err
			}
			defer c.Close()
			r, err := c.Role(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			var change v1.RoleChange
			if described {
				change.Description = &description
			}
			if len(add)+len(remove) > 0 {
				for _, p := range remove {
					if !slices.Contains(r.Permissions, p) {
						return cli.Usagef("the role %s does not permit %q", r.Name, p)
					}
				}
				change.Permissions = slices.DeleteFunc(slices.Clone(r.Permissions), func(p string) bool {
					return slices.Contains(remove, p)
				})
				change.Permissions = append(change.Permissions, add...)
				if len(change.Permissions) == 0 {
					return cli.Usagef("a role permits something: delete it instead")
				}
			}
			changed, err := c.ChangeRole(cmd.Context(), r.Name, change)
			if err != nil {
				return err
			}
			a.warnOfPermissions(cmd.Context(), c, add)
			return a.Printer.ShowLine(changed, "the role %s permits %s", changed.Name,
				terminal.Clean(strings.Join(changed.Permissions, " ")))
		},
	}, `Changes what a role permits, from the next request of each key that has it on. What is
added must be a permission of the key in use.`,
		`  toolcrib role change support --add approvals.read --remove orders.read`)
	cmd.Flags().StringArrayVar(&add, "add", nil, "permission to add; may be repeated")
	cmd.Flags().StringArrayVar(&remove, "remove", nil, "permission to remove; may be repeated")
	cmd.Flags().StringVar(&description, "description", "", "what the role is for")
	_ = cmd.RegisterFlagCompletionFunc("add", cli.Words(strings.Join(access.Names(), " ")))
	return cmd
}

func (a *app) roleDeleteCommand() *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: "delete NAME", Short: "Delete a role of the tenant that no key has", Args: cli.Operands("name"),
		ValidArgsFunction: a.completeRoles,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			r, err := c.DeleteRole(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.Printer.ShowLine(r, "the role %s is deleted", r.Name)
		}),
	}, `Deletes a role. It is refused while a key that can be used has the role.`,
		`  toolcrib role delete support`)
}

// completeRoles completes the name of a role.
func (a *app) completeRoles(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	return cli.FirstOnly(a.roles)(cmd, args, typed)
}

func (a *app) roles(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return a.ask(cmd, typed, func(ctx context.Context, c *client.Client) ([]string, error) {
		roles, err := c.Roles(ctx)
		return each(roles, func(r v1.Role) string { return r.Name + "\t" + terminal.Shorten(r.Description, 60) }), err
	})
}
