package store_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/store/internal/sqltext"
)

// crossTenant are the queries that only the platform runs, or the maintenance
// role, across tenants. Each says so beside its name.
var crossTenant = map[string]bool{
	"FindTenantBySlug": true, "ListTenants": true,
	"ListOpenRuns": true, "ListStrandedRuns": true, "ListOpenDocuments": true, "ListOpenGenerations": true,
	"ListUnknownCalls": true, "ListRetentionRules": true,
}

// Row level security isolates tenants even where a query forgets to; this law
// keeps queries from forgetting, so that neither is alone.
func TestEveryQueryNamesItsTenant(t *testing.T) {
	t.Parallel()

	tables := tenantTables(t)
	require.Subset(t, keys(tables), []string{
		"api_keys", "tool_registry", "tool_versions", "tool_aliases", "agents", "agent_versions", "runs", "messages",
		"run_events", "run_output", "effects", "tool_invocations",
	})
	files, err := filepath.Glob("queries/*.sql")
	require.NoError(t, err)
	count := 0
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		queries := sqltext.Queries(string(raw))
		require.NotEmpty(t, queries, file)
		for _, q := range queries {
			count++
			complaints := sqltext.Unbound(q, tables)
			if crossTenant[q.Name] {
				require.Contains(t, q.Comment, "Cross-tenant:", q.Name)
				require.NotEmpty(t, complaints, "%s needs no exception", q.Name)
				continue
			}
			require.Empty(t, complaints, "%s: %s", file, q.Name)
		}
	}
	require.Greater(t, count, 40)
}

// The law catches what it is for.
func TestTheTenantLawBites(t *testing.T) {
	t.Parallel()

	tables := tenantTables(t)
	bad := map[string]string{
		"nothing":          "select * from runs where id = @id;",
		"comment only":     "select * from runs where id = @id; -- tenant_id = @tenant_id",
		"string only":      "select * from runs where id = 'tenant_id = @tenant_id';",
		"itself":           "select * from runs r where r.tenant_id = r.tenant_id and r.id = @tenant_id;",
		"literal":          "select * from runs where tenant_id = '01890000-0000-7000-8000-000000000001';",
		"other table only": "select * from runs r join messages m on m.run_id = r.id where r.tenant_id = @tenant_id;",
		"joined to nobody": "select * from runs r join messages m on m.tenant_id = r.tenant_id and r.tenant_id = " +
			"m.tenant_id;",
		"subquery": "select * from runs r where r.tenant_id = @tenant_id and exists (select from effects where " +
			"effect_id = @id);",
		"update": "update runs r set status = @status where r.id = @id;",
		"delete": "delete from messages where run_id = @run_id;",
		"insert": "insert into messages (id, run_id) values (@id, @run_id);",
		"cte": "with x as (select * from tool_registry where slug = @slug) select * from x where tenant_id = " +
			"@tenant_id and 1 = 1;",
		"tenants":           "select * from tenants where slug = @slug;",
		"set, not compared": "update runs set tenant_id = @tenant_id where id = @id;",
		"in another's cte": "with x as (select * from effects where tenant_id = @tenant_id) select * from runs where " +
			"id = @id;",
		"unqualified on two": "select * from runs r join effects e on true where r.tenant_id = @tenant_id and " +
			"e.effect_id = @id;",
	}
	for name, sql := range bad {
		q := sqltext.Queries("-- name: Bad :many\n" + sql)
		require.Len(t, q, 1)
		require.NotEmpty(t, sqltext.Unbound(q[0], tables), name)
	}
}

func tenantTables(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob("migrations/*.up.sql")
	require.NoError(t, err)
	var all strings.Builder
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		all.Write(raw)
	}
	return sqltext.TenantTables(all.String())
}

func keys(m map[string]bool) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	return out
}
