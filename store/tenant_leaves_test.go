package store_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/audit"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
)

// perTenant are the tables with rows of tenants, and records of erasures.
const perTenant = tables + ` and not c.relispartition and c.relname <> 'tenant_erasures'
	and exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped)`

// seeded is a database in which two tenants have the same rows in every table, but for their ids.
type seeded struct {
	platform       *store.Platform
	app            *store.Store
	conn           *pgx.Conn
	leaving, other tool.TenantID
	tables         []string
}

func seedTenants(t *testing.T) *seeded {
	t.Helper()
	address := pastDatabase(t, currentSteps(t))
	_, err := store.Migrate(t.Context(), address)
	require.NoError(t, err)
	s := &seeded{conn: storetest.Connect(t, address)}
	s.platform, err = store.OpenPlatform(t.Context(), address, store.Options{MaxConns: 1})
	require.NoError(t, err)
	t.Cleanup(s.platform.Close)
	s.app, err = store.Open(t.Context(), address, store.Options{SetRole: store.AppRole, SealInterval: -1})
	require.NoError(t, err)
	t.Cleanup(s.app.Close)
	require.NoError(t, s.conn.QueryRow(t.Context(), "select id::text from tenants").Scan(&s.leaving))
	_, err = s.app.TenantEvents(t.Context(), s.leaving, 0, 100) // It numbers them.
	require.NoError(t, err)

	s.exec(t, `insert into mcp_sessions (tenant_id, run_id, server_key, session_id, protocol, handshake, server, expires_at)
		select tenant_id, id, repeat('0', 64), 's', '', '{}', '{}', now() from runs limit 1`) // An upgrade discards the others.
	s.exec(t, `update webhooks set secret = decode(repeat('a1', 32), 'hex'), old_secret = decode(repeat('a2', 32), 'hex'),
		old_secret_until = now(), old_secret_key_version = 1`)
	s.exec(t, `update mcp_servers set headers = '{"x-tenant":"a header of a server"}',
		auth = '{"type":"bearer","credentials_ref":"a reference of a server"}'`)
	s.tables = texts(t, s.conn, "select relname::text from "+perTenant+" order by 1")
	require.Greater(t, len(s.tables), 60)
	s.other = tool.TenantID(strings.Replace(string(s.leaving), "01a205c9", "02a205c9", 1))
	s.exec(t, "set session_replication_role = replica")
	s.exec(t, "insert into tenants (id, slug, name) values ($1, 'other', 'other')", string(s.other))
	for _, table := range s.tables {
		columns := texts(t, s.conn, `select quote_ident(attname) from pg_attribute where attrelid = $1::regclass and attnum > 0
			and not attisdropped and attgenerated = '' and attidentity = ''`, table)
		list := strings.Join(columns, ", ")
		values := make([]string, len(columns))
		for i, c := range columns { // The null of JSON is read as no value.
			values[i] = fmt.Sprintf("coalesce(r.%[1]s, t.%[1]s)", c)
		}
		s.exec(t, fmt.Sprintf(`insert into %[1]s (%[2]s) select %[3]s from %[1]s t,
			json_populate_record(null::%[1]s, replace(row_to_json(t)::text, '01a205c9-', '02a205c9-')::json) as r
			where t.tenant_id = $1`, table, list, strings.Join(values, ", ")), string(s.leaving))
		require.NotZero(t, s.count(t, table, s.leaving), "%s has a row: add one to testdata/rows", table)
		require.Equal(t, s.count(t, table, s.leaving), s.count(t, table, s.other), table)
	}
	s.exec(t, "set session_replication_role = origin")
	require.NoError(t, s.app.SealAudit(t.Context()))
	return s
}

func (s *seeded) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	_, err := s.conn.Exec(t.Context(), sql, args...)
	require.NoError(t, err)
}

func (s *seeded) count(t *testing.T, table string, tenant tool.TenantID) (n int) {
	t.Helper()
	require.NoError(t, s.conn.QueryRow(t.Context(), "select count(*) from "+table+" where tenant_id = $1",
		string(tenant)).Scan(&n))
	return n
}

// rows returns the rows of a tenant in every table.
func (s *seeded) rows(t *testing.T, tenant tool.TenantID) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, table := range s.tables {
		all[table] = texts(t, s.conn, "select row_to_json(t)::text from "+table+" t where tenant_id = $1 order by 1",
			string(tenant))
	}
	return all
}

func (s *seeded) suspend(t *testing.T) {
	t.Helper()
	_, err := s.platform.SetTenantStatus(t.Context(), s.leaving, store.TenantSuspended)
	require.NoError(t, err)
}

