package offboard

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"go.temporal.io/sdk/client"

	"github.com/toolcrib/toolcrib/audit"
	"github.com/toolcrib/toolcrib/file"
	"github.com/toolcrib/toolcrib/internal/payload"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// Config is what exports and erasures act on.
type Config struct {
	Store    *store.Platform
	Contents []file.Contents // The stores of objects, if any.
	// Temporal has the workflows; nil to export no histories. Erasures need it.
	Temporal  client.Client
	Namespace string
	Keys      *payload.Keyring // Decode the histories of exports; nil for none.
	Version   string           // Of the binary.
	Step      func(at string)  // Is given what goes on. May be nil.

	// Erasures alone: rows of a transaction, and the rest between two, see [store.EraseRows].
	Rows store.EraseRows
}

func (c *Config) step(format string, args ...any) {
	if c.Step != nil {
		c.Step(fmt.Sprintf(format, args...))
	}
}

// contents returns the store of objects at a location.
func (c *Config) contents(location string) (file.Contents, error) {
	i := slices.IndexFunc(c.Contents, func(at file.Contents) bool { return at.Location() == location })
	if i < 0 {
		return nil, &tool.Error{
			Kind: tool.Invalid, Op: "offboard",
			Msg: fmt.Sprintf("files of the tenant are in the store of objects %q: name it, with --s3-bucket", location),
		}
	}
	return c.Contents[i], nil
}

// Export writes all that a tenant has to a folder, or to a file that ends in ".tar", and returns its
// manifest. Nothing is held in memory but names. Rows are of one snapshot of the database; files in
// stores of objects and histories are read afterwards. It fails with tool.NotFound, and with
// tool.Conflict where the target exists.
func Export(ctx context.Context, cfg Config, tenant tool.TenantID, target string) (m Manifest, err error) {
	a, err := createArchive(target, func(at string) { cfg.step("%s", at) })
	if err != nil {
		return m, err
	}
	defer func() {
		if err != nil {
			a.abandon()
		}
	}()
	out, err := cfg.Store.ExportTenant(ctx, tenant, a, func(e audit.Entry) ([]byte, error) {
		return json.Marshal(v1.RecordOf(e))
	})
	if err != nil {
		return m, err
	}
	m = Manifest{
		Format: Format, Tenant: tenant, Slug: out.Tenant.Slug, Name: out.Tenant.Name, TakenAt: out.TakenAt.UTC(),
		Schema: out.Schema, Version: cfg.Version,
		Audit: AuditHead{Seq: out.Audit.Seq, Hash: out.Audit.Hash, Unsealed: out.Audit.Unsealed},
	}
	for _, content := range out.Stored {
		if err := copyContent(ctx, cfg, a, content); err != nil {
			return m, err
		}
	}
	if cfg.Temporal == nil {
		a.Left("histories", "not asked for: --histories")
	} else if m.Histories, err = exportHistories(ctx, cfg, a, out.Tenant); err != nil {
		return m, err
	}
	return m, a.finish(&m)
}

// copyContent writes a file of a store of objects. One that was deleted meanwhile is left out.
func copyContent(ctx context.Context, cfg Config, a *archive, content store.LeftContent) error {
	at, err := cfg.contents(content.Location)
	if err != nil {
		return err
	}
	name := "contents/files/" + content.ID
	from, err := at.Open(ctx, content.Ref)
	if tool.KindOf(err) == tool.NotFound {
		a.Left(name, "it was deleted while the export was written")
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading file %s: %w", content.ID, err)
	}
	defer func() { _ = from.Close() }()
	out, err := a.Create(name)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, from); err != nil {
		_ = out.Close()
		return fmt.Errorf("copying file %s: %w", content.ID, err)
	}
	return out.Close()
}
