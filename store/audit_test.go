package store_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/audit"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/usage"
)

// notAudited are the tables whose changes leave no row in the audit log, and why.
var notAudited = map[string]string{
	"audit_log":   "is the log",
	"audit_heads": "is the log",

	"tool_override_versions": "follow from overrides, which are audited",
	"tenant_erasures":        "has a trigger of its own, which writes to the platform's log",

	"token_users":     "is bookkeeping of tokens; roles come from their issuers",
	"request_buckets": "is bookkeeping of requests",
	"applied_objects": "say which files made what; what was changed with them is audited",
	"budget_windows":  "is counted from calls and turns, which are a record",
	"tool_replays":    "compare calls, and change nothing",
	"rate_buckets":    "are counted from calls, which are a record",
	"budget_holds":    "is what calls and turns that are a record have reserved",
	"quota_counts":    "is counted from what is audited, or a record",
	"usage_days":      "is counted from calls and turns, which are a record",
	"tool_aliases":    "follow from versions and renames, which are audited",
	"tool_slots":      "are leases of calls",

	"embed_tokens": "are made for each view of a page, and are good for five minutes; what they do is a call, a record",

	"tool_session_submissions": "are a record of what people sent, and of the calls that came of it",

	"tool_invocations":    "are a record themselves",
	"effects":             "are the ledger, a record themselves",
	"messages":            "are a record themselves",
	"run_events":          "are a record themselves",
	"run_output":          "is output of calls, which are a record",
	"run_spaces":          "follow from runs",
	"run_state":           "is what a run keeps for its calls",
	"graph_nodes":         "are a record themselves",
	"inbox_items":         "are messages of runs, a record themselves",
	"approvals":           "are made by calls; what people say of them is audited",
	"agent_notes":         "are kept by calls of agents, which are a record",
	"space_messages":      "are a record themselves",
	"space_wakes":         "follow from messages",
	"schedule_starts":     "are a record themselves",
	"webhook_deliveries":  "are a record themselves",
	"mcp_sessions":        "are bookkeeping of calls",
	"idempotency_keys":    "are bookkeeping of requests",
	"workflow_starts":     "are bookkeeping of runs",
	"leases":              "are bookkeeping of processes",
	"event_seals":         "are bookkeeping of streams",
	"tenant_event_heads":  "are bookkeeping of streams",
	"left_files":          "follow from files",
	"file_chunks":         "are contents of files, which are audited",
	"document_contents":   "are contents of documents, which are audited",
	"document_texts":      "follow from documents",
	"chunks":              "follow from documents",
	"chunk_terms":         "follow from documents",
	"chunk_embeddings":    "follow from documents",
	"word_blocks":         "follow from documents",
	"word_documents":      "follow from documents",
	"word_postings":       "follow from documents",
	"toolcrib_migrations": "is a record itself",
}

// Every table says whether its changes are audited: by a trigger, or here why not.
func TestEveryTableIsAuditedOrSaysWhyNot(t *testing.T) {
	t.Parallel()

	conn := storetest.NewDatabase(t).Conn(t)
	all := texts(t, conn, "select relname::text from "+tables+" and not c.relispartition")
	audited := texts(t, conn, `select distinct c.relname::text from pg_trigger g join pg_class c on c.oid = g.tgrelid
		where g.tgfoid = 'audit_row'::regproc and g.tgenabled = 'O' and c.relnamespace = current_schema()::regnamespace`)
	require.Greater(t, len(audited), 20)
	for _, table := range all {
		require.NotEqual(t, slices.Contains(audited, table), notAudited[table] != "",
			"%s: give it a trigger that runs audit_row, or say here why its changes are not audited", table)
	}
	require.Subset(t, all, keys(asSet(notAudited)), "no table is listed that does not exist")
}

func asSet(m map[string]string) map[string]bool {
	out := map[string]bool{}
	for k := range m {
		out[k] = true
	}
	return out
}

