package storetest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/toolembed"
	"github.com/toolcrib/toolcrib/wait"
)

// embedCases are the foreign-tenant cases of embeds.
var embedCases = map[string]func(t *testing.T, f foreign){
	"AddEmbedOrigin": func(t *testing.T, f foreign) {
		t.Helper()
		own := f.EmbedOrigin(t)
		theirs, err := f.Store.AddEmbedOrigin(t.Context(), toolembed.Origin{
			ID: NewID(t), Tenant: f.stranger, Origin: own.Origin,
		})
		require.NoError(t, err)
		require.NotEqual(t, own.ID, theirs.ID, "each tenant has its own")
	},
	"RemoveEmbedOrigin": func(t *testing.T, f foreign) {
		t.Helper()
		_, err := f.Store.RemoveEmbedOrigin(t.Context(), f.stranger, f.EmbedOrigin(t).ID)
		RequireKind(t, tool.NotFound, err)
	},
	"ListEmbedOrigins": func(t *testing.T, f foreign) {
		t.Helper()
		f.EmbedOrigin(t)
		found, err := f.Store.ListEmbedOrigins(t.Context(), f.stranger)
		require.NoError(t, err)
		require.Empty(t, found)
	},
	"FramingOrigins": func(t *testing.T, f foreign) {
		t.Helper()
		f.EmbedOrigin(t)
		theirs, err := f.Store.FindTenant(t.Context(), f.stranger)
		require.NoError(t, err)
		found, err := f.Store.FramingOrigins(t.Context(), theirs.Slug)
		require.NoError(t, err)
		require.Empty(t, found)
	},
	"CreateEmbedToken": func(t *testing.T, f foreign) {
		t.Helper()
		g, token := f.EmbedToken(t)
		g.ID, g.Tenant = NewID(t), f.stranger
		_, err := f.Store.CreateEmbedToken(t.Context(), g, token.Hash())
		RequireKind(t, tool.Denied, err)
	},
	"OpenEmbedToken": func(t *testing.T, f foreign) {
		t.Helper()
		g, token := f.EmbedToken(t)
		_, err := f.Store.OpenEmbedToken(t.Context(), f.stranger, g.ID, token.Hash(), g.Origin)
		RequireKind(t, tool.NotFound, err)
	},
}

// EmbedOrigin allows pages of an origin to frame tools of the fixture's tenant.
func (f *Fixture) EmbedOrigin(tb testing.TB) toolembed.Origin {
	tb.Helper()
	made, err := f.Store.AddEmbedOrigin(tb.Context(), toolembed.Origin{
		ID: NewID(tb), Tenant: f.Tenant, Origin: "https://shop.example.com", CreatedBy: "user:ada",
	})
	require.NoError(tb, err)
	return made
}

// EmbedToken makes a token for the fixture's tool, with an API key.
func (f *Fixture) EmbedToken(tb testing.TB) (toolembed.Grant, toolembed.Token) {
	tb.Helper()
	key, _, err := f.Store.CreateKey(tb.Context(), store.Key{
		Tenant: f.Tenant, Name: "shop", Permissions: []string{wait.DecidePermission},
	})
	require.NoError(tb, err)
	g := toolembed.Grant{
		ID: NewID(tb), Tenant: f.Tenant, Origin: f.EmbedOrigin(tb).Origin, Caller: "customer-7", KeyID: key.ID,
		VersionIdentity: tool.VersionIdentity{ToolID: f.Tool.ID, Slug: f.Tool.Slug, Version: "1.0.0", Digest: "d"},
		Permission:      "orders.read",
	}
	token, err := toolembed.NewToken(f.Tenant, g.ID)
	require.NoError(tb, err)
	g, err = f.Store.CreateEmbedToken(tb.Context(), g, token.Hash())
	require.NoError(tb, err)
	return g, token
}