// A new table is exported, or a reason is given why not; a column of bytes is withheld or is a
// file of its own.
func TestEveryTenantTableIsExportedOrSaysWhyNot(t *testing.T) {
	t.Parallel()

	conn := storetest.NewDatabase(t).Conn(t)
	all := texts(t, conn, "select relname::text from "+perTenant)
	exported, not := store.TablesOfExports()
	for _, table := range all {
		_, is := exported[table]
		require.NotEqual(t, is, not[table] != "",
			"%s: add it to exportedTables in tenantexport.go, or to notExported with a reason", table)
	}
	require.Subset(t, all, slices.Collect(maps.Keys(exported)), "no table is listed that does not exist")
	require.Subset(t, all, slices.Collect(maps.Keys(not)), "no table is listed that does not exist")
	require.Equal(t, []string{"chunk_terms"}, texts(t, conn, "select relname::text from "+perTenant+`
		and not exists (select from pg_index i where i.indrelid = c.oid and i.indisprimary)`),
		"rows without a key are erased with those that they reference alone")
	for _, column := range texts(t, conn, `select c.relname || '.' || a.attname from `+strings.Replace(perTenant, "where",
		"join pg_attribute a on a.attrelid = c.oid and a.atttypid = 'bytea'::regtype where", 1)) {
		table, name, _ := strings.Cut(column, ".")
		if column == "chunk_embeddings.embedding" || not[table] != "" {
			continue
		}
		require.Contains(t, exported[table], name, "%s: withhold it as a secret, or export it as a content", column)
	}
}

// archive keeps an export in memory.
type archive struct {
	files map[string]*bytes.Buffer
	left  map[string]string
}

func newArchive() *archive { return &archive{map[string]*bytes.Buffer{}, map[string]string{}} }

type closable struct{ io.Writer }

func (closable) Close() error { return nil }

func (a *archive) Create(path string) (io.WriteCloser, error) {
	if a.files[path] != nil {
		return nil, fmt.Errorf("%s is there already", path)
	}
	a.files[path] = &bytes.Buffer{}
	return closable{a.files[path]}, nil
}

func (a *archive) Left(what, why string) { a.left[what] = why }

func entryLine(e audit.Entry) ([]byte, error) { return json.Marshal(e) }

// An export has every row of every exported table, no secret, and nothing of another tenant.
func TestAnExportIsWhole(t *testing.T) {
	t.Parallel()

	s := seedTenants(t)
	to := newArchive()
	out, err := s.platform.ExportTenant(t.Context(), s.leaving, to, entryLine)
	require.NoError(t, err)
	require.Equal(t, s.leaving, out.Tenant.ID)
	require.Equal(t, len(currentSteps(t)), out.Schema)
	exported, not := store.TablesOfExports()
	for table := range exported {
		path := "tables/" + table + ".ndjson"
		if table == "audit_log" {
			path = "audit.jsonl"
		}
		require.Contains(t, to.files, path)
		require.Equal(t, s.count(t, table, s.leaving), bytes.Count(to.files[path].Bytes(), []byte("\n")), table)
	}
	for table, why := range not {
		require.Equal(t, why, to.left[table])
		require.NotContains(t, to.files, "tables/"+table+".ndjson")
	}
	secrets := texts(t, s.conn, `select encode(secret_hash, 'hex') from api_keys union all
		select encode(ciphertext, 'hex') from credentials union all select encode(wrapped, 'hex') from tenant_keys union all
		select encode(secret, 'hex') from webhooks union all
		select encode(old_secret, 'hex') from webhooks union all
		select encode(submit_key, 'hex') from pending_tool_calls union all
		select encode(secret_hash, 'hex') from published_views union all
		select encode(secret_hash, 'hex') from tool_sessions union all
		select headers ->> 'x-tenant' from mcp_servers union all select auth ->> 'credentials_ref' from mcp_servers`)
	secrets = slices.DeleteFunc(secrets, func(s string) bool { return len(s) < 16 })
	require.Subset(t, secrets, []string{
		strings.Repeat("a1", 32), strings.Repeat("a2", 32), "a header of a server", "a reference of a server",
	})
	for path, content := range to.files {
		require.NotContains(t, content.String(), "02a205c9-", "%s has nothing of the other tenant", path)
		for _, secret := range secrets {
			require.NotContains(t, content.String(), secret, "%s has no secret", path)
		}
	}
	file := texts(t, s.conn, "select id::text from files where tenant_id = $1 and location = 'postgres'",
		string(s.leaving))[0]
	require.Equal(t, "data", to.files["contents/files/"+file].String())

	_, err = s.platform.ExportTenant(t.Context(), tool.TenantID(storetest.NewID(t)), newArchive(), entryLine)
	storetest.RequireKind(t, tool.NotFound, err)
	s.exec(t, "create table unheard_of (tenant_id uuid primary key)")
	_, err = s.platform.ExportTenant(t.Context(), s.leaving, newArchive(), entryLine)
	storetest.RequireKind(t, tool.Conflict, err)
	require.ErrorContains(t, err, "unheard_of")
}