// A pause and a resumption are rows of the outermost run, not of those below it.
func TestPausesAreAudited(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	f := storetest.NewFixture(t, d)
	below, err := f.Store.CreateRun(t.Context(), agent.Run{
		Tenant: f.Tenant, Kind: agent.RunKindToolCall, Mode: tool.Production, WorkflowID: "below",
	}, agent.Message{})
	require.NoError(t, err)
	_, err = d.Conn(t).Exec(t.Context(), `update runs set parent_run_id = $1, parent_invocation_id = gen_random_uuid(), depth = 1
		where id = $2`, f.Run.ID, below.ID)
	require.NoError(t, err)
	for _, pause := range []bool{true, false} {
		_, err := f.Store.ChangePause(audit.With(t.Context(), actor), agent.PauseChange{
			Tenant: f.Tenant, RunID: f.Run.ID, Pause: pause, By: actor.Subject, Lease: time.Minute,
		})
		require.NoError(t, err)
	}
	var got []audit.Action
	for _, e := range entries(t, d.Store, f.Tenant) {
		if e.Object.Kind == "run" {
			require.Equal(t, f.Run.ID, e.Object.ID)
			require.Equal(t, actor, e.Actor)
			got = append(got, e.Action)
		}
	}
	require.Equal(t, []audit.Action{"run.paused", "run.resumed"}, got)
	found, err := f.Store.FindRun(t.Context(), f.Tenant, below.ID)
	require.NoError(t, err)
	require.EqualValues(t, 2, found.PauseRound, "it was paused and resumed too")
}

// What the database may write is an action of the list: every kind and verb of its function.
func TestTheDatabaseKnowsNoOtherActions(t *testing.T) {
	t.Parallel()

	conn := storetest.NewDatabase(t).Conn(t)
	source := texts(t, conn, "select prosrc from pg_proc where oid = 'audit_row'::regproc")[0]
	known := map[string]bool{}
	for _, a := range audit.Actions() {
		known[string(a.Action)] = true
	}
	kinds, verbs := map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(source) {
		into, ok := map[string]map[string]bool{"kind": kinds, "verb": verbs}[firstWord(line)]
		if !ok {
			continue
		}
		_, value, assigns := strings.Cut(line, ":= ")
		if !assigns {
			continue
		}
		for _, m := range regexp.MustCompile(`(?:then|else|:=) '([a-z_]+)'`).FindAllStringSubmatch(":= "+value, -1) {
			into[m[1]] = true
		}
	}
	require.Greater(t, len(kinds), 12)
	for kind := range kinds {
		require.Contains(t, audit.ObjectKinds(), kind)
	}
	for verb := range verbs {
		require.True(t, slices.ContainsFunc(audit.Actions(), func(a audit.ActionInfo) bool {
			return strings.HasSuffix(string(a.Action), "."+verb)
		}), verb)
	}
}

func firstWord(line string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
	return word
}

// actor is who acts in these tests.
var actor = audit.Actor{
	Kind: audit.Key, Subject: "key:01975c2e-7d1a-7c3e-9f00-0000000000d1",
	KeyID: "01975c2e-7d1a-7c3e-9f00-0000000000d1", RequestID: "req-1",
}

// entries returns the whole log of a tenant, oldest first.
func entries(t *testing.T, s audit.Log, tenant tool.TenantID) []audit.Entry {
	t.Helper()
	var out []audit.Entry
	q := audit.Query{Limit: 200}
	for {
		page, err := s.ListAudit(t.Context(), tenant, q)
		require.NoError(t, err)
		out = append(out, page...)
		if len(page) < q.Limit {
			slices.Reverse(out)
			return out
		}
		q.Before = page[len(page)-1].ID
	}
}

func actions(all []audit.Entry) []string {
	out := make([]string, len(all))
	for i, e := range all {
		out[i] = string(e.Action)
	}
	return out
}