func testEmbeds(t *testing.T, d *Database) {
	t.Helper()
	t.Run("Origins", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		first := f.EmbedOrigin(t)
		require.Equal(t, first, f.EmbedOrigin(t), "it is allowed already")
		add := func(origin string) error {
			_, err := f.Store.AddEmbedOrigin(t.Context(), toolembed.Origin{ID: NewID(t), Tenant: f.Tenant, Origin: origin})
			return err
		}
		RequireKind(t, tool.Invalid, add("https://*.example.com"))
		for i := 1; i < toolembed.MaxOrigins; i++ {
			require.NoError(t, add(fmt.Sprintf("https://shop-%d.example.com", i)))
		}
		RequireKind(t, tool.Conflict, add("https://one-more.example.com"))
		found, err := f.Store.ListEmbedOrigins(t.Context(), f.Tenant)
		require.NoError(t, err)
		require.Len(t, found, toolembed.MaxOrigins)

		own, err := f.Store.FindTenant(t.Context(), f.Tenant)
		require.NoError(t, err)
		framing, err := f.Store.FramingOrigins(t.Context(), own.Slug)
		require.NoError(t, err)
		require.Len(t, framing, toolembed.MaxOrigins)
		removed, err := f.Store.RemoveEmbedOrigin(t.Context(), f.Tenant, first.ID)
		require.NoError(t, err)
		require.Equal(t, first, removed)
		_, err = f.Store.RemoveEmbedOrigin(t.Context(), f.Tenant, first.ID)
		RequireKind(t, tool.NotFound, err)
		framing, err = f.Store.FramingOrigins(t.Context(), own.Slug)
		require.NoError(t, err)
		require.NotContains(t, framing, first.Origin)
		exec(t, d, "update tenants set status = 'suspended' where id = $1", f.Tenant)
		for _, slug := range []string{own.Slug, "no-such-tenant", "\x00"} {
			framing, err = f.Store.FramingOrigins(t.Context(), slug)
			require.NoError(t, err)
			require.Empty(t, framing)
		}
	})
	t.Run("WhatATokenNeeds", func(t *testing.T) {
		t.Parallel()
		for _, change := range []string{
			"update embed_tokens set expires_at = now() where id = $1",
			"delete from embed_origins where tenant_id = (select tenant_id from embed_tokens where id = $1)",
			"update api_keys set revoked_at = now() where id = (select key_id from embed_tokens where id = $1)",
			"update api_keys set expires_at = now() where id = (select key_id from embed_tokens where id = $1)",
			"update tool_registry set status = 'disabled' where id = (select tool_id from embed_tokens where id = $1)",
			"update tool_registry set quarantine = 'changed' where id = (select tool_id from embed_tokens where id = $1)",
			"update tenants set status = 'suspended' where id = (select tenant_id from embed_tokens where id = $1)",
		} {
			f := NewFixture(t, d)
			made, token := f.EmbedToken(t)
			opened, err := f.Store.OpenEmbedToken(t.Context(), f.Tenant, made.ID, token.Hash(), made.Origin)
			require.NoError(t, err)
			require.Equal(t, []string{"orders.read"}, opened.Principal().Permissions)
			require.Equal(t, "embed:"+made.KeyID+":customer-7", opened.Principal().Subject)
			require.NotEmpty(t, opened.TenantSlug)
			require.InDelta(t, toolembed.Keep.Seconds(), opened.ExpiresAt.Sub(opened.CreatedAt).Seconds(), 1)

			other, err := toolembed.NewToken(f.Tenant, made.ID)
			require.NoError(t, err)
			_, err = f.Store.OpenEmbedToken(t.Context(), f.Tenant, made.ID, other.Hash(), made.Origin)
			RequireKind(t, tool.NotFound, err)
			_, err = f.Store.OpenEmbedToken(t.Context(), f.Tenant, made.ID, token.Hash(), "https://other.example.com")
			RequireKind(t, tool.NotFound, err)
			exec(t, d, change, made.ID)
			_, err = f.Store.OpenEmbedToken(t.Context(), f.Tenant, made.ID, token.Hash(), made.Origin)
			RequireKind(t, tool.NotFound, err)
		}
	})
	t.Run("OldTokensGo", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		old, _ := f.EmbedToken(t)
		exec(t, d, "update embed_tokens set expires_at = now() - interval '1 second' where id = $1", old.ID)
		f.EmbedToken(t)
		var left int
		require.NoError(t, d.Conn(t).QueryRow(t.Context(),
			"select count(*) from embed_tokens where tenant_id = $1", f.Tenant).Scan(&left))
		require.Equal(t, 1, left)
	})
	t.Run("WhoMadeATokenDecidesNothing", func(t *testing.T) {
		t.Parallel()
		f := guarded(t, d)
		key := func(by string) string {
			made, _, err := f.Store.CreateKey(t.Context(), store.Key{
				Tenant: f.Tenant, Name: "test", Permissions: []string{wait.DecidePermission}, CreatedBy: by,
			})
			require.NoError(t, err)
			return "key:" + made.ID
		}
		backend := key("user:ada")
		own, other := key(backend), key("user:bob")
		e := f.Entry(t)
		e.Principal.Subject = toolembed.Subject(backend[len("key:"):], "customer-7")
		a := f.Ask(t, f.Request(t, e))
		n, err := f.Store.CountApprovers(t.Context(), f.Tenant, []string{wait.DecidePermission}, a.Requester)
		require.NoError(t, err)
		require.Equal(t, 1, n, "the third alone")
		for _, subject := range []string{a.Requester, backend, own, store.UserSubject + "ada"} {
			_, err := f.Store.Decide(t.Context(), f.Verdict(a, subject, true))
			RequireKind(t, tool.Denied, err)
		}
		f.decide(t, a, other, true)
	})
}
