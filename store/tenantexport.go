package store

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolcrib/toolcrib/audit"
	"github.com/toolcrib/toolcrib/file"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// exportedTables are the tables of an export, with the columns that are withheld of each, as they
// are secrets, or are written as files of their own. A test holds them to the catalog.
var exportedTables = map[string]exportedTable{
	"agent_notes": {}, "agent_versions": {}, "agents": {}, "approval_decisions": {}, "approval_grants": {},
	"applied_objects":   {},
	"approvals":         {},
	"api_keys":          {secret: []string{"secret_hash"}},
	"artifact_versions": {content: "content", folder: "artifacts", name: []string{"artifact_id", "version"}},
	"artifacts":         {}, "audit_heads": {}, "budget_holds": {}, "budget_windows": {}, "budgets": {},
	"audit_log":         {chain: true},
	"chunk_embeddings":  {},
	"chunks":            {},
	"credentials":       {secret: []string{"ciphertext"}},
	"document_contents": {content: "content", folder: "documents", name: []string{"document_id"}},
	"document_texts":    {}, "documents": {}, "effects": {}, "embed_origins": {}, "event_seals": {},
	"file_chunks": {content: "content", folder: "files", name: []string{"file_id"}},
	"files":       {}, "graph_nodes": {}, "inbox_items": {}, "mcp_remote_tools": {},
	"mcp_servers":        {secret: []string{"headers", "auth"}},
	"messages":           {},
	"pending_tool_calls": {secret: []string{"submit_key"}},
	"pipelines":          {}, "prices": {}, "profiles": {},
	"published_views": {secret: []string{"secret_hash"}},
	"quotas":          {}, "retention_rules": {}, "roles": {}, "run_events": {},
	"run_output": {}, "run_spaces": {}, "run_state": {}, "runs": {}, "schedule_starts": {}, "schedules": {},
	"space_members": {}, "space_messages": {}, "space_wakes": {}, "spaces": {}, "tenant_event_heads": {},
	"token_users": {}, "tool_aliases": {},
	"tool_assignments": {}, "tool_canaries": {}, "tool_gates": {}, "tool_invocations": {}, "tool_override_versions": {},
	"tool_overrides": {}, "tool_registry": {}, "tool_replays": {},
	"tool_session_submissions": {}, "tool_sessions": {secret: []string{"secret_hash"}}, "tool_versions": {},
	"toolsets": {}, "usage_days": {}, "webhook_deliveries": {},
	"webhooks": {secret: []string{"secret", "old_secret"}},
}

// exportedTable is what is exported of a table.
type exportedTable struct {
	secret  []string // Columns that are withheld.
	content string   // A column of bytes, which are a file of their own for each name.
	folder  string   // Of the files, below "contents/".
	name    []string // Columns that name the file.
	chain   bool     // The audit log, which is written in the form in which its chain is verified.
}

// notExported are the tables that are not exported, and why.
var notExported = map[string]string{
	"chunk_terms":      "an index of the words of chunks",
	"embed_tokens":     "tokens of frames, by digests, which are good for five minutes",
	"idempotency_keys": "answers to requests that may be repeated within a day",
	"left_files":       "contents that no file has any more",
	"mcp_sessions":     "sessions with MCP servers, whose ids are secrets",
	"quota_counts":     "counts of what is exported",
	"rate_buckets":     "how many calls may be made at the moment",
	"request_buckets":  "how many requests may be sent at the moment",
	"tenant_keys":      "data keys",
	"tool_slots":       "leases of calls that go on",
	"web_sessions":     "browsers that are signed in, by digests of their secrets",
	"word_blocks":      "an index of the words of documents",
	"word_documents":   "an index of the words of documents",
	"word_postings":    "an index of the words of documents",
	"workflow_starts":  "workflows that Temporal has not got yet; their runs are exported",
}

// TenantArchive takes the files of an export. Its methods are called one after the other.
type TenantArchive interface {
	// Create begins a file; path has slashes. The file ends when it is closed.
	Create(path string) (io.WriteCloser, error)
	// Left records what is not in the export, and why.
	Left(what, why string)
}

