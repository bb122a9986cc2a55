package operator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/internal/vault"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

func (a *app) encryptionCommand() *cobra.Command {
	return cli.Describe(cli.Group("encryption", "Rotate the keys that credentials are encrypted by",
		a.encryptionNewKeyCommand(), a.encryptionStatusCommand(), a.encryptionRewrapCommand(), a.encryptionRotateCommand()),
		`Credentials are encrypted by a data key of their tenant, and data keys by a
key-encryption key, which is in no database: servers and workers are given it by
`+vault.FileVariable+` or `+vault.KeyVariable+`, one key a line. The first wraps, all of them open.

To replace the key-encryption key: put a new one before the old one, everywhere;
run "toolcrib encryption rewrap"; take the old one away. Calls go on meanwhile.`,
		`  toolcrib encryption new-key kek
  toolcrib encryption status --database-url postgres://owner@db/toolcrib
  toolcrib encryption rewrap
  toolcrib encryption rotate --tenant acme`)
}

func (a *app) encryptionNewKeyCommand() *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: "new-key FILE", Short: "Make a file with a new key-encryption key", Args: cli.Operands("file"),
		RunE: func(_ *cobra.Command, args []string) error {
			err := vault.WriteKeyFile(args[0])
			if errors.Is(err, os.ErrExist) {
				return &tool.Error{Kind: tool.Conflict, Op: "encryption", Err: err, Msg: args[0] +
					" exists already, and what it may hold is not replaced: name another file"}
			}
			if err != nil {
				return err
			}
			keys, err := vault.ReadKeyFile(args[0])
			if err != nil {
				return err
			}
			shape := keyFileShape{File: args[0], KEK: keys.IDs()[0]}
			return a.Printer.ShowLine(shape,
				"made %s with the key %s: keep a copy of it, and give it to servers and workers as %s",
				terminal.Clean(shape.File), shape.KEK, vault.FileVariable)
		},
	}, `Makes a file with one random key, which its owner alone may read. Without
a copy of it, the credentials that are encrypted by it are lost.`, `  toolcrib encryption new-key kek`)
}

type keyFileShape struct {
	File string `json:"file"`
	KEK  string `json:"kek"`
}

// tenantKeys is what the commands print of one tenant.
type tenantKeys struct {
	Tenant      string   `json:"tenant"`
	KEKs        []string `json:"keks,omitempty"` // That its data keys are wrapped by.
	KeyVersion  int      `json:"key_version"`    // Of its newest data key.
	Credentials int      `json:"credentials"`
	Rewrapped   int      `json:"rewrapped,omitempty"` // Data keys that this command wrapped anew.
	Resealed    int      `json:"resealed,omitempty"`  // Credentials that this command encrypted anew.
}

func (a *app) encryptionStatusCommand() *cobra.Command {
	return a.eachTenant(&cobra.Command{
		Use: "status", Short: "Show by which keys the credentials of each tenant are encrypted", Args: cli.Operands(),
		Long: `Shows for each tenant the key-encryption keys that its data keys are wrapped by,
the version of its newest data key, and how many credentials it has.`,
		Example: `  toolcrib encryption status --database-url postgres://owner@db/toolcrib`,
	}, false, func(context.Context, *vault.Vault, tool.TenantID, *tenantKeys) error { return nil })
}

func (a *app) encryptionRewrapCommand() *cobra.Command {
	return a.eachTenant(&cobra.Command{
		Use: "rewrap", Short: "Wrap all data keys by the first key-encryption key", Args: cli.Operands(),
		Long: `Wraps the data keys of all tenants by the first key of ` + vault.FileVariable + `. Afterwards
the others are needed no more. It may be stopped and run again.`,
		Example: `  toolcrib encryption rewrap --database-url postgres://owner@db/toolcrib`,
	}, true, func(ctx context.Context, v *vault.Vault, tenant tool.TenantID, out *tenantKeys) error {
		done, err := v.Rewrap(ctx, tenant)
		out.Rewrapped = done.Rewrapped
		return err
	})
}

func (a *app) encryptionRotateCommand() *cobra.Command {
	var goOn bool
	cmd := a.eachTenant(&cobra.Command{
		Use: "rotate", Short: "Give tenants new data keys, and encrypt their credentials anew", Args: cli.Operands(),
		Long: `Gives each tenant that has credentials a new data key, and encrypts them by it, a
batch at a time. Credentials can be used and changed meanwhile. What was stopped
is finished with --continue, which makes no further keys.`,
		Example: `  toolcrib encryption rotate --tenant acme --database-url postgres://owner@db/toolcrib
  toolcrib encryption rotate --continue`,
	}, true, func(ctx context.Context, v *vault.Vault, tenant tool.TenantID, out *tenantKeys) error {
		do := v.RotateDataKey
		if goOn {
			do = v.Reseal
		}
		done, err := do(ctx, tenant)
		out.Resealed = done.Resealed
		return err
	})
	cmd.Flags().BoolVar(&goOn, "continue", false, "only finish what was stopped")
	return cmd
}

