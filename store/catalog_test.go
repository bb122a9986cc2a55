package store_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/access"
	"github.com/toolcrib/toolcrib/budget"
	"github.com/toolcrib/toolcrib/file"
	"github.com/toolcrib/toolcrib/graph"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/profile"
	"github.com/toolcrib/toolcrib/quota"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/registry/artifact"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/mcpserver"
	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/space"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/toolset"
	"github.com/toolcrib/toolcrib/usage"
	"github.com/toolcrib/toolcrib/view"
)

// texts runs a query of one text column.
func texts(t *testing.T, conn *pgx.Conn, sql string, args ...any) []string {
	t.Helper()
	rows, err := conn.Query(t.Context(), sql, args...)
	require.NoError(t, err)
	out, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return out
}

// tables are the ordinary and partitioned tables and the partitions.
const tables = "pg_class c where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p')"

func TestRowLevelSecurityCoversEveryTable(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	_, err := d.Platform.EnsurePartitions(t.Context(), 5)
	require.NoError(t, err)
	conn := d.Conn(t)

	all := texts(t, conn, "select relname::text from "+tables)
	require.Subset(t, all, []string{"tenants", "tool_invocations", "tool_invocations_default"})
	require.Greater(t, len(all), 15, "the partitions are looked at too")
	require.ElementsMatch(t, []string{"leases", "toolcrib_migrations"},
		texts(t, conn, "select relname::text from "+tables+`
		and c.relname <> 'tenants'
		and not exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped)`),
		"every table has a tenant")
	require.Equal(t, []string{"toolcrib_migrations"}, texts(t, conn, "select relname::text from "+tables+`
		and not (c.relrowsecurity and c.relforcerowsecurity)`), "row level security is on and forced")
	require.Empty(t, texts(t, conn, "select relname::text from "+tables+` and c.relname <> 'toolcrib_migrations'
		and not exists (select from pg_policy p where p.polrelid = c.oid and p.polcmd in ('*', 'r') and p.polqual is not null)`),
		"every table says what may be read")
	require.Empty(t, texts(t, conn, `select p.polname || ' on ' || p.polrelid::regclass from pg_policy p
		where p.polcmd in ('*', 'a', 'w') and p.polwithcheck is null`), "every policy of writes says what may be written")
	require.Empty(t, texts(t, conn, `select c.relname::text from pg_class c
		where c.relnamespace = current_schema()::regnamespace and c.relkind in ('v', 'm')`), "a view would read as its owner")
	require.Empty(t, texts(t, conn, `select p.proname::text from pg_proc p
		where p.pronamespace = current_schema()::regnamespace and p.prosecdef
		  and not coalesce(p.proconfig::text like '%search_path%', false)`),
		"a function with its owner's rights fixes its search path")
}

func TestUniqueKeysIncludeTheTenant(t *testing.T) {
	t.Parallel()

	conn := storetest.NewDatabase(t).Conn(t)
	require.Equal(t, []string{"leases_pkey", "tenants_pkey", "tenants_slug_key", "toolcrib_migrations_pkey"},
		texts(t, conn, `
		select i.indexrelid::regclass::text from pg_index i join pg_class c on c.oid = i.indrelid
		where c.relnamespace = current_schema()::regnamespace and i.indisunique and c.relkind in ('r', 'p')
		  and not exists (
			select from pg_attribute a
			where a.attrelid = i.indrelid and a.attnum = any (i.indkey) and a.attname in ('tenant_id', 'scope_id'))
		order by 1`))
	require.Empty(t, texts(t, conn, `
		select f.conrelid::regclass || ': ' || f.conname from pg_constraint f
		where f.contype = 'f' and f.connamespace = current_schema()::regnamespace
		  and f.confrelid <> 'tenants'::regclass
		  and not exists (
			select from pg_attribute a
			where a.attrelid = f.conrelid and a.attnum = any (f.conkey) and a.attname in ('tenant_id', 'scope_id', 'tool_scope_id'))`),
		"no reference reaches into another tenant")
	require.Equal(t, []string{"coalesce(tenant_id, '00000000-0000-0000-0000-000000000000'::uuid)"}, texts(t, conn, `
		select distinct lower(pg_get_expr(d.adbin, d.adrelid)) from pg_attrdef d
		join pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum where a.attname = 'scope_id'`),
		"scope_id is the tenant and nothing else")
}

