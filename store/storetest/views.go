package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/view"
)

// viewCases are the foreign-tenant cases of published views.
var viewCases = map[string]func(t *testing.T, f foreign){
	"PublishingEnabled": func(t *testing.T, f foreign) {
		t.Helper()
		f.published(t, view.Tool)
		on, err := f.Store.PublishingEnabled(t.Context(), f.stranger)
		require.NoError(t, err)
		require.False(t, on)
		_, err = f.Store.PublishingEnabled(t.Context(), tool.TenantID(NewID(t)))
		RequireKind(t, tool.NotFound, err)
	},
	"SetPublishing": func(t *testing.T, f foreign) { // As SetTenantMasking.
		t.Helper()
		changed, err := f.Store.SetPublishing(t.Context(), f.stranger, true)
		require.NoError(t, err)
		require.Equal(t, f.stranger, changed.ID)
		on, err := f.Store.PublishingEnabled(t.Context(), f.Tenant)
		require.NoError(t, err)
		require.False(t, on)
		_, err = f.Store.SetPublishing(t.Context(), tool.TenantID(NewID(t)), true)
		RequireKind(t, tool.NotFound, err)
	},
	"CreateView": func(t *testing.T, f foreign) {
		t.Helper()
		v, _ := f.published(t, view.Tool)
		_, err := f.Store.SetPublishing(t.Context(), f.stranger, true)
		require.NoError(t, err)
		v.Tenant = f.stranger
		_, err = f.Store.CreateView(t.Context(), v, make([]byte, 32), time.Hour)
		RequireKind(t, tool.Conflict, err)
	},
	"FindView": func(t *testing.T, f foreign) {
		t.Helper()
		v, _ := f.published(t, view.Tool)
		_, err := f.Store.FindView(t.Context(), f.stranger, v.ID)
		RequireKind(t, tool.NotFound, err)
	},
	"ListViews": func(t *testing.T, f foreign) {
		t.Helper()
		f.published(t, view.Tool)
		listed, err := f.Store.ListViews(t.Context(), f.stranger, "", 10)
		require.NoError(t, err)
		require.Empty(t, listed)
	},
	"OpenView": func(t *testing.T, f foreign) {
		t.Helper()
		v, token := f.published(t, view.Tool)
		_, err := f.Store.OpenView(t.Context(), f.stranger, v.ID, token.Hash())
		RequireKind(t, tool.NotFound, err)
	},
	"RevokeView": func(t *testing.T, f foreign) {
		t.Helper()
		v, token := f.published(t, view.Tool)
		_, err := f.Store.RevokeView(t.Context(), f.stranger, v.ID, "user:eve")
		RequireKind(t, tool.NotFound, err)
		_, err = f.Store.OpenView(t.Context(), f.Tenant, v.ID, token.Hash())
		require.NoError(t, err)
	},
	"RotateView": func(t *testing.T, f foreign) {
		t.Helper()
		v, token := f.published(t, view.Tool)
		_, err := f.Store.RotateView(t.Context(), f.stranger, v.ID, "user:eve", make([]byte, 32), time.Hour)
		RequireKind(t, tool.NotFound, err)
		_, err = f.Store.OpenView(t.Context(), f.Tenant, v.ID, token.Hash())
		require.NoError(t, err)
	},
}

// aView is a view of the fixture's tool.
func (f *Fixture) aView(tb testing.TB, kind view.Kind) view.View {
	tb.Helper()
	v := view.View{
		ID: NewID(tb), Tenant: f.Tenant, Title: "What it does", Kind: kind, CreatedBy: "user:ada",
		VersionIdentity: tool.VersionIdentity{ToolID: f.Tool.ID, Slug: f.Tool.Slug, Version: "1.0.0", Digest: "d"},
	}
	if kind == view.Result {
		v.RunID = NewID(tb)
	}
	return v
}

