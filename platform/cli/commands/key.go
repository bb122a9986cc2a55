package commands

import (
	"context"
	"slices"
	"strconv"
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
		a.keyRevokeCommand(), a.keyPermissionsCommand(), a.keyPeopleCommand()),
		`A key belongs to one tenant and may do what its permissions say. It is printed
once, when it is made, and cannot be shown again.`,
		`  toolcrib key create ci --permission runs.write --expires 720h
  toolcrib key list`)
}

func (a *app) keyCreateCommand() *cobra.Command {
	var in v1.NewKey
	var expires time.Duration
	var tenant, database string
	var limits v1.KeyLimits
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Make an API key, and print it this once",
		Long: `Makes an API key for the tenant of the key in use. The first key of a tenant is
made with --tenant, on the owner's database. "toolcrib role list" lists the roles, and
"toolcrib key permissions" what keys can be allowed one by one; a permission of your own
is for tools that require it. A key makes no key that may do or send more.`,
		Example: `  toolcrib key create ci --permission runs.write --permission runs.read --expires 720h
  toolcrib key create support-desk --toolset support
  toolcrib key create desk --role viewer --owner team-support@example.com --requests-per-second 20
  toolcrib key create admin --tenant acme --permission '*' --database-url postgres://owner@db/toolcrib`,
		Args: cli.Operands("name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Name = args[0]
			if in.Toolset != "" && len(in.Permissions)+len(in.Roles) == 0 {
				in.Permissions = []string{api.ToolsRead, api.RunsWrite}
			}
			if len(in.Permissions)+len(in.Roles) == 0 {
				return cli.Usagef("a key needs a --role, such as viewer, or a --permission, such as runs.write, or * for all")
			}
			if limits != (v1.KeyLimits{}) {
				in.Limits = &limits
			}
			if limits.Burst > 0 && limits.RequestsPerSecond == 0 {
				return cli.Usagef("--burst needs --requests-per-second beside it")
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
	cmd.Flags().StringArrayVar(&in.Roles, "role", nil,
		"role whose permissions the key has when it is used (toolcrib role list); may be repeated")
	cmd.Flags().StringVar(&in.Owner, "owner", "", "who answers for it, if a service uses the key: a person or a team")
	cmd.Flags().IntVar(&limits.RequestsPerSecond, "requests-per-second", 0,
		"how many requests the key may send (default: that of the servers)")
	cmd.Flags().IntVar(&limits.Burst, "burst", 0, "how many of them at once (default: those of a second)")
	cmd.Flags().Int64Var(&limits.BytesPerMinute, "bytes-per-minute", 0,
		"size of its requests and their answers (default: that of the servers)")
	_ = cmd.RegisterFlagCompletionFunc("role", a.roles)
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
	asked := store.Key{
		Tenant: found.ID, Name: in.Name, Permissions: in.Permissions, Scopes: in.Scopes, Roles: in.Roles, Owner: in.Owner,
		ExpiresAt: in.ExpiresAt, CreatedBy: "platform",
	}
	if in.Limits != nil {
		asked.Limits = store.Limits(*in.Limits)
	}
	key, secret, err := s.CreateKey(ctx, asked)
	if err != nil {
		return err
	}
	return a.showKey(v1.CreatedKey{
		Key: v1.Key{
			ID: key.ID, Name: key.Name, Permissions: key.Permissions, Scopes: key.Scopes, Roles: key.Roles, Owner: key.Owner,
			Limits: in.Limits, CreatedBy: key.CreatedBy, CreatedAt: key.CreatedAt, ExpiresAt: key.ExpiresAt,
		},
		Secret: secret,
	})
}

func (a *app) keyListCommand() *cobra.Command {
	var q client.KeyQuery
	var unused string
	cmd := cli.Describe(&cobra.Command{
		Use: "list", Short: "List API keys, revoked ones too", Args: cli.Operands(),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, _ []string) error {
			if unused != "" {
				var err error
				if q.UnusedFor, err = parseAge(unused); err != nil {
					return err
				}
			}
			keys, err := c.ListKeys(cmd.Context(), q)
			if err != nil {
				return err
			}
			return showPage(a, filtered(cmd), v1.Page[v1.Key]{Items: keys}, listing[v1.Key]{
				header: "KEY NAME OWNER~ ROLES~ PERMISSIONS~ TOOLSET STATE EXPIRES USED CREATED",
				row: func(k v1.Key) []string {
					return []string{
						k.ID, k.Name, k.Owner, strings.Join(k.Roles, " "), strings.Join(k.Permissions, " "), k.Toolset,
						keyState(k), terminal.SinceOf(k.ExpiresAt),
						terminal.SinceOf(k.LastUsedAt),
						terminal.Since(k.CreatedAt),
					}
				},
				empty: "no keys: make one with toolcrib key create NAME --role ROLE",
			})
		}),
	}, `Lists the tenant's keys: what they may do, whether they are good, and when they
were used last. The keys themselves are not kept, so they are not shown. With
--unused-for, only those that could be used for so long, and were not.`,
		`  toolcrib key list
  toolcrib key list --unused-for 30d --json
  toolcrib key list --owner team-support@example.com`)
	cmd.Flags().StringVar(&unused, "unused-for", "", "only keys that were not used for so long, such as 30d or 12h")
	cmd.Flags().StringVar(&q.Owner, "owner", "", "only service accounts of this owner")
	return cmd
}

// parseAge reads a time in days, such as 30d, or as durations are written.
func parseAge(text string) (time.Duration, error) {
	if number, days := strings.CutSuffix(text, "d"); days {
		n, err := strconv.Atoi(number)
		if err == nil && n > 0 && n <= maxAgeDays {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	} else if age, err := time.ParseDuration(text); err == nil && age >= time.Second && age <= maxAgeDays*24*time.Hour {
		return age, nil
	}
	return 0, cli.Usagef("%q is no time: give days, such as 30d, or a duration, such as 12h", text)
}

// maxAgeDays is the longest time that keys are asked for.
const maxAgeDays = 3650

func (a *app) keyPeopleCommand() *cobra.Command {
	var limit int
	cmd := cli.Describe(&cobra.Command{
		Use: "people", Short: "List people who used tokens of an issuer", Args: cli.Operands(),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, _ []string) error {
			if limit < 1 || limit > 200 {
				return cli.Usagef("--limit %d is out of range: expected 1 to 200", limit)
			}
			people, err := c.People(cmd.Context(), limit)
			if err != nil {
				return err
			}
			return showPage(a, filtered(cmd), v1.Page[v1.Person]{Items: people}, listing[v1.Person]{
				header: "SUBJECT ROLES~ USED FIRST",
				row: func(p v1.Person) []string {
					return []string{
						p.Subject, strings.Join(p.Roles, " "), terminal.Since(p.LastSeenAt), terminal.Since(p.FirstSeenAt),
					}
				},
				empty: "no person used a token: toolcrib serve --oidc-issuers says whose are accepted",
			})
		}),
	}, `Lists who used tokens of an issuer that the server accepts, with the roles that their
last one was mapped to; the last one first. Those who were not seen for 90 days may be
missing.`, `  toolcrib key people
  toolcrib key people --json`)
	cmd.Flags().IntVar(&limit, "limit", 50, "how many")
	return cmd
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
