package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
)

// Pages of tools walk the index of slugs and stop when they are full, also where
// the tenant has many more tools than the planner expects.
func TestToolPagesWalkAnIndex(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	f := storetest.NewFixture(t, d)
	conn := d.Conn(t)
	storetest.Seed(t, conn,
		`insert into tenants (id, slug, name) select gen_random_uuid(), 'crowd-' || n, 'x' from generate_series(1, 400) n`,
		`insert into tool_registry (id, tenant_id, slug, name, implementation_type, status, version)
			select gen_random_uuid(), t.id, 'tool' || n, 'x', 'http', 'draft', '1.0.0'
			from tenants t, generate_series(1, case when t.slug like 'crowd-%' then 50 else 3000 end) n order by random()`,
		"vacuum analyze tool_registry",
	)
	_, err := conn.Exec(t.Context(), "set role "+store.AppRole)
	require.NoError(t, err)
	for name, q := range map[string]struct{ sql, arguments string }{
		"list_tools": {
			db.ListTools, "'%s', false, '', '00000000-0000-0000-0000-000000000000', '', null, " +
				"'tool1', 'http', '', '', false, '', '', 50",
		},
		"list_entries": {db.ListEntries, "'%s', '', null, 'http', '', 'tool1', 50"},
	} {
		_, err := conn.Prepare(t.Context(), name, q.sql)
		require.NoError(t, err)
		tx, err := conn.Begin(t.Context())
		require.NoError(t, err)
		_, err = tx.Exec(t.Context(), db.SetTenantInOrder, f.Tenant, "0", "0", "0", "")
		require.NoError(t, err)
		plan := strings.Join(texts(t, conn, "explain (analyze, costs off, timing off, summary off) execute "+name+
			"("+fmt.Sprintf(q.arguments, f.Tenant)+")"), "\n")
		require.NoError(t, tx.Rollback(t.Context()))
		require.Regexp(t, `Index Scan using tool_registry_scope_id_slug_key on tool_registry r \(actual rows=25 loops=2\)`,
			plan, "50 rows of the tenant and none that is global")
		require.NotRegexp(t, `Rows Removed by Filter: \d\d`, plan)
		require.NotContains(t, plan, "Bitmap")
	}
}

// A list of tools that may be called has exactly those that the filter of the
// resolver lets pass, whatever the database leaves out before.
func TestFiltersOfCallableToolsAgree(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	f := storetest.NewFixture(t, d)
	global := d.Platform.Registry()
	publish := func(in registry.Store, tenant tool.TenantID, slug string, change func(*tool.Tool)) {
		head := tool.Tool{Tenant: tenant, Slug: slug, Status: tool.Draft, Active: true, Version: "1.0.0"}
		head.Name, head.Implementation = "Plain", tool.HTTP
		change(&head)
		head, err := in.CreateTool(t.Context(), head)
		require.NoError(t, err, slug)
		head.Status = tool.Published
		v := storetest.VersionOf(t, head, "1.0.0")
		v.Published, v.PublishedAt = true, &head.CreatedAt
		head.PublishedAt = v.PublishedAt
		_, _, err = in.AddVersion(t.Context(), head, v)
		require.NoError(t, err, slug)
	}
	described := func(text string) func(*tool.Tool) { return func(t *tool.Tool) { t.Description = text } }
	typed := func(kind tool.Implementation, config string) func(*tool.Tool) {
		return func(t *tool.Tool) { t.Implementation, t.Config = kind, []byte(config) }
	}
	for slug, change := range map[string]func(*tool.Tool){
		"aaUmlaut": described("Löscht AUFTRÄGE"), "abKelvin": described("300 \u212Aelvin, \u0130stanbul"),
		"acSigma": described("ΟΔΟΣ"), "adPercent": described(`100% of_it \d`), "aeLines": described("one\ntwo"),
		"baConfigured": typed("", `{"type":"http"}`), "bbCapital": typed("", `{"TYPE":"mcp"}`),
		"bcMixed": typed(tool.HTTP, `{"type":"mcp"}`), "bdEscaped": typed(tool.HTTP, `{"type":"\u006dcp"}`),
		"beArtifact": typed(tool.HTTP, `{"type":"artifact"}`), "bfNeither": typed("", `{}`),
		"bgFunction": typed(tool.Function, `{}`), "caShadow": described("mine"),
	} {
		publish(f.Store, f.Tenant, slug, change)
	}
	publish(global, "", "caShadow", described("AUFTRÄGE of the platform"))
	publish(global, "", "cbBuiltin", func(t *tool.Tool) { t.System, t.Implementation = true, tool.Internal })

	r := resolver.New(f.Store, resolver.Options{})
	p := tool.Principal{Tenant: f.Tenant, Subject: "test"}
	list := func(filter resolver.Filter) (slugs []string) {
		for page := (resolver.Page{Limit: 2}); ; {
			items, next, err := r.List(t.Context(), p, tool.Production, filter, page)
			require.NoError(t, err)
			for _, item := range items {
				slugs = append(slugs, item.Tool.Slug)
			}
			if page.After = next; next == "" {
				return slugs
			}
		}
	}
	all, _, err := r.List(t.Context(), p, tool.Production, resolver.Filter{}, resolver.Page{})
	require.NoError(t, err)
	require.Greater(t, len(all), 10)
	for search, want := range map[string][]string{
		"aufträge": {"aaUmlaut"}, "AUFTR": {"aaUmlaut"}, "LÖSCHT": {"aaUmlaut"}, "kelvin": {"abKelvin"},
		"300 k": nil, "οδοσ": {"acSigma"}, "100%": {"adPercent"}, `f_it \D`: {"adPercent"}, "one\nTWO": {"aeLines"},
		"nothing": nil, "MINE": {"caShadow"}, "the platform": nil, "plain\nmine": {"caShadow"},
	} {
		require.Equal(t, want, list(resolver.Filter{Search: search}), search)
	}
	for _, kind := range []tool.Implementation{tool.HTTP, tool.MCP, tool.Function, tool.Internal, tool.Artifact} {
		require.Equal(t, slugsOf(all, func(t *tool.Tool) bool { return t.ImplementationType() == kind }),
			list(resolver.Filter{Implementation: kind}), kind)
	}
	for _, bucket := range []tool.Bucket{
		tool.BucketBuiltIn, tool.BucketMCP, tool.BucketArtifact, tool.BucketCustom,
	} {
		require.Equal(t, slugsOf(all, func(t *tool.Tool) bool { return t.Bucket() == bucket }),
			list(resolver.Filter{Bucket: bucket}), bucket)
	}
}

func slugsOf(items []resolver.Item, of func(*tool.Tool) bool) []string {
	var slugs []string
	for _, item := range slices.DeleteFunc(slices.Clone(items), func(i resolver.Item) bool { return !of(&i.Tool) }) {
		slugs = append(slugs, item.Tool.Slug)
	}
	return slugs
}
