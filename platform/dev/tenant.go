package dev

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// ensureKey finds the tenant, its key, the key that approves calls and that of browsers, and creates them
// if they are missing.
func (d *Dev) ensureKey(ctx context.Context) error {
	platform, err := store.OpenPlatform(ctx, d.stack.DatabaseURL(), store.Options{Logger: d.cfg.Logger, MaxConns: 1})
	if err != nil {
		return fmt.Errorf("opening the database: %w", err)
	}
	defer platform.Close()
	d.tenant, err = platform.FindTenant(ctx, d.cfg.Tenant)
	if err != nil && tool.KindOf(err) == tool.NotFound {
		d.tenant, err = platform.CreateTenant(ctx, store.Tenant{Slug: d.cfg.Tenant})
	}
	if err != nil {
		return fmt.Errorf("making the tenant %q: %w", d.cfg.Tenant, err)
	}
	if d.key, err = d.ensure(ctx, KeyFile, "dev", "*"); err != nil {
		return err
	}
	d.approverKey, err = d.ensure(
		ctx, ApproverKeyFile, "approver", wait.DecidePermission, "approvals.read", "runs.read", "tools.read",
	)
	if err != nil {
		return err
	}
	d.consoleKey, err = d.ensure(ctx, ConsoleKeyFile, "console", "*")
	return err
}

// ensure returns the key that a file holds, and makes it if there is none.
func (d *Dev) ensure(ctx context.Context, file, name string, permissions ...string) (string, error) {
	if key := d.storedKey(ctx, file); key != "" {
		return key, nil
	}
	_, key, err := d.store.CreateKey(ctx, store.Key{
		Tenant: d.tenant.ID, Name: name, Permissions: permissions, CreatedBy: "toolcrib dev",
	})
	if err != nil {
		return "", fmt.Errorf("making the key %q: %w", name, err)
	}
	return key, d.write(file, key)
}

// storedKey returns the key of an earlier start, if it still opens the tenant.
func (d *Dev) storedKey(ctx context.Context, file string) string {
	raw, err := os.ReadFile(filepath.Join(d.stack.DataDir(), file))
	if err != nil {
		return ""
	}
	text := strings.TrimSpace(string(raw))
	key, err := d.store.Authenticate(ctx, text)
	if err != nil || key.Tenant != d.tenant.ID {
		return ""
	}
	return text
}