// A change and its row are one transaction, by whichever method the change is made.
func TestChangesAreAudited(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	tenant := d.Tenant(t)
	ctx := audit.With(t.Context(), actor)
	head, err := d.Store.CreateTool(ctx, tool.Tool{
		Tenant: tenant, Slug: "searchOrders", Status: tool.Draft, Active: true, Version: "1.0.0",
		Definition: tool.Definition{Name: "Search", Implementation: tool.HTTP},
	})
	require.NoError(t, err)
	head.Name = "Search orders"
	head, err = d.Store.UpdateTool(ctx, head)
	require.NoError(t, err)
	head.Status = tool.Published
	head, _, err = d.Store.AddVersion(ctx, head, storetest.VersionOf(t, head, "1.0.0"))
	require.NoError(t, err)
	off := false
	_, err = d.Store.SetOverride(ctx, tool.Override{Tenant: tenant, ToolID: head.ID, Enabled: &off, Reason: "not yet"})
	require.NoError(t, err)
	require.NoError(t, d.Store.DeleteOverride(ctx, tenant, head.ID, 0))
	_, err = d.Store.SetPrice(ctx, usage.Price{Tenant: tenant, ToolID: head.ID, Call: 1})
	require.NoError(t, err)
	head.Status = tool.Disabled
	head, err = d.Store.UpdateTool(ctx, head)
	require.NoError(t, err)
	now := time.Now()
	head.ArchivedAt, head.ArchivedBy = &now, "ada"
	head, err = d.Store.UpdateTool(ctx, head)
	require.NoError(t, err)
	head.ArchivedAt, head.ArchivedBy, head.Status = nil, "", tool.Draft
	_, err = d.Store.UpdateTool(ctx, head)
	require.NoError(t, err)
	key, secret, err := d.Store.CreateKey(ctx, store.Key{Tenant: tenant, Name: "ci", Permissions: []string{"tools.read"}})
	require.NoError(t, err)
	_, err = d.Store.Authenticate(ctx, secret)
	require.NoError(t, err)
	_, err = d.Store.RevokeKey(ctx, tenant, key.ID)
	require.NoError(t, err)
	sealed := d.Credential(t, tenant, "shop")
	_, err = d.Store.RevokeCredential(ctx, tenant, sealed.ID)
	require.NoError(t, err)
	_, err = d.Store.SetTenantMasking(ctx, tenant, false)
	require.NoError(t, err)
	_, err = d.Platform.SetTenantStatus(audit.With(t.Context(), audit.Actor{Kind: audit.CLI, Subject: "ada"}), tenant,
		store.TenantSuspended)
	require.NoError(t, err)

	got := entries(t, d.Store, tenant)
	require.Equal(t, []string{
		"tenant.created", "tool.created", "tool.draft_edited", "tool.published", "tool.override_set", "tool.override_removed",
		"price.created", "tool.disabled", "tool.archived", "tool.restored", "key.created", "key.revoked",
		"tenant.data_key_made", "credential.created", "credential.revoked",
		"tenant.changed", "tenant.suspended",
	}, actions(got))
	byAction := map[audit.Action]audit.Entry{}
	for _, e := range got {
		require.Equal(t, tenant, e.Tenant)
		require.Equal(t, audit.Done, e.Outcome)
		byAction[e.Action] = e
	}
	edited := byAction["tool.draft_edited"]
	require.Equal(t, actor, edited.Actor)
	require.Equal(t, audit.Object{Kind: "tool", ID: head.ID, Name: "searchOrders"}, edited.Object)
	require.JSONEq(t, `{"name":"Search"}`, string(edited.Before))
	require.JSONEq(t, `{"name":"Search orders"}`, string(edited.After))
	require.Contains(t, string(byAction["tool.override_set"].After), "not yet")
	require.Nil(t, byAction["tool.created"].Before)
	require.Equal(t, audit.CLI, byAction["tenant.suspended"].Actor.Kind)
	require.Equal(t, "ada", byAction["tenant.suspended"].Actor.Subject)
	require.Equal(t, audit.System, byAction["credential.created"].Actor.Kind, "without an actor it is the platform")
	raw, err := json.Marshal(got)
	require.NoError(t, err)
	for _, planted := range []string{"7365616c6564", "77726170706564", secret} { // "sealed" and "wrapped", as bytea.
		require.NotContains(t, string(raw), planted, "secrets are in no row")
	}
	require.Contains(t, string(byAction["credential.created"].After), `"ciphertext" : "(not shown)"`)

	only, err := d.Store.ListAudit(t.Context(), tenant, audit.Query{Action: "key", Limit: 10})
	require.NoError(t, err)
	require.Equal(t, []string{"key.revoked", "key.created"}, actions(only))
	only, err = d.Store.ListAudit(t.Context(), tenant, audit.Query{Object: "searchOrders", Actor: actor.Subject, Limit: 3})
	require.NoError(t, err)
	require.Equal(t, []string{"tool.restored", "tool.archived", "tool.disabled"}, actions(only))
}

// A change that is rolled back leaves no row.
func TestAuditRowsAreOfTheTransaction(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	tenant := d.Tenant(t)
	before := len(entries(t, d.Store, tenant))
	head := tool.Tool{Tenant: tenant, Slug: "once", Status: tool.Draft, Active: true, Version: "1.0.0"}
	_, err := d.Store.CreateTool(t.Context(), head)
	require.NoError(t, err)
	_, err = d.Store.CreateTool(t.Context(), head)
	storetest.RequireKind(t, tool.Conflict, err)
	require.Len(t, entries(t, d.Store, tenant), before+1)
}