// published switches publishing on and publishes a view, good for an hour.
func (f *Fixture) published(tb testing.TB, kind view.Kind) (view.View, view.Token) {
	tb.Helper()
	_, err := f.Store.SetPublishing(tb.Context(), f.Tenant, true)
	require.NoError(tb, err)
	v := f.aView(tb, kind)
	token, err := view.NewToken(f.Tenant, v.ID)
	require.NoError(tb, err)
	made, err := f.Store.CreateView(tb.Context(), v, token.Hash(), time.Hour)
	require.NoError(tb, err)
	return made, token
}

func testViews(t *testing.T, d *Database) {
	t.Helper()
	t.Run("Switch", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		v := f.aView(t, view.Tool)
		_, err := f.Store.CreateView(t.Context(), v, make([]byte, 32), time.Hour)
		RequireKind(t, tool.Denied, err)
		made, token := f.published(t, view.Result)
		_, err = f.Store.SetPublishing(t.Context(), f.Tenant, false)
		require.NoError(t, err)
		_, err = f.Store.RotateView(t.Context(), f.Tenant, made.ID, "user:bob", make([]byte, 32), time.Hour)
		RequireKind(t, tool.Denied, err)
		opened, err := f.Store.OpenView(t.Context(), f.Tenant, made.ID, token.Hash())
		require.NoError(t, err, "links that were shared open; they are revoked one by one")
		require.Equal(t, made.RunID, opened.RunID)
		require.Equal(t, f.Tool.ID, opened.ToolID)
	})
	t.Run("Guard", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		f.published(t, view.Tool)
		_, err := f.Store.CreateView(t.Context(), f.aView(t, view.Form), make([]byte, 32), time.Hour)
		RequireKind(t, tool.Invalid, err)
	})
	t.Run("Token", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		v, token := f.published(t, view.Tool)
		other, err := view.NewToken(f.Tenant, v.ID)
		require.NoError(t, err)
		opens := func(token view.Token) error {
			_, err := f.Store.OpenView(t.Context(), f.Tenant, token.ID, token.Hash())
			return err
		}
		require.NoError(t, opens(token))
		RequireKind(t, tool.NotFound, opens(other))
		rotated, err := f.Store.RotateView(t.Context(), f.Tenant, v.ID, "user:bob", other.Hash(), 2*time.Hour)
		require.NoError(t, err)
		require.Equal(t, 1, rotated.Rotations)
		require.Equal(t, "user:bob", rotated.ChangedBy)
		require.True(t, rotated.ExpiresAt.After(v.ExpiresAt))
		RequireKind(t, tool.NotFound, opens(token))
		require.NoError(t, opens(other))

		for range 2 {
			gone, err := f.Store.RevokeView(t.Context(), f.Tenant, v.ID, "user:bob")
			require.NoError(t, err)
			require.Equal(t, view.Revoked, gone.Status())
		}
		RequireKind(t, tool.NotFound, opens(other))
		_, err = f.Store.RotateView(t.Context(), f.Tenant, v.ID, "user:bob", token.Hash(), time.Hour)
		RequireKind(t, tool.Conflict, err)
		_, err = f.Store.RotateView(t.Context(), f.Tenant, NewID(t), "user:bob", token.Hash(), time.Hour)
		RequireKind(t, tool.NotFound, err)
	})
	t.Run("Expiry", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		v, token := f.published(t, view.Tool)
		_, err := f.Store.RotateView(t.Context(), f.Tenant, v.ID, "", token.Hash(), -time.Second)
		require.NoError(t, err)
		_, err = f.Store.OpenView(t.Context(), f.Tenant, v.ID, token.Hash())
		RequireKind(t, tool.NotFound, err)
		found, err := f.Store.FindView(t.Context(), f.Tenant, v.ID)
		require.NoError(t, err)
		require.Equal(t, view.Expired, found.Status())
		_, err = f.Store.RotateView(t.Context(), f.Tenant, v.ID, "", token.Hash(), -91*24*time.Hour)
		require.NoError(t, err)
		kept, _ := f.published(t, view.Tool)
		listed, err := f.Store.ListViews(t.Context(), f.Tenant, "", 10)
		require.NoError(t, err)
		require.Len(t, listed, 1, "old views go when others are published")
		require.Equal(t, kept.ID, listed[0].ID)
	})
	// A view that expired is live again once it is rotated: it counts as others do.
	t.Run("Most", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		v, token := f.published(t, view.Tool)
		_, err := f.Store.RotateView(t.Context(), f.Tenant, v.ID, "", token.Hash(), -time.Second)
		require.NoError(t, err)
		kept, token := f.published(t, view.Tool)
		_, err = d.Conn(t).Exec(t.Context(), `insert into published_views
			(tenant_id, id, name, description, kind, tool_id, tool, version, digest, secret_hash, expires_at, created_by,
				changed_by)
			select v.tenant_id, gen_random_uuid(), v.name, v.description, v.kind, v.tool_id, v.tool, v.version, v.digest,
				sha256(i::text::bytea), v.expires_at, v.created_by, v.changed_by
			from published_views v, generate_series(2, $2) i where v.id = $1`, kept.ID, view.MaxLive)
		require.NoError(t, err)
		_, err = f.Store.RotateView(t.Context(), f.Tenant, v.ID, "", token.Hash(), time.Hour)
		RequireKind(t, tool.Conflict, err)
		_, err = f.Store.RotateView(t.Context(), f.Tenant, kept.ID, "", token.Hash(), time.Hour)
		require.NoError(t, err, "it was live before")
	})
	// Disabling a tool stops its views, and enabling it shows them again; the tenant's own switch for its callers
	// does not.
	t.Run("DisabledTool", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		v, token := f.published(t, view.Result)
		conn := d.Conn(t)
		_, err := conn.Exec(t.Context(), "update tool_registry set status = 'disabled' where id = $1", f.Tool.ID)
		require.NoError(t, err)
		_, err = f.Store.OpenView(t.Context(), f.Tenant, v.ID, token.Hash())
		RequireKind(t, tool.NotFound, err)
		found, err := f.Store.FindView(t.Context(), f.Tenant, v.ID)
		require.NoError(t, err)
		require.Equal(t, view.Suspended, found.Status())
		_, err = f.Store.CreateView(t.Context(), f.aView(t, view.Tool), make([]byte, 32), time.Hour)
		RequireKind(t, tool.Conflict, err)
		_, err = f.Store.RotateView(t.Context(), f.Tenant, v.ID, "", make([]byte, 32), time.Hour)
		RequireKind(t, tool.Conflict, err)
		_, err = conn.Exec(t.Context(), "update tool_registry set status = 'published' where id = $1", f.Tool.ID)
		require.NoError(t, err)
		f.Switch(t, f.Tenant, f.Tool.ID, false)
		_, err = f.Store.OpenView(t.Context(), f.Tenant, v.ID, token.Hash())
		require.NoError(t, err)
		_, err = conn.Exec(t.Context(), "update tenants set status = 'suspended' where id = $1", f.Tenant)
		require.NoError(t, err)
		_, err = f.Store.OpenView(t.Context(), f.Tenant, v.ID, token.Hash())
		RequireKind(t, tool.NotFound, err)
	})
	t.Run("Pages", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		var made []string
		for range 3 {
			v, _ := f.published(t, view.Tool)
			made = append(made, v.ID)
		}
		listed, err := f.Store.ListViews(t.Context(), f.Tenant, "", 2)
		require.NoError(t, err)
		require.Len(t, listed, 2)
		require.Equal(t, made[2], listed[0].ID)
		rest, err := f.Store.ListViews(t.Context(), f.Tenant, listed[1].ID, 2)
		require.NoError(t, err)
		require.Len(t, rest, 1)
		require.Equal(t, made[0], rest[0].ID)
	})
}
