package store_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/registry/registrytest"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
)

func TestRegistryContract(t *testing.T) {
	t.Parallel()

	registrytest.Run(t, func(t *testing.T) registrytest.Fixture {
		t.Helper()
		d := storetest.NewDatabase(t)
		add := func(slug string) tool.TenantID {
			tenant, err := d.Platform.CreateTenant(t.Context(), store.Tenant{Slug: slug})
			require.NoError(t, err)
			return tenant.ID
		}
		return registrytest.Fixture{
			Store: d.Store, Platform: d.Platform.Registry(), Source: d.Store,
			Tenant: add("acme"), Slug: "acme", Other: add("other"),
		}
	})
}

// audience is a database with a global tool for one tenant of two.
type audience struct {
	*storetest.Database
	guest, stranger tool.TenantID
	global          tool.Tool
	version         tool.Version
}

func newAudience(t *testing.T) audience {
	t.Helper()
	a := audience{Database: storetest.NewDatabase(t)}
	a.guest, a.stranger = a.Tenant(t), a.Tenant(t)
	guest, err := a.Store.FindTenant(t.Context(), a.guest)
	require.NoError(t, err)
	head, err := a.Platform.Registry().CreateTool(t.Context(), tool.Tool{
		Slug: "screenRisk", Definition: tool.Definition{Name: "Screen", Implementation: tool.Internal},
		Policy: tool.Policy{TenantSlugs: []string{"planted-customer", guest.Slug}}, Status: tool.Draft, Active: true,
		Version: "1.0.0",
	})
	require.NoError(t, err)
	on := true
	_, err = a.Platform.Registry().SetOverride(t.Context(), tool.Override{ToolID: head.ID, Enabled: &on})
	require.NoError(t, err)
	head.Status = tool.Published
	a.global, a.version, err = a.Platform.Registry().AddVersion(t.Context(), head, storetest.VersionOf(t, head, "1.0.0"))
	require.NoError(t, err)
	return a
}

// What is for other tenants is refused in the words for what does not exist.
func TestToolsForOthersDoNotExist(t *testing.T) {
	t.Parallel()

	a := newAudience(t)
	ctx, digest := t.Context(), a.version.Digest
	missing := tool.Tool{ID: storetest.NewID(t), Slug: "screenRisk"}
	for name, ask := range map[string]func(head tool.Tool) error{
		"FindTool": func(head tool.Tool) error {
			_, err := a.Store.FindTool(ctx, a.stranger, tool.Ref{ID: head.ID})
			return err
		},
		"ListVersions": func(head tool.Tool) error { _, err := a.Store.ListVersions(ctx, a.stranger, head.ID); return err },
		"Version": func(head tool.Tool) error {
			_, err := a.Store.Version(ctx, a.stranger, head.ID, digest)
			return err
		},
		"UpdateTool": func(head tool.Tool) error {
			head.Tenant = a.stranger
			_, err := a.Store.UpdateTool(ctx, head)
			return err
		},
		"AddVersion": func(head tool.Tool) error {
			head.Tenant = a.stranger
			_, _, err := a.Store.AddVersion(ctx, head, storetest.VersionOf(t, head, "2.0.0"))
			return err
		},
		"Admit": func(head tool.Tool) error {
			_, err := a.Store.Admit(ctx, ledger.AdmitRequest{Entry: callOf(t, a.stranger, head, digest)})
			return err
		},
	} {
		storetest.RequireKind(t, tool.NotFound, ask(a.global))
		want := strings.ReplaceAll(tool.AsError(ask(missing)).Msg, missing.ID, a.global.ID)
		require.Equal(t, want, tool.AsError(ask(a.global)).Msg, name)
	}
	_, err := a.Store.CreateTool(ctx, tool.Tool{
		Tenant: a.stranger, Slug: "screenRisk", Status: tool.Draft, Version: "1.0.0",
	})
	require.NoError(t, err)
	c, err := a.Store.Entries(ctx, a.stranger, tool.Ref{Slug: "screenRisk"})
	require.NoError(t, err)
	require.Len(t, c.Entries, 1, "it shadows nothing")
}

// Those whom a tool is for resolve and call it, and learn of no one else.
func TestToolsForSomeTellOfNobody(t *testing.T) {
	t.Parallel()

	a := newAudience(t)
	request := resolver.Request{Principal: tool.Principal{Tenant: a.guest, Subject: "user:ada"}, Mode: tool.Production}
	for _, ref := range []tool.Ref{{Slug: a.global.Slug}, {ID: a.global.ID}} {
		c, err := a.Store.Entries(t.Context(), a.guest, ref)
		require.NoError(t, err)
		request.Ref = ref
		selection := resolver.Select(c, request)
		require.Nil(t, selection.Err)
		require.Equal(t, a.global.ID, selection.Tool.ID)
		require.Empty(t, selection.Tool.TenantSlugs)
		require.True(t, selection.Tool.Serves(c.TenantSlug))
		_, err = a.Store.Version(t.Context(), a.guest, selection.Tool.ID, selection.Version.Digest)
		require.NoError(t, err)
	}
	ticket, err := a.Store.Admit(t.Context(), ledger.AdmitRequest{Entry: callOf(t, a.guest, a.global, a.version.Digest)})
	require.NoError(t, err)
	require.Empty(t, ticket.Policy.TenantSlugs)
	stored, err := a.Platform.Registry().FindTool(t.Context(), "", tool.Ref{ID: a.global.ID})
	require.NoError(t, err)
	require.Equal(t, a.global, stored, "the platform sees it all")

	a.global.TenantSlugs = []string{"planted-customer"}
	_, err = a.Platform.Registry().UpdateTool(t.Context(), a.global)
	require.NoError(t, err)
	list, err := a.Store.ListTools(t.Context(), a.guest, registry.ToolQuery{})
	require.NoError(t, err)
	require.Empty(t, list, "it is for them no more")
}