func TestRolesHoldLittle(t *testing.T) {
	t.Parallel()

	conn := storetest.NewDatabase(t).Conn(t)
	require.Equal(t, []string{store.AppRole, store.MaintenanceRole, store.OwnerRole}, texts(t, conn, `
		select rolname::text from pg_roles where rolname like 'toolcrib\_%'
		  and not (rolsuper or rolbypassrls or rolcreaterole or rolcreatedb or rolreplication or rolcanlogin)
		order by 1`))
	for _, role := range []string{store.AppRole, store.MaintenanceRole} {
		var granted bool
		require.NoError(t, conn.QueryRow(t.Context(),
			"select has_any_column_privilege($1, 'tenant_erasures', 'select, insert, update, references')", role).Scan(&granted))
		require.False(t, granted, "%s knows no erased tenants", role)
	}
	// What tenants feed their pipelines is gone when they say so, and a start when Temporal has it.
	deletes := map[string][]string{
		store.AppRole: {
			"agent_notes", "applied_objects", "budget_holds", "budget_windows", "budgets", "chunk_embeddings", "chunk_terms",
			"chunks",
			"document_contents", "document_texts", "documents", "embed_origins", "embed_tokens",
			"file_chunks", "files", "left_files", "prices", "profiles", "published_views", "request_buckets", "roles",
			"run_spaces",
			"schedules", "space_members", "space_messages", "space_wakes",
			"spaces", "token_users", "tool_assignments", "tool_gates", "tool_overrides", "tool_replays", "tool_sessions",
			"tool_slots",
			"toolsets", "web_sessions", "webhooks", "word_blocks",
			"word_documents", "word_postings", "workflow_starts",
		},
	}
	for _, role := range []string{store.AppRole, store.MaintenanceRole} {
		require.Empty(t, texts(t, conn, `
			select relname::text from pg_class where relowner = $1::regrole
			union all select proname::text from pg_proc where proowner = $1::regrole
			union all select nspname::text from pg_namespace where nspowner = $1::regrole
			union all select roleid::regrole::text from pg_auth_members where member = $1::regrole`, role), role)
		require.Empty(t, texts(t, conn, "select relname::text from "+tables+` and c.relispartition
			and (has_table_privilege($1, c.oid, 'select, insert, update, delete, truncate, references, trigger'))`, role),
			"partitions are reached through their table only")
		require.ElementsMatch(t, deletes[role], texts(t, conn, "select relname::text from "+tables+`
			and has_table_privilege($1, c.oid, 'delete, truncate, references, trigger')`, role), "%s deletes little", role)
		require.Empty(
			t,
			texts(
				t, conn,
				"select nspname::text from pg_namespace where nspname = current_schema() and has_schema_privilege($1, oid, "+
					"'create')",
				role,
			),
		)
	}
	require.Equal(t, []string{"effects", "leases", "tenants", "toolcrib_migrations"},
		texts(t, conn, "select relname::text from "+tables+`
		and has_table_privilege($1, c.oid, 'select') order by 1`, store.MaintenanceRole))
	require.Equal(t, []string{"leases", "tenants"}, texts(t, conn, "select relname::text from "+tables+`
		and has_any_column_privilege($1, c.oid, 'insert, update') order by 1`, store.MaintenanceRole))
	require.Equal(t, []string{
		"documents: id, pipeline_id, status, tenant_id, updated_at, version",
		"pipelines: deleted_at, id, next_generation, tenant_id, updated_at",
		"runs: completed_at, created_at, first_run_id, id, kind, status, tenant_id, workflow_id",
		"tool_invocations: id, run_id, status, tenant_id",
	}, texts(t, conn, `
		select c.relname || ': ' || string_agg(a.attname, ', ' order by a.attname)
		from pg_attribute a join `+strings.Replace(tables, "where", "on a.attrelid = c.oid where", 1)+
		` and a.attnum > 0 and not a.attisdropped
		and not has_table_privilege($1, c.oid, 'select') and has_column_privilege($1, c.oid, a.attnum, 'select')
		group by c.relname order by 1`, store.MaintenanceRole), "it sees what is open, and nothing of what is in it")
}