// What is done past the platform is seen, by its login.
func TestHandMadeChangesAreAudited(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	tenant := d.Tenant(t)
	d.Key(t, tenant)
	conn := d.Conn(t)
	_, err := conn.Exec(t.Context(), "update api_keys set permissions = '{*}' where tenant_id = $1", tenant)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), "delete from api_keys where tenant_id = $1", tenant)
	require.NoError(t, err)
	got := entries(t, d.Store, tenant)
	require.Equal(t, []string{"key.changed", "key.deleted"}, actions(got[len(got)-2:]))
	for _, e := range got[len(got)-2:] {
		require.Equal(t, audit.Database, e.Actor.Kind)
		require.Equal(t, texts(t, conn, "select session_user::text")[0], e.Actor.Subject)
	}
}

// What looks like a secret in a configuration is in no row: rows stay for good.
func TestTheAuditLogKeepsNoSecretsOfConfigurations(t *testing.T) {
	t.Parallel()
	d := storetest.NewDatabase(t)
	f := storetest.NewFixture(t, d)
	_, err := f.Store.CreateTool(t.Context(), tool.Tool{
		Tenant: f.Tenant, Slug: "leaky", Status: tool.Draft, Active: true, Version: "1.0.0",
		Definition: tool.Definition{Name: "Leaky", Implementation: tool.HTTP, Config: json.RawMessage(
			`{"url":"https://api.example.com","apiKey":"planted","nested":[{"password":["planted"],"max_tokens":5}],
			"client_secret":{"a":"planted"},"input":{"properties":{"token":{"type":"string","maxLength":64}}},
			"auth":{"token":{"type":"planted","value":"planted"}},
			"headers":[{"name":"X-Api-Key","value":"planted"},{"name":"Accept","value":"text/plain"}]}`)},
	})
	require.NoError(t, err)
	rows, err := f.Store.ListAudit(t.Context(), f.Tenant, audit.Query{Object: "leaky", Limit: 10})
	require.NoError(t, err)
	require.Len(t, rows, 1)
	require.NotContains(t, string(rows[0].After), "planted")
	for _, kept := range []string{`"max_tokens" : 5`, `"maxLength"`, "https://api.example.com", "text/plain", "X-Api-Key", `"[redacted]"`} {
		require.Contains(t, string(rows[0].After), kept)
	}
}

// The application reads the log and cannot write it, and the owner cannot by mistake.
func TestTheAuditLogIsOnlyAddedTo(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	tenant := d.Tenant(t)
	conn := d.Conn(t)
	require.NoError(t, d.Store.SealAudit(t.Context()))
	count := "select (select count(*) from audit_log where reason = '') + (select count(*) from audit_heads)"
	var before, after int
	require.NoError(t, d.Conn(t).QueryRow(t.Context(), count).Scan(&before))
	for _, role := range []string{store.AppRole, store.OwnerRole, "none"} {
		_, err := conn.Exec(t.Context(), "set role "+role)
		require.NoError(t, err)
		_, err = conn.Exec(t.Context(), "select set_config('app.tenant_id', $1, false)", tenant)
		require.NoError(t, err)
		for _, sql := range []string{
			"update audit_log set reason = 'nothing happened'", "update audit_log set hash = repeat('0', 64)",
			"delete from audit_log", "truncate audit_log", "delete from audit_heads",
		} {
			done, err := conn.Exec(t.Context(), sql)
			if err == nil { // The owner's row security leaves it nothing to change.
				require.Equal(t, store.OwnerRole, role, sql)
				require.Zero(t, done.RowsAffected(), sql)
			}
		}
		if role == store.AppRole {
			_, err = conn.Exec(t.Context(),
				"select audit_write($1, 'tool.created', 'tool', '', '', 'done', '', null, null)", tenant)
			require.ErrorContains(t, err, "permission denied")
			_, err = conn.Exec(t.Context(), "select audit_refuse($1, 'tool.created', 'tool', '', '', '')", storetest.NewID(t))
			require.ErrorContains(t, err, "another tenant")
		}
	}
	require.NoError(t, d.Conn(t).QueryRow(t.Context(), count).Scan(&after))
	require.Equal(t, before, after)
}

