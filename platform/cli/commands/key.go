package commands

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/platform/api"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/store"
)

func (a *app) keyCommand() *cobra.Command {
	return cli.Describe(cli.Group("key", "Make, list and revoke API keys", a.keyCreateCommand(), a.keyListCommand(),
		a.keyRevokeCommand(), a.keyPermissionsCommand()),
		`A key belongs to one tenant and may do what its permissions say. It is printed
once, when it is made, and cannot be shown again.`,
		`  toolcrib key create ci --permission runs.write --expires 720h
  toolcrib key list`)
}

func (a *app) keyCreateCommand() *cobra.Command {
	var in v1.NewKey
	var expires time.Duration
	var tenant, database string
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Make an API key, and print it this once",
		Long: `Makes an API key for the tenant of the key in use. The first key of a tenant is
made with --tenant, on the owner's database. "toolcrib key permissions" lists what
keys can be allowed; a permission of your own is for tools that require it.`,
		Example: `  toolcrib key create ci --permission runs.write --permission runs.read --expires 720h
  toolcrib key create support-desk --toolset support
  toolcrib key create admin --tenant acme --permission '*' --database-url postgres://owner@db/toolcrib`,
		Args: cli.Operands("name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Name = args[0]
			if in.Toolset != "" && len(in.Permissions) == 0 {
				in.Permissions = []string{api.ToolsRead, api.RunsWrite}
			}
			if len(in.Permissions) == 0 {
				return cli.Usagef("a key needs at least one --permission, such as runs.write, or * for all")
			}
			if expires > 0 {
				at := time.Now().Add(expires).UTC()
				in.ExpiresAt = &at
			}
			asked := slices.Concat(in.Permissions, in.Scopes)
			if tenant != "" {
				if in.Toolset != "" {
					return cli.Usagef("the first key of a tenant is a key of the API: leave --toolset out")
				}
				a.warnOfPermissions(cmd.Context(), nil, asked)
				return a.createFirstKey(cmd.Context(), database, tenant, in)
			}
			c, err := a.Connect()
			if err != nil {
				return err
			}
			defer c.Close()
			key, err := c.CreateKey(cmd.Context(), in)
			if err != nil {
				return err
			}
			a.warnOfPermissions(cmd.Context(), c, asked)
			return a.showKey(key)
		},
	}
	cmd.Flags().StringArrayVar(&in.Permissions, "permission", nil,
		"what the key may do, such as tools.read (toolcrib key permissions); may be repeated")
	cmd.Flags().StringArrayVar(&in.Scopes, "scope", nil, "narrows the key to this permission; may be repeated")
	cmd.Flags().StringVar(&in.Toolset, "toolset", "",
		"slug of the toolset at whose address alone the key works (permissions by default: tools.read and runs.write)")
	cmd.Flags().DurationVar(&expires, "expires", 0, "how long the key is good for (default: for good)")
	cmd.Flags().StringVar(&tenant, "tenant", "", "slug or id of the tenant, to make its first key")
	cli.DatabaseFlag(cmd, &database)
	return cmd
}

func (a *app) showKey(key v1.CreatedKey) error {
	return a.Printer.ShowLine(key, "%s", terminal.Clean(key.Secret))
}

// createFirstKey makes a key without having one, on the owner's database.
func (a *app) createFirstKey(ctx context.Context, database, tenant string, in v1.NewKey) error {
	url, err := a.DatabaseURL(database)
	if err != nil {
		return err
	}
	platform, err := store.OpenPlatform(ctx, url, store.Options{Logger: a.Logger(), MaxConns: 1})
	if err != nil {
		return err
	}
	defer platform.Close()
	found, err := platform.FindTenant(ctx, tenant)
	if err != nil {
		return err
	}
	s, err := store.Open(ctx, url, store.Options{Logger: a.Logger(), SetRole: store.AppRole, MaxConns: 1})
	if err != nil {
		return err
	}
	defer s.Close()
	key, secret, err := s.CreateKey(ctx, store.Key{
		Tenant: found.ID, Name: in.Name, Permissions: in.Permissions, Scopes: in.Scopes, ExpiresAt: in.ExpiresAt,
		CreatedBy: "platform",
	})
	if err != nil {
		return err
	}
	return a.showKey(v1.CreatedKey{
		Key: v1.Key{
			ID: key.ID, Name: key.Name, Permissions: key.Permissions, Scopes: key.Scopes, CreatedBy: key.CreatedBy,
			CreatedAt: key.CreatedAt, ExpiresAt: key.ExpiresAt,
		},
		Secret: secret,
	})
}

func (a *app) keyListCommand() *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: "list", Short: "List API keys, revoked ones too", Args: cli.Operands(),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, _ []string) error {
			keys, err := c.ListKeys(cmd.Context())
			if err != nil {
				return err
			}
			return showPage(a, filtered(cmd), v1.Page[v1.Key]{Items: keys}, listing[v1.Key]{
				header: "KEY NAME PERMISSIONS~ TOOLSET STATE EXPIRES USED CREATED",
				row: func(k v1.Key) []string {
					return []string{
						k.ID, k.Name, strings.Join(k.Permissions, " "), k.Toolset, keyState(k), terminal.SinceOf(k.ExpiresAt),
						terminal.SinceOf(k.LastUsedAt),
						terminal.Since(k.CreatedAt),
					}
				},
				empty: "no keys: make one with toolcrib key create NAME --permission PERMISSION",
			})
		}),
	}, `Lists the tenant's keys: what they may do, whether they are good, and when they
were used last. The keys themselves are not kept, so they are not shown.`,
		`  toolcrib key list
  toolcrib key list --json`)
}

func keyState(k v1.Key) string {
	switch {
	case k.RevokedAt != nil:
		return "revoked"
	case k.ExpiresAt != nil && k.ExpiresAt.Before(time.Now()):
		return "expired"
	default:
		return "active"
	}
}

func (a *app) keyRevokeCommand() *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: "revoke KEY", Short: "Revoke an API key, at once and for good", Args: cli.Operands("key id"),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			key, err := c.RevokeKey(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.Printer.ShowLine(key, "revoked %s", terminal.Clean(key.Name))
		}),
	}, `Revokes a key by its id, as "toolcrib key list" shows it. Requests with it are
refused from then on; it cannot be taken back.`, `  toolcrib key revoke 01987a3c-0000-7000-8000-000000000003`)
}