// Without a tenant there is nothing; with one, nothing of another's can be
// read, changed, or taken over. Asked of every table, past every query of ours.
func TestTheAppRoleIsBoundInEveryTable(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	f := storetest.NewFixture(t, d)
	d.Key(t, f.Tenant)
	d.Credential(t, f.Tenant, "shop")
	f.Admit(t, f.Lone(t), true, true)
	f.Say(t, f.Run, 1, 1, "Let me look.")
	_, _, err := f.Store.AddAgentVersion(t.Context(), f.Agent, storetest.AgentVersionOf(t, f.Agent, "1.0.0"))
	require.NoError(t, err)
	_, err = f.Store.BeginRequest(t.Context(), store.RequestKey{Tenant: f.Tenant, Text: "k"}, strings.Repeat("0", 64),
		time.Minute, time.Hour)
	require.NoError(t, err)
	key, session := f.MCPSession("s1")
	_, err = f.Store.SaveMCPSession(t.Context(), key, session)
	require.NoError(t, err)
	named := f.Tool
	named.Interaction.Aliases = []string{"findOrders"}
	_, _, err = f.Store.AddVersion(t.Context(), named, storetest.VersionOf(t, named, "1.1.0"))
	require.NoError(t, err)
	server, err := f.Store.CreateServer(t.Context(), mcpserver.Server{
		Tenant: f.Tenant, Slug: "files", Status: definition.ServerActive,
	})
	require.NoError(t, err)
	_, err = f.Store.SaveServer(t.Context(), server, mcpserver.Changes{
		Put: []mcpserver.Tool{{Name: "read", State: mcpserver.StateOffered}},
	})
	require.NoError(t, err)
	uploaded, err := f.Store.CreateArtifact(t.Context(), artifact.Artifact{
		Tenant: f.Tenant, Slug: "quote", Language: "jq", Status: definition.ArtifactActive,
	})
	require.NoError(t, err)
	_, _, err = f.Store.AddArtifactVersion(t.Context(), uploaded, artifact.Version{Number: "1.0.0"}, []byte("."))
	require.NoError(t, err)
	shelf := storetest.NewShelf(t, f.Store, retrieval.Pipeline{Tenant: f.Tenant, Embedding: &storetest.Model})
	document := shelf.Put(t, "cut", "words")
	shelf.Cut(t, document, "words")
	shelf.Embed(t, document, 1, []float32{1, 0, 0})
	shelf.Put(t, "uncut", "words")
	storetest.NewShelf(t, f.Store, retrieval.Pipeline{Tenant: f.Tenant}).Add(t, retrieval.Document{Key: "searched"},
		"words")
	require.NoError(t, f.Store.SealEvents(t.Context(), f.Tenant))
	f.Start(t)
	_, err = f.Store.Decide(t.Context(), f.Verdict(f.Ask(t, f.Request(t, f.Lone(t))), "user:bob", true))
	require.NoError(t, err)
	f.Grant(t, "user:bob", nil)
	_, err = f.Store.PingWebhook(t.Context(), f.Tenant, f.Webhook(t, nil).ID)
	require.NoError(t, err)
	_, err = f.Store.ReserveScheduleStart(t.Context(), f.Tenant, f.Schedule(t, "nightly", nil).ID, time.Now())
	require.NoError(t, err)
	f.File(t, nil)
	_, err = f.Store.DeleteFile(t.Context(), f.Tenant, f.File(t, func(n *file.File) { n.Location = "elsewhere" }).ID)
	require.NoError(t, err)
	launch := f.Space(t, "launch")
	f.Entered(t, launch)
	f.Post(t, launch, "hello")
	require.NoError(t, f.Store.SetNotes(t.Context(), f.Tenant, f.Agent.ID,
		[]space.Note{{Kind: space.Plan, Key: "a", Text: "b"}}))
	_, _, err = f.Store.TakeSlot(t.Context(), ledger.SlotRequest{
		Tenant: f.Tenant, Scope: "group/mail", Limit: 2, Holder: "effect", Lease: time.Minute,
	})
	require.NoError(t, err)
	call := f.Lone(t)
	require.NoError(t, f.Store.WriteNodes(t.Context(), graph.Run{Tenant: f.Tenant, RunID: f.Run.ID, EffectID: "g"},
		[]graph.Record{{Path: "a", Node: "a", Status: graph.Pending}}))
	_, err = f.Store.WriteState(t.Context(), ledger.StateOwner{
		Tenant: f.Tenant, RunID: f.Run.ID, EffectID: call.EffectID, Fence: f.Admit(t, call, false, false).Fence,
	}, tool.StateChange{Key: "last", Value: json.RawMessage("1")})
	require.NoError(t, err)
	_, err = f.Store.AddToInbox(t.Context(), f.Said("hurry"))
	require.NoError(t, err)
	outside := f.Lone(t)
	outside.Implementation = tool.Client
	_, err = f.Store.OfferCall(t.Context(), f.Offer(outside, f.Admit(t, outside, false, false).Fence))
	require.NoError(t, err)
	require.NoError(t, d.Platform.SetRetentionRule(t.Context(), store.RetentionRule{
		Tenant: f.Tenant, Class: store.RetainRuns, KeepDays: 30,
	}))
	require.NoError(t, d.Platform.Quotas().SetQuota(t.Context(), quota.Rule{Tenant: f.Tenant, Name: quota.Tools}))
	f.Switch(t, f.Tenant, f.Tool.ID, true)
	_, err = f.Store.SetPrice(t.Context(), usage.Price{Tenant: f.Tenant, ToolID: f.Tool.ID, Call: 1})
	require.NoError(t, err)
	_, err = f.Store.SetBudget(t.Context(), budget.Budget{Tenant: f.Tenant, Name: "b", Period: budget.Day, Limit: 1000})
	require.NoError(t, err)
	limited, err := f.Store.CreateProfile(t.Context(), profile.Profile{Tenant: f.Tenant, Profile: tool.Profile{
		Name: "slow", Rate: &tool.Rate{Calls: 10, Per: tool.PerSecond},
	}})
	require.NoError(t, err)
	_, err = f.Store.SetAssignment(t.Context(), profile.Assignment{
		Tenant: f.Tenant, ToolID: f.Tool.ID, ProfileID: limited.ID,
	})
	require.NoError(t, err)
	_, err = f.Store.CreateToolset(t.Context(), toolset.Toolset{Tenant: f.Tenant, Slug: "support"})
	require.NoError(t, err)
	f.Canary(t, "2.0.0")
	_, err = f.Store.SetGate(t.Context(), registry.Gate{Tenant: f.Tenant, ToolID: f.Tool.ID, Replay: 20})
	require.NoError(t, err)
	f.Replay(t, true)
	_, err = f.Store.SetPublishing(t.Context(), f.Tenant, true)
	require.NoError(t, err)
	_, err = f.Store.CreateView(t.Context(), view.View{
		ID: storetest.NewID(t), Tenant: f.Tenant, Title: "Orders", Kind: view.Tool,
		VersionIdentity: tool.VersionIdentity{ToolID: f.Tool.ID, Slug: f.Tool.Slug, Version: "1.0.0"},
	}, make([]byte, 32), time.Hour)
	require.NoError(t, err)
	_, err = f.Store.CreateRole(t.Context(), store.Role{
		Role: access.Role{Name: "clerk", Permissions: []string{"runs.read"}}, Tenant: f.Tenant,
	})
	require.NoError(t, err)
	_, _, err = f.Store.UseToken(t.Context(), store.TokenUser{Tenant: f.Tenant, Subject: "user:corp/ada"},
		store.Draw{Take: true, Standard: store.Limits{RequestsPerSecond: 10}})
	require.NoError(t, err)
	f.Submitted(t)
	f.EmbedToken(t)
	_, err = f.Store.RecordApplied(t.Context(), f.Tenant, "shop", "user:ada", []store.AppliedObject{
		{Kind: "tool", ID: f.Tool.ID, Slug: f.Tool.Slug},
	}, time.Now())
	require.NoError(t, err)
	require.NoError(t, f.Store.BeginWebSession(t.Context(), store.WebSession{
		Tenant: f.Tenant, Person: store.TokenUser{Subject: "user:corp/ada"},
	}, nil, make([]byte, 32)))
	f.Admit(t, f.Lone(t), false, false)
	require.NoError(t, f.Store.SealAudit(t.Context()))
	stranger := d.Tenant(t)

	super := d.Conn(t)
	conn := d.Conn(t)
	exec := func(sql string, args ...any) {
		_, err := conn.Exec(t.Context(), sql, args...)
		require.NoError(t, err)
	}
	exec("set role " + store.AppRole)
	for _, table := range texts(
		t, super,
		"select relname::text from "+tables+
			" and not c.relispartition and c.relname not in ('leases', 'toolcrib_migrations', 'tenant_erasures')",
	) {
		column := "tenant_id"
		if table == "tenants" {
			column = "id"
		}
		count := func() (n int) {
			sql := fmt.Sprintf("select count(*) from %s where %s = $1", pgx.Identifier{table}.Sanitize(), column)
			require.NoError(t, conn.QueryRow(t.Context(), sql, f.Tenant).Scan(&n))
			return n
		}
		exec("reset app.tenant_id")
		require.Zero(t, count(), "%s without a setting", table)
		exec("set app.tenant_id = ''")
		require.Zero(t, count(), "%s with an empty setting", table)
		exec("select set_config('app.tenant_id', $1, false)", stranger)
		require.Zero(t, count(), "%s as another tenant", table)
		exec("select set_config('app.tenant_id', $1, false)", f.Tenant)
		require.NotZero(t, count(), "%s as its own tenant", table)

		if may(t, super, "insert", table, column) {
			exec("select set_config('app.tenant_id', $1, false)", stranger)
			_, err := conn.Exec(
				t.Context(), fmt.Sprintf("insert into %s (%s) values ($1)", pgx.Identifier{table}.Sanitize(), column), f.Tenant,
			)
			requireRefusedRow(t, err, table+": no row is made for another tenant")
			exec("select set_config('app.tenant_id', $1, false)", f.Tenant)
		}
		if !may(t, super, "update", table, column) {
			continue
		}
		_, err := conn.Exec(t.Context(), fmt.Sprintf("update %s set %s = $1", pgx.Identifier{table}.Sanitize(), column),
			stranger)
		requireRefusedRow(t, err, table+": a row cannot be given away")
	}
}