// TenantExport is what the database gave to an archive.
type TenantExport struct {
	Tenant  Tenant
	Schema  int       // Version of the database's schema.
	TakenAt time.Time // Of the snapshot that all rows are of.
	Audit   audit.State
	// Stored are the files whose contents are in stores of objects.
	Stored []LeftContent
}

// ExportTenant writes all rows of a tenant to an archive, of one snapshot of the database, and the
// contents that the database has: a file with a row on each line as JSON for each table, the audit
// log in the form that writes makes of it, and contents below "contents/". Rows are streamed;
// the list of the files in stores of objects is held in memory. It fails with tool.NotFound, and
// with tool.Conflict where the database has a table that this binary does not know.
func (p *Platform) ExportTenant(
	ctx context.Context, tenant tool.TenantID, to TenantArchive, writes func(audit.Entry) ([]byte, error),
) (out TenantExport, err error) {
	const op = "store.ExportTenant"
	if !tool.ValidID(string(tenant)) {
		return out, notFound(op, "tenant not found")
	}
	if out.Tenant, err = p.FindTenant(ctx, string(tenant)); err != nil {
		return out, err
	}
	if err := p.store.SealAudit(ctx); err != nil {
		return out, fmt.Errorf("sealing the audit log: %w", err)
	}
	tx, err := p.store.pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return out, failure(op, err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	x := exporter{store: p.store, tx: tx, tenant: tenant, to: to, entry: writes, out: &out}
	if err := x.all(ctx); err != nil {
		return out, failure(op, err)
	}
	return out, nil
}

// exporter writes an export.
type exporter struct {
	store  *Store
	tx     pgx.Tx
	tenant tool.TenantID
	to     TenantArchive
	entry  func(audit.Entry) ([]byte, error)
	out    *TenantExport
}

func (x *exporter) all(ctx context.Context) error {
	if err := x.store.enterTenant(ctx, x.tx, "store.ExportTenant", x.tenant); err != nil {
		return err
	}
	// The archive may be slower than the database.
	_, err := x.tx.Exec(ctx, `select set_config('statement_timeout', '0', true),
		set_config('idle_in_transaction_session_timeout', '600000', true)`)
	if err != nil {
		return err
	}
	err = x.tx.QueryRow(ctx, "select coalesce(max(version), 0), now() from toolcrib_migrations").Scan(
		&x.out.Schema, &x.out.TakenAt)
	if err != nil {
		return err
	}
	tables, err := tenantTables(ctx, x.tx)
	if err != nil {
		return err
	}
	if err := x.rows(ctx, tenantTable{Name: "tenants", Key: []string{"id"}}, exportedTable{}, "id"); err != nil {
		return err
	}
	for _, t := range tables {
		what, known := exportedTables[t.Name]
		switch why := notExported[t.Name]; {
		case why != "":
			x.to.Left(t.Name, why)
			continue
		case !known:
			return &tool.Error{
				Kind: tool.Conflict, Op: "store.ExportTenant",
				Msg: fmt.Sprintf("the database has a table %s that this binary does not know: use a newer binary", t.Name),
			}
		}
		switch {
		case what.chain:
			err = x.chain(ctx)
		case what.content != "":
			err = x.contents(ctx, t, what)
		default:
			err = x.rows(ctx, t, what, "tenant_id")
		}
		if err != nil {
			return fmt.Errorf("exporting %s: %w", t.Name, err)
		}
	}
	return x.stored(ctx)
}

// rows writes a table, less its secrets.
func (x *exporter) rows(ctx context.Context, t tenantTable, what exportedTable, of string) error {
	columns := "*"
	if len(what.secret) > 0 {
		x.to.Left(t.Name+": "+strings.Join(what.secret, ", "), "secrets")
	}
	if left := slices.Concat(what.secret, []string{what.content}); len(t.Columns) > 0 {
		columns = quoted(slices.DeleteFunc(slices.Clone(t.Columns), func(c string) bool { return slices.Contains(left, c) }))
	}
	rows, err := x.tx.Query(ctx, fmt.Sprintf(`select row_to_json(r)::text
		from (select %s from %s where %s = $1 order by %s) r`, columns, t.sql(), of, quoted(t.Key)), string(x.tenant))
	if err != nil {
		return err
	}
	defer rows.Close()
	out, err := x.to.Create("tables/" + t.Name + ".ndjson")
	if err != nil {
		return err
	}
	var line bytes.Buffer
	for rows.Next() {
		var raw []byte
		if err := rows.Scan(&raw); err != nil {
			return closing(out, err)
		}
		line.Reset()
		if err := json.Compact(&line, raw); err != nil { // A column of JSON may have several lines.
			return closing(out, err)
		}
		line.WriteByte('\n')
		if _, err := out.Write(line.Bytes()); err != nil {
			return closing(out, err)
		}
	}
	return closing(out, rows.Err())
}

// closing closes what was written, and returns the first error.
func closing(out io.Closer, err error) error {
	if closeErr := out.Close(); err == nil {
		err = closeErr
	}
	return err
}

// contents writes a table without its contents, and each content as a file. The rows of one name
// are parts of one content, in the order of the key.
func (x *exporter) contents(ctx context.Context, t tenantTable, what exportedTable) error {
	if err := x.rows(ctx, t, what, "tenant_id"); err != nil {
		return err
	}
	named := make([]string, len(what.name))
	for i, c := range what.name {
		named[i] = pgx.Identifier{c}.Sanitize() + "::text"
	}
	rows, err := x.tx.Query(ctx, fmt.Sprintf("select array[%s], %s from %s where tenant_id = $1 order by %s",
		strings.Join(named, ", "), quoted([]string{what.content}), t.sql(), quoted(t.Key)), string(x.tenant))
	if err != nil {
		return err
	}
	defer rows.Close()
	var out io.WriteCloser
	last := ""
	for rows.Next() {
		var parts []string
		var content []byte
		if err = rows.Scan(&parts, &content); err != nil {
			break
		}
		if name := strings.Join(parts, "/"); out == nil || name != last {
			if out != nil {
				err = out.Close()
			}
			if out, last = nil, name; err == nil {
				out, err = x.to.Create("contents/" + what.folder + "/" + name)
			}
			if err != nil {
				break
			}
		}
		if _, err = out.Write(content); err != nil {
			break
		}
	}
	if err == nil {
		err = rows.Err()
	}
	if out != nil {
		return closing(out, err)
	}
	return err
}

// auditPage is how many rows of the audit log are read at a time.
const auditPage = 500

// chain writes the sealed rows of the audit log in the order of the chain.
func (x *exporter) chain(ctx context.Context) error {
	state := &x.out.Audit
	err := x.tx.QueryRow(ctx, `select coalesce(max(h.seq), 0), coalesce(max(h.hash), ''),
		(select count(*) from audit_log l where l.tenant_id = $1 and l.seq is null)
		from audit_heads h where h.tenant_id = $1`, string(x.tenant)).Scan(&state.Seq, &state.Hash, &state.Unsealed)
	if err != nil {
		return err
	}
	out, err := x.to.Create("audit.jsonl")
	if err != nil {
		return err
	}
	for after := int64(0); ; {
		rows, err := db.New(x.tx).ListAuditChain(ctx, db.ListAuditChainParams{
			ScopeID: string(x.tenant), After: after, Limit: auditPage,
		})
		if err != nil || len(rows) == 0 {
			state.LastSeq = after
			return closing(out, err)
		}
		for _, row := range rows {
			e := entryOf(row)
			line, err := x.entry(e)
			if err == nil {
				_, err = out.Write(append(bytes.TrimSpace(line), '\n'))
			}
			if err != nil {
				return closing(out, err)
			}
			after = e.Seq
		}
	}
}

// stored lists the files whose contents are in stores of objects.
func (x *exporter) stored(ctx context.Context) error {
	rows, err := x.tx.Query(ctx, `select id::text, location from files where tenant_id = $1 and location <> $2 and stored
		order by id`, string(x.tenant), postgresFiles)
	if err != nil {
		return err
	}
	x.out.Stored, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (LeftContent, error) {
		c := LeftContent{Ref: file.Ref{Tenant: x.tenant}}
		err := row.Scan(&c.ID, &c.Location)
		return c, err
	})
	return err
}