func TestRefusalsAreAuditedOnceAMinute(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	tenant := d.Tenant(t)
	ctx := audit.With(t.Context(), actor)
	for range 3 {
		require.NoError(t, d.Store.RefuseAudit(ctx, tenant, "tool.created", audit.Object{}, "it lacks tools.write"))
	}
	require.NoError(t, d.Store.RefuseAudit(ctx, tenant, "tool.deleted", audit.Object{ID: "x", Name: "y"}, "no"))
	got, err := d.Store.ListAudit(t.Context(), tenant, audit.Query{Outcome: audit.Refused, Limit: 10})
	require.NoError(t, err)
	require.Equal(t, []string{"tool.deleted", "tool.created"}, actions(got))
	require.Equal(t, "it lacks tools.write", got[1].Reason)
	require.Equal(t, actor, got[1].Actor)
	for range 2 {
		require.NoError(t, d.Store.RefuseAudit(ctx, tenant, "tool.deleted", audit.Object{ID: "x", Name: "y"}, "in use"))
		require.NoError(t, d.Store.RefuseAudit(ctx, tenant, "tool.archived", audit.Object{ID: "x"}, "")) // That of the actor.
	}
	got, err = d.Store.ListAudit(t.Context(), tenant, audit.Query{Outcome: audit.Refused, Limit: 10})
	require.NoError(t, err)
	require.Equal(t, []string{"tool.archived", "tool.deleted", "tool.deleted", "tool.created"}, actions(got))
	require.Equal(t, "in use", got[1].Reason)
	require.Empty(t, mustList(t, d.Store, d.Tenant(t), audit.Refused))
	require.NoError(t, d.Store.RefuseAudit(t.Context(), tenant, "tool.deleted", audit.Object{ID: "z"}, ""), "of no actor")

	for i := range 40 {
		require.NoError(t, d.Store.RefuseAudit(ctx, tenant, "agent.deleted", audit.Object{Name: strconv.Itoa(i)}, "no"))
	}
	got, err = d.Store.ListAudit(t.Context(), tenant, audit.Query{Action: "agent.deleted", Limit: 100})
	require.NoError(t, err)
	require.Len(t, got, 20, "a key that tries every name does not fill the log")
}

func mustList(t *testing.T, s audit.Log, tenant tool.TenantID, outcome audit.Outcome) []audit.Entry {
	t.Helper()
	got, err := s.ListAudit(t.Context(), tenant, audit.Query{Outcome: outcome, Limit: 10})
	require.NoError(t, err)
	return got
}

// verify checks a chain from its beginning.
func verify(t *testing.T, s audit.Log, tenant tool.TenantID) *audit.Break {
	t.Helper()
	report, err := audit.Verify(t.Context(), s, tenant, audit.Head{}, 1<<30)
	require.NoError(t, err)
	require.True(t, report.Complete)
	return report.Broken
}