// requireRefusedRow requires that row security refused what was written.
func requireRefusedRow(t *testing.T, err error, what string) {
	t.Helper()
	var pgErr *pgconn.PgError
	require.ErrorAs(t, err, &pgErr, what)
	require.Equal(t, "42501", pgErr.Code, what)
	require.Contains(t, pgErr.Message, "row-level security", what)
}

// may reports whether the app role holds a privilege on a column at all.
func may(t *testing.T, conn *pgx.Conn, privilege, table, column string) (may bool) {
	t.Helper()
	err := conn.QueryRow(t.Context(), "select has_column_privilege($1, $2, $3, $4)", store.AppRole, table, column,
		privilege).Scan(&may)
	require.NoError(t, err)
	return may
}

// A reference to another tenant's tool is refused, and no differently from one
// to a tool that does not exist.
func TestReferencesDoNotTell(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	f := storetest.NewFixture(t, d)
	stranger := d.Tenant(t)
	conn := d.Conn(t)
	_, err := conn.Exec(t.Context(), "set role "+store.AppRole)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), "select set_config('app.tenant_id', $1, false)", stranger)
	require.NoError(t, err)
	insert := func(toolID, scope any) string {
		_, err := conn.Exec(t.Context(), `insert into tool_invocations (id, tenant_id, call_id, tool, tool_id, tool_scope_id, mode, status)
			values ($1, $2, 'c', 'x', $3, $4, 'production', 'failed')`, storetest.NewID(t), stranger, toolID, scope)
		var pgErr *pgconn.PgError
		require.ErrorAs(t, err, &pgErr)
		return pgErr.Code
	}
	require.Equal(t, insert(storetest.NewID(t), stranger), insert(f.Tool.ID, stranger))
	require.Equal(t, insert(storetest.NewID(t), f.Tenant), insert(f.Tool.ID, f.Tenant))
}