// The audit log of an export verifies without the database, up to the head that the export has.
func TestAnExportedAuditLogVerifies(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	f := storetest.NewFixture(t, d)
	d.Key(t, f.Tenant)
	var v audit.Verifier
	out, err := d.Platform.ExportTenant(t.Context(), f.Tenant, newArchive(), func(e audit.Entry) ([]byte, error) {
		require.Nil(t, v.Next(e))
		return []byte("{}"), nil
	})
	require.NoError(t, err)
	require.Greater(t, v.Head.Seq, int64(2))
	require.Nil(t, v.End(out.Audit))
}

// Of an erased tenant no row is left in any table; another tenant's are as they were.
func TestAnErasureLeavesNothing(t *testing.T) {
	t.Parallel()

	s := seedTenants(t)
	before := s.rows(t, s.other)
	s.suspend(t)
	head := texts(t, s.conn, "select seq || ':' || hash from audit_heads where tenant_id = $1", string(s.leaving))
	began, err := s.platform.BeginErasure(audit.With(t.Context(), actor), s.leaving)
	require.NoError(t, err)
	require.Equal(t, actor.Subject, began.RequestedBy)
	for _, table := range s.tables {
		require.NotZero(t, began.Counts[table], table)
	}
	require.NoError(t, s.app.SealAudit(t.Context()))
	recorded := []string{fmt.Sprintf("%d:%s", began.AuditSeq, began.AuditHash)}
	require.NotEqual(t, head, recorded, "the suspension is sealed too")
	require.NoError(t, s.platform.DestroyTenantKeys(t.Context(), s.leaving))
	for _, table := range []string{"tenant_keys", "credentials", "api_keys"} {
		require.Zero(t, s.count(t, table, s.leaving), table)
	}
	var deleted int64
	how := store.EraseRows{Batch: 2, Deleted: func(n store.TableRows) { deleted += n.Rows }}
	how.Only = store.FileTables()
	require.NoError(t, s.platform.EraseRows(t.Context(), s.leaving, how))
	require.Zero(t, s.count(t, "files", s.leaving))
	require.NotZero(t, s.count(t, "runs", s.leaving))
	left, err := s.platform.LeftContents(t.Context(), s.leaving, 10)
	require.NoError(t, err)
	require.Len(t, left, 1)
	require.Equal(t, "elsewhere", left[0].Location)
	_, err = s.platform.FinishErasure(t.Context(), s.leaving)
	storetest.RequireKind(t, tool.Conflict, err)
	counted, err := s.platform.CountContents(t.Context(), s.leaving)
	require.NoError(t, err)
	require.Equal(t, map[string]int64{"elsewhere": 1}, counted)
	how.Only = nil
	require.NoError(t, s.platform.EraseRows(t.Context(), s.leaving, how))
	require.Greater(t, deleted, int64(len(s.tables)-5))
	require.NoError(t, s.platform.NoteErased(t.Context(), s.leaving, store.Erased{Workflows: 3, Objects: 1}))
	done, err := s.platform.FinishErasure(t.Context(), s.leaving)
	require.NoError(t, err)
	require.NotNil(t, done.FinishedAt)
	require.Equal(t, int64(3), done.Workflows)

	for _, table := range s.tables {
		require.Zero(t, s.count(t, table, s.leaving), table)
	}
	counts, err := s.platform.TenantRows(t.Context(), s.leaving)
	require.NoError(t, err)
	require.Empty(t, counts)
	after := s.rows(t, s.other)
	for _, table := range s.tables {
		require.Equal(t, before[table], after[table], table)
	}

	// The tombstone stays, and the id and the slug are not used again.
	found, err := s.platform.FindErasure(t.Context(), began.Slug)
	require.NoError(t, err)
	require.Equal(t, done, found)
	for _, again := range []store.Tenant{{ID: s.leaving, Slug: "another"}, {Slug: began.Slug}} {
		_, err = s.platform.CreateTenant(t.Context(), again)
		storetest.RequireKind(t, tool.Conflict, err)
	}
	require.Equal(t, []string{"tenant.erased", "tenant.erasure_started"}, texts(t, s.conn, `select action from audit_log
		where tenant_id is null and object_id = $1 and action like 'tenant.eras%' order by 1`, string(s.leaving)))
	for _, sql := range []string{
		"delete from tenant_erasures", "truncate tenant_erasures", "update tenant_erasures set workflows = 0",
		"update tenant_erasures set slug = 'x'",
	} {
		requireImmutable(t, s.conn, sql)
	}
	again, err := s.platform.BeginErasure(t.Context(), s.leaving)
	require.NoError(t, err, "what is erased may be erased again")
	require.Equal(t, done, again)
	require.NoError(t, s.platform.EraseRows(t.Context(), s.leaving, store.EraseRows{}))
}