func callOf(t *testing.T, tenant tool.TenantID, head tool.Tool, digest string) ledger.Entry {
	t.Helper()
	return ledger.Entry{
		CallIdentity: tool.CallIdentity{
			EffectID:     "effect-" + storetest.NewID(t),
			InvocationID: storetest.NewID(t),
			Principal:    tool.Principal{Tenant: tenant},
			CallID:       "c",
			Mode:         tool.Production,
		}, VersionIdentity: tool.VersionIdentity{ToolID: head.ID, Slug: head.Slug, Digest: digest},
	}
}

// Past every query of ours, the database itself shows a tenant only what is for it.
func TestTheDatabaseHidesToolsForOthers(t *testing.T) {
	t.Parallel()

	a := newAudience(t)
	conn := a.Conn(t)
	_, err := conn.Exec(t.Context(), "set role "+store.AppRole)
	require.NoError(t, err)
	for tenant, want := range map[tool.TenantID]int{"": 0, a.guest: 1, a.stranger: 0} {
		_, err := conn.Exec(t.Context(), "select set_config('app.tenant_id', $1, false)", tenant)
		require.NoError(t, err)
		for _, table := range []string{"tool_registry", "tool_versions"} {
			require.Len(t, texts(t, conn, "select id::text from "+table), want, "%s as %q", table, tenant)
		}
	}
}

// Among very many tools, also with plans that are made once and kept, a
// look-up reads what it is asked for and no more.
func TestResolvingScansNothing(t *testing.T) {
	t.Parallel()

	a := newAudience(t)
	storetest.Seed(t, a.Conn(t),
		`insert into tool_registry (id, tenant_id, slug, name, version, tenant_slugs)
			select gen_random_uuid(), null, 'global' || i, 'x', '1.0.0', case when i % 2 = 0 then '{}' else array['somebody'] end
			from generate_series(1, 20000) i`,
		`insert into tool_versions (id, tool_id, tenant_id, version, digest, schema_snapshot)
			select gen_random_uuid(), t.id, t.tenant_id, '1.0.0', repeat('0', 64), '{}' from tool_registry t where t.slug like 'global%'`,
		"analyze",
	)
	conn := a.Conn(t)
	for _, sql := range []string{
		"set role " + store.AppRole, "set plan_cache_mode = force_generic_plan",
		fmt.Sprintf("set app.tenant_id = '%s'", a.guest),
	} {
		_, err := conn.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	tenant, id, slug, digest := quote(string(a.guest)), quote(a.global.ID), quote(a.global.Slug), quote(a.version.Digest)
	for name, q := range map[string]struct {
		sql       string
		arguments []string
	}{
		"FindToolsBySlug":    {db.FindToolsBySlug, []string{tenant, slug}},
		"FindToolsByID":      {db.FindToolsByID, []string{tenant, id}},
		"ListVersionsBySlug": {db.ListVersionsBySlug, []string{tenant, slug}},
		"ListVersionsByID":   {db.ListVersionsByID, []string{tenant, id}},
		"FindToolVersion":    {db.FindToolVersion, []string{tenant, id, digest}},
		"ListToolVersions":   {db.ListToolVersions, []string{tenant, id}},
		"ListToolPolicies":   {db.ListToolPolicies, []string{tenant, "array[" + id + "]::uuid[]"}},
		"ListTools": {
			db.ListTools, []string{
				tenant, "false", "'m'", id, "''", "null", "''", "''", "''", "''", "false", "''", "''", "100",
			},
		},
		"SearchTools": {
			db.SearchTools, []string{
				tenant, "false", "'m'", id, "'x'", "''", "null", "''", "''", "''", "false", "''", "''", "100",
			},
		},
		"ListEntries": {db.ListEntries, []string{tenant, "'m'", "null", "''", "''", "''", "100"}},
	} {
		_, err := conn.Prepare(t.Context(), strings.ToLower(name), q.sql)
		require.NoError(t, err, name)
		plan := strings.Join(
			texts(t, conn, "explain execute "+strings.ToLower(name)+"("+strings.Join(q.arguments, ", ")+")"),
			"\n",
		)
		require.Contains(t, plan, "Index", name)
		require.NotRegexp(t, `Seq Scan on (tool_registry|tool_versions)`, plan, name)
		require.NotContains(t, plan, "hashed SubPlan", name)
	}
}

func quote(s string) string { return "'" + s + "'" }