// Whatever of 1,000 tamperings is done, by the owner of the tables with the guards switched
// off, the chain breaks where it was done.
func TestVerifyFindsEveryTampering(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	tenant := d.Tenant(t)
	other := d.Tenant(t)
	const rows = 40
	for i := range rows {
		someone := actor
		someone.Subject += strconv.Itoa(i / 10) // One leaves at most 20 of these rows a minute.
		for _, of := range []tool.TenantID{tenant, other} {
			require.NoError(t, d.Store.RefuseAudit(audit.With(t.Context(), someone), of, "tool.deleted",
				audit.Object{ID: strconv.Itoa(i), Name: "t"}, "no"))
		}
	}
	require.NoError(t, d.Store.SealAudit(t.Context()))
	require.Nil(t, verify(t, d.Store, tenant))
	state, err := d.Store.AuditState(t.Context(), tenant)
	require.NoError(t, err)
	require.EqualValues(t, rows+1, state.Seq)
	require.Zero(t, state.Unsealed)

	conn := d.Conn(t)
	_, err = conn.Exec(t.Context(),
		"alter table audit_log disable trigger all; alter table audit_heads disable trigger all")
	require.NoError(t, err)
	columns := texts(t, conn, `select attname::text from pg_attribute
		where attrelid = 'audit_log'::regclass and attnum > 0 and not attisdropped and attgenerated = ''`)
	require.Len(t, columns, 18)
	list := strings.Join(columns, ", ")
	exec := func(sql string, args ...any) {
		t.Helper()
		_, err := conn.Exec(t.Context(), sql, args...)
		require.NoError(t, err)
	}
	exec("create temporary table saved as select " + list + " from audit_log")
	update := func(set, where string, args ...any) {
		t.Helper()
		exec("update audit_log l set "+set+" where tenant_id = $1 and "+where, append([]any{tenant}, args...)...)
	}
	forge := `insert into audit_log (tenant_id, id, at, actor_kind, actor, action, object_kind, outcome, seq, hash, sealed_at)
		select tenant_id, gen_random_uuid(), at, 'user', 'mallory', action, object_kind, outcome, seq + 1, repeat('a', 64),
			sealed_at
		from audit_log where tenant_id = $1 and seq = $2`
	for i := range 1000 {
		seq, want := int64(i%rows+1), int64(i%rows+1)
		var what string
		switch i % 9 {
		case 0:
			what = columns[i/9%len(columns)]
			update(what+" = "+tampered(what, other), "seq = $2", seq)
		case 1:
			what = "deleted"
			exec("delete from audit_log where tenant_id = $1 and seq = $2", tenant, seq)
		case 2:
			what, want = "put in", seq+1
			update("seq = seq + 10000", "seq > $2", seq)
			exec(forge, tenant, seq)
			update("seq = seq - 9999", "seq > 10000")
		case 3:
			next := seq%rows + 1
			what, want = "swapped", min(seq, next)
			update("seq = 20000", "seq = $2", seq)
			update("seq = $3", "seq = $2", next, seq)
			update("seq = $2", "seq = 20000", next)
		case 4:
			what = "cut off"
			exec("delete from audit_log where tenant_id = $1 and seq >= $2", tenant, seq)
		case 5: // A row behind the head, with a hash that fits.
			what, want = "added", rows+2
			exec(forge, tenant, rows+1)
			update("hash = audit_digest($2, l)", "seq = $3", state.Hash, rows+2)
		case 6: // In the place of a row, that of another tenant, whose own chain is whole.
			what = "copied from another tenant"
			exec("delete from audit_log where tenant_id = $1 and seq = $2", tenant, seq)
			exec("insert into audit_log ("+list+") select "+strings.Replace(list, "tenant_id", "$1::uuid", 1)+
				" from saved where tenant_id = $3 and seq = $2", tenant, seq, other)
		case 7: // A row that was changed, with a hash that fits; the next one, or the head, does not.
			what, want = "changed with its hash", min(seq+1, rows+1)
			update("reason = reason || 'x'", "seq = $2", seq)
			update("hash = audit_digest(coalesce((select p.hash from audit_log p where p.tenant_id = $1 and p.seq = $2 - 1), "+
				"repeat('0', 64)), l)", "seq = $2", seq)
		default: // The end is cut off, and the head is moved to the new end with another hash.
			what = "cut off with the head"
			if seq == 1 {
				seq, want = 2, 2
			}
			exec("delete from audit_log where tenant_id = $1 and seq >= $2", tenant, seq)
			exec("update audit_heads set seq = $2 - 1 where tenant_id = $1", tenant, seq)
			want--
		}
		broken := verify(t, d.Store, tenant)
		require.NotNil(t, broken, "%d: %s of row %d is found", i, what, seq)
		require.Equal(t, want, broken.Seq, "%d: %s: %s", i, what, broken.Reason)
		exec("delete from audit_log")
		exec("insert into audit_log (" + list + ") select " + list + " from saved")
		exec("update audit_heads set seq = $2, hash = $3 where tenant_id = $1", tenant, state.Seq, state.Hash)
	}
	require.Nil(t, verify(t, d.Store, tenant))

	// Who owns the tables can move the head with a hash that fits: a head that was kept shows it.
	exec("delete from audit_log where tenant_id = $1 and seq > 20", tenant)
	exec(`update audit_heads set (seq, hash) = (select seq, hash from saved where tenant_id = $1 and seq = 20)
		where tenant_id = $1`, tenant)
	require.Nil(t, verify(t, d.Store, tenant))
	report, err := audit.Verify(t.Context(), d.Store, tenant, state.Head, 1<<30)
	require.NoError(t, err)
	require.NotNil(t, report.Broken)
}

// tampered returns an expression for another value of a column.
func tampered(column string, other tool.TenantID) string {
	switch column {
	case "tenant_id":
		return "'" + string(other) + "'::uuid, seq = seq + 5000"
	case "id", "key_id":
		return "gen_random_uuid()"
	case "at", "sealed_at":
		return column + " + interval '1 microsecond'"
	case "actor_kind":
		return "'system'"
	case "action":
		return "'tool.created'"
	case "outcome":
		return "'done'"
	case "before", "after":
		return "'{}'::json"
	case "seq":
		return "seq + 5000"
	case "hash":
		return "repeat('b', 64)"
	default:
		return column + " || 'x'"
	}
}