func requireImmutable(t *testing.T, conn *pgx.Conn, sql string, args ...any) {
	t.Helper()
	_, err := conn.Exec(t.Context(), sql, args...)
	var pgErr *pgconn.PgError
	require.ErrorAs(t, err, &pgErr, sql)
	require.Equal(t, "23001", pgErr.Code, sql)
}

// An erasure that was interrupted anywhere finishes when it is repeated.
func TestAnErasureIsResumed(t *testing.T) {
	t.Parallel()

	s := seedTenants(t)
	s.suspend(t)
	_, err := s.platform.BeginErasure(t.Context(), s.leaving)
	require.NoError(t, err)
	require.NoError(t, s.platform.DestroyTenantKeys(t.Context(), s.leaving))
	for tries := 0; ; tries++ {
		ctx, stop := context.WithCancel(t.Context())
		transactions := 0
		err := s.platform.EraseRows(ctx, s.leaving, store.EraseRows{Batch: 1, Deleted: func(store.TableRows) {
			if transactions++; transactions == 20 {
				stop()
			}
		}})
		stop()
		if err == nil {
			require.Greater(t, tries, 2, "it was interrupted")
			break
		}
		require.ErrorIs(t, err, context.Canceled)
	}
	_, err = s.platform.FinishErasure(t.Context(), s.leaving)
	require.NoError(t, err)
}

// Nothing is erased of a tenant that is in use, nor in another way than by an erasure.
func TestAnErasureIsNarrow(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	f := storetest.NewFixture(t, d)
	require.NoError(t, f.Store.SealAudit(t.Context()))
	_, err := d.Platform.BeginErasure(t.Context(), f.Tenant)
	storetest.RequireKind(t, tool.Conflict, err)
	require.ErrorContains(t, err, "suspend it first")
	_, err = d.Platform.BeginErasure(t.Context(), tool.TenantID(storetest.NewID(t)))
	storetest.RequireKind(t, tool.NotFound, err)
	require.Error(t, d.Platform.DestroyTenantKeys(t.Context(), f.Tenant))
	storetest.RequireKind(t, tool.NotFound, d.Platform.EraseRows(t.Context(), f.Tenant, store.EraseRows{}))

	conn := d.Conn(t)
	for _, table := range []string{"audit_log", "audit_heads"} {
		requireImmutable(t, conn, "delete from "+table+" where tenant_id = $1", string(f.Tenant))
	}
	_, err = d.Platform.SetTenantStatus(t.Context(), f.Tenant, store.TenantSuspended)
	require.NoError(t, err)
	_, err = d.Platform.BeginErasure(t.Context(), f.Tenant)
	require.NoError(t, err)
	// Its keys are not destroyed yet.
	requireImmutable(t, conn, "delete from audit_log where tenant_id = $1", string(f.Tenant))
	_, err = d.Platform.SetTenantStatus(t.Context(), f.Tenant, store.TenantActive)
	storetest.RequireKind(t, tool.Conflict, err)
	requireImmutable(t, conn, "delete from audit_log where tenant_id is null")

	// The owner deletes rows of the tenant that its transaction names, and no tool of another.
	bystander := storetest.NewFixture(t, d)
	tx, err := conn.Begin(t.Context())
	require.NoError(t, err)
	for _, sql := range []string{
		"set local role " + store.OwnerRole, fmt.Sprintf("set local app.tenant_id = '%s'", bystander.Tenant),
	} {
		_, err = tx.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	tag, err := tx.Exec(t.Context(), "delete from tool_versions")
	require.NoError(t, err)
	require.Zero(t, tag.RowsAffected())
	require.NoError(t, tx.Rollback(t.Context()))

	// What is written meanwhile is not audited, and does not outlive the erasure.
	before := texts(t, conn, "select count(*)::text from audit_log where tenant_id = $1", string(f.Tenant))
	d.Key(t, f.Tenant)
	require.Equal(t, before, texts(t, conn, "select count(*)::text from audit_log where tenant_id = $1", string(f.Tenant)))
	require.NoError(t, d.Platform.DestroyTenantKeys(t.Context(), f.Tenant))
	require.NoError(t, d.Platform.EraseRows(t.Context(), f.Tenant, store.EraseRows{Pause: time.Millisecond}))
	_, err = d.Platform.FinishErasure(t.Context(), f.Tenant)
	require.NoError(t, err)
}
