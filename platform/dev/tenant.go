package dev

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// ensureKey finds the tenant and its key, and creates them if they are missing.
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
	if d.key = d.storedKey(ctx); d.key != "" {
		return nil
	}
	_, d.key, err = d.store.CreateKey(ctx, store.Key{
		Tenant: d.tenant.ID, Name: "dev", Permissions: []string{"*"}, CreatedBy: "toolcrib dev",
	})
	if err != nil {
		return fmt.Errorf("making the key: %w", err)
	}
	return d.write(KeyFile, d.key)
}

// storedKey returns the key of an earlier start, if it still opens the tenant.
func (d *Dev) storedKey(ctx context.Context) string {
	raw, err := os.ReadFile(d.KeyFile())
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