func TestStoredContentIsImmutable(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	f := storetest.NewFixture(t, d)
	_, err := f.Store.Decide(t.Context(), f.Verdict(f.Ask(t, f.Request(t, f.Lone(t))), "user:bob", true))
	require.NoError(t, err)
	conn := d.Conn(t) // Not even a superuser changes what a run pinned.
	for _, sql := range []string{
		"update tool_versions set schema_snapshot = '{}'",
		"update tool_versions set digest = repeat('0', 64)",
		"update tool_versions set published = false",
		"update tool_versions set published_at = now()",
		"update messages set content = '[]'",
		"update messages set parent_id = null",
		"update approval_decisions set approve = false",
	} {
		_, err := conn.Exec(t.Context(), sql)
		var pgErr *pgconn.PgError
		require.ErrorAs(t, err, &pgErr, sql)
		require.Equal(t, "23001", pgErr.Code, sql)
	}
	_, err = f.Store.Version(t.Context(), f.Tenant, f.Tool.ID, f.Version.Digest)
	require.NoError(t, err)
}

// The guard holds for whoever writes, whatever they say.
func TestEgressGuard(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	f := storetest.NewFixture(t, d)
	conn := d.Conn(t)
	approval := func(sql string) (required bool) {
		require.NoError(
			t, conn.QueryRow(t.Context(), sql+" where id = $1 returning requires_approval", f.Tool.ID).Scan(&required),
		)
		return required
	}
	require.False(t, approval("update tool_registry set egress_class = 'read_only'"))
	require.True(t, approval("update tool_registry set egress_class = 'write', requires_approval = false"))
	require.True(t, approval("update tool_registry set requires_approval = false"))
	require.False(t, approval("update tool_registry set egress_class = 'none', requires_approval = false"))
	require.Equal(t, []string{
		"audit", "quota_changed", "quota_gone", "quota_made", "tool_registry_quarantined", "trg_tools_registry_egress_guard",
	}, texts(t, conn,
		`select tgname::text from pg_trigger
		where tgrelid = 'tool_registry'::regclass and not tgisinternal order by tgname collate "C"`))
}