// eachTenant makes a command call do for each tenant and print the state of the
// tenants' keys afterwards. It connects as the owner of the database, which may
// act as any tenant.
func (a *app) eachTenant(
	cmd *cobra.Command, needsKeys bool,
	do func(ctx context.Context, v *vault.Vault, tenant tool.TenantID, out *tenantKeys) error,
) *cobra.Command {
	var database, file, only string
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		ctx := cmd.Context()
		url, err := a.DatabaseURL(database)
		if err != nil {
			return err
		}
		keys, err := a.Keyring(file)
		if err != nil {
			return err
		}
		if needsKeys && keys == nil {
			return cli.Usagef("this command needs the key-encryption keys: give --kek-file, or set %s", vault.FileVariable)
		}
		platform, err := store.OpenPlatform(ctx, url, store.Options{Logger: a.Logger(), MaxConns: 1})
		if err != nil {
			return err
		}
		defer platform.Close()
		s, err := store.Open(ctx, url, store.Options{Logger: a.Logger(), SetRole: store.AppRole, MaxConns: 2})
		if err != nil {
			return err
		}
		defer s.Close()
		v := vault.New(s, vault.Options{Keys: keys, Logger: a.Logger()})
		defer func() { _ = v.Close() }()
		out := []tenantKeys{}
		err = forTenants(ctx, platform, only, func(t store.Tenant) error {
			shape, err := tenantStatus(ctx, v, t, do)
			if shape.KeyVersion > 0 {
				out = append(out, shape)
			}
			return err
		})
		if err != nil {
			return err
		}
		return a.Printer.Show(out, func(w io.Writer) error { return writeTenantKeys(w, out) })
	}
	cmd.Flags().StringVar(&only, "tenant", "", "slug or id of the one tenant (default: all)")
	cli.DatabaseFlag(cmd, &database)
	cli.KEKFlag(cmd, &file)
	return cmd
}

// forTenants calls do with one tenant, or with all of them.
func forTenants(ctx context.Context, platform *store.Platform, only string, do func(store.Tenant) error) error {
	if only != "" {
		t, err := platform.FindTenant(ctx, only)
		if err != nil {
			return err
		}
		return do(t)
	}
	for after := ""; ; {
		page, err := platform.ListTenants(ctx, after, tenantPage)
		if err != nil {
			return err
		}
		for _, t := range page {
			if err := do(t); err != nil {
				return fmt.Errorf("tenant %s: %w", t.Slug, err)
			}
			after = t.Slug
		}
		if len(page) < tenantPage {
			return nil
		}
	}
}

// tenantPage is how many tenants are read at once.
const tenantPage = 200

func tenantStatus(
	ctx context.Context, v *vault.Vault, t store.Tenant,
	do func(ctx context.Context, v *vault.Vault, tenant tool.TenantID, out *tenantKeys) error,
) (tenantKeys, error) {
	out := tenantKeys{Tenant: t.Slug}
	if err := do(ctx, v, t.ID, &out); err != nil {
		return out, err
	}
	keys, err := v.Status(ctx, t.ID)
	if err != nil {
		return out, err
	}
	seen := map[string]bool{}
	for _, k := range keys {
		out.KeyVersion = max(out.KeyVersion, k.Version)
		out.Credentials += k.Credentials
		if !seen[k.KEK] {
			seen[k.KEK] = true
			out.KEKs = append(out.KEKs, k.KEK)
		}
	}
	return out, nil
}

func writeTenantKeys(w io.Writer, all []tenantKeys) error {
	if len(all) == 0 {
		_, err := fmt.Fprintln(w, "no tenant has credentials")
		return err
	}
	rows := make([][]string, len(all))
	for i, t := range all {
		rows[i] = []string{
			t.Tenant, strconv.Itoa(t.Credentials), strconv.Itoa(t.KeyVersion), strings.Join(t.KEKs, " "),
			strconv.Itoa(t.Rewrapped), strconv.Itoa(t.Resealed),
		}
	}
	return terminal.Table(w, "TENANT CREDENTIALS DATA_KEY WRAPPED_BY~ REWRAPPED RESEALED", rows)
}