// Whatever keeps the table keeps new partitions waiting for a moment, and calls
// behind them no longer.
func TestPartitionsAreNotWaitedForLong(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	f := storetest.NewFixture(t, d)
	tx, err := d.Conn(t).Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), "lock table tool_invocations in access share mode")
	require.NoError(t, err)
	_, err = f.Store.EnsurePartitions(t.Context(), 20)
	storetest.RequireKind(t, tool.Unavailable, err)
	f.Admit(t, f.Lone(t), true, true)
	require.NoError(t, tx.Rollback(t.Context()))
	n, err := f.Store.EnsurePartitions(t.Context(), 20)
	require.NoError(t, err)
	require.Equal(t, 17, n)
}

func TestPartitions(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	f := storetest.NewFixture(t, d)
	conn := d.Conn(t)
	e := f.Lone(t)
	f.Admit(t, e, true, true)
	partition := func() string {
		return texts(t, conn, "select tableoid::regclass::text from tool_invocations where id = $1", e.InvocationID)[0]
	}
	home := partition()
	require.NotEqual(t, "tool_invocations_default", home)

	// A month without a partition: the row lands in the default one, is found
	// there, and stays when partitions are made.
	_, err := conn.Exec(t.Context(), "drop table "+home)
	require.NoError(t, err)
	e = f.Lone(t)
	ticket := f.Admit(t, e, true, true)
	require.Equal(t, "tool_invocations_default", partition())
	_, err = d.Platform.EnsurePartitions(t.Context(), 0)
	require.NoError(t, err)
	require.Equal(t, "tool_invocations_default", partition())
	_, err = f.Store.Settle(t.Context(), storetest.Completed(e, ticket.Fence))
	require.NoError(t, err)
	e.InvocationID = idAt(t, time.Now().UTC().AddDate(0, 1, 1-time.Now().UTC().Day()))

	plan := texts(
		t, conn,
		fmt.Sprintf("explain select * from tool_invocations where tenant_id = '%s' and id = '%s'", f.Tenant, e.InvocationID),
	)
	for _, line := range plan {
		require.NotContains(t, line, "tool_invocations_default", "the id prunes partitions")
	}
}
