package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolcrib/toolcrib/tool"
)

// Erasure is the record of the erasure of a tenant, which stays when the tenant is gone.
type Erasure struct {
	Tenant          tool.TenantID    `json:"tenant_id"`
	Slug            string           `json:"slug"`
	RequestedBy     string           `json:"requested_by"`
	StartedAt       time.Time        `json:"started_at"`
	KeysDestroyedAt *time.Time       `json:"keys_destroyed_at,omitempty"`
	FinishedAt      *time.Time       `json:"finished_at,omitempty"`
	Counts          map[string]int64 `json:"counts"` // Rows of each table when it began.
	Workflows       int64            `json:"workflows"`
	Schedules       int64            `json:"schedules"`
	Objects         int64            `json:"objects"`   // Contents that were deleted in stores of objects.
	AuditSeq        int64            `json:"audit_seq"` // The last row of the tenant's audit log.
	AuditHash       string           `json:"audit_hash"`
}

const erasureColumns = `tenant_id::text, slug, requested_by, started_at, keys_destroyed_at, finished_at, counts,
	workflows, schedules, objects, audit_seq, audit_hash`

func scanErasure(row pgx.Row) (Erasure, error) {
	var e Erasure
	var counts json.RawMessage
	err := row.Scan(&e.Tenant, &e.Slug, &e.RequestedBy, &e.StartedAt, &e.KeysDestroyedAt, &e.FinishedAt, &counts,
		&e.Workflows, &e.Schedules, &e.Objects, &e.AuditSeq, &e.AuditHash)
	if err != nil {
		return Erasure{}, err
	}
	return e, decode(counts, &e.Counts)
}

// FindErasure returns the record of an erasure by the slug or id of its tenant. It fails with
// tool.NotFound.
func (p *Platform) FindErasure(ctx context.Context, slugOrID string) (e Erasure, err error) {
	const op = "store.FindErasure"
	err = p.store.run(ctx, op, func(ctx context.Context) error {
		e, err = scanErasure(p.store.pool.QueryRow(ctx, "select "+erasureColumns+
			" from tenant_erasures where tenant_id::text = $1 or slug = $1 order by started_at desc limit 1", text(slugOrID)))
		return failure(op, err)
	})
	return e, explain(err, tool.NotFound, fmt.Sprintf("no tenant %.64q was erased", slugOrID))
}

// BeginErasure begins the erasure of a suspended tenant, or returns the record of the one that has
// begun. From then on the tenant cannot be resumed, and nothing is added to its audit log. It
// fails with tool.NotFound, and with tool.Conflict where the tenant is not suspended.
func (p *Platform) BeginErasure(ctx context.Context, tenant tool.TenantID) (e Erasure, err error) {
	const op = "store.BeginErasure"
	if err := p.store.SealAudit(ctx); err != nil {
		return Erasure{}, fmt.Errorf("sealing the audit log: %w", err)
	}
	err = p.ofTenant(ctx, op, tenant, func(tx pgx.Tx) error {
		counts, err := countTenant(ctx, tx, tenant)
		if err != nil {
			return err
		}
		byTable := make(map[string]int64, len(counts))
		for _, c := range counts {
			byTable[c.Table] = c.Rows
		}
		raw, err := encode(byTable)
		if err != nil {
			return err
		}
		e, err = scanErasure(tx.QueryRow(ctx,
			"select "+erasureColumns+" from begin_tenant_erasure($1::uuid, $2::json)", string(tenant), raw))
		if codeOf(err) == codeNotInState {
			return &tool.Error{
				Kind: tool.Conflict, Op: op, Err: err,
				Msg: "the tenant is not suspended: suspend it first, so that nothing of it runs",
			}
		}
		return failure(op, err)
	})
	return e, explain(err, tool.NotFound, "tenant not found")
}

// DestroyTenantKeys deletes the data keys of a tenant whose erasure has begun, with the credentials
// that they encrypt and its API keys. What is encrypted by them elsewhere cannot be read any more.
func (p *Platform) DestroyTenantKeys(ctx context.Context, tenant tool.TenantID) error {
	return p.ofTenant(ctx, "store.DestroyTenantKeys", tenant, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "select destroy_tenant_keys($1::uuid)", string(tenant))
		return err
	})
}

// Erased is what was deleted outside the database.
type Erased struct {
	Workflows, Schedules, Objects int64
}

// NoteErased adds to what an erasure has deleted outside the database.
func (p *Platform) NoteErased(ctx context.Context, tenant tool.TenantID, n Erased) error {
	if n == (Erased{}) {
		return nil
	}
	return p.ofTenant(ctx, "store.NoteErased", tenant, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `update tenant_erasures set workflows = workflows + $2, schedules = schedules + $3,
			objects = objects + $4 where tenant_id = $1 and finished_at is null`, string(tenant), n.Workflows, n.Schedules,
			n.Objects)
		return err
	})
}

// EraseRows configures [Platform.EraseRows].
type EraseRows struct {
	Batch int           // Rows of one transaction. Defaults to 500.
	Pause time.Duration // Rest between two transactions.
	Only  []string      // Delete these tables alone: [FileTables] or [StartTables].
	// Deleted is called after each transaction, with the rows that were deleted. May be nil.
	Deleted func(TableRows)
}

const (
	// eraseBatch is the number of rows deleted in one transaction.
	eraseBatch = 500
	// documentWeight is how many times fewer documents are deleted at once.
	documentWeight = 25
)

// Tables that are deleted before and behind all others: the index of words, which the deletion of
// documents would otherwise rewrite; what deleted files and overrides leave; the log.
var (
	erasedFirst = []string{"word_postings", "word_documents", "word_blocks"}
	erasedLast  = []string{"left_files", "tool_override_versions", "audit_log", "audit_heads"}
)

// FileTables have the files of tenants. Deleted, they leave their contents in stores of objects to
// [Platform.LeftContents].
func FileTables() []string { return []string{"file_chunks", "files"} }

// StartTables have what processes start workflows and schedules from.
func StartTables() []string { return []string{"workflow_starts", "schedule_starts", "schedules"} }

// EraseRows deletes the rows of a tenant whose erasure has begun, all but the tenant itself, in
// batches of one transaction each. It may be interrupted and called again.
func (p *Platform) EraseRows(ctx context.Context, tenant tool.TenantID, how EraseRows) error {
	const op = "store.EraseRows"
	if how.Batch <= 0 {
		how.Batch = eraseBatch
	}
	if _, err := p.FindErasure(ctx, string(tenant)); err != nil {
		return err
	}
	var tables []tenantTable
	err := p.ofTenant(ctx, op, tenant, func(tx pgx.Tx) (err error) {
		tables, err = tenantTables(ctx, tx)
		return err
	})
	if err != nil {
		return err
	}
	if tables, err = erasureOrder(tables); err != nil {
		return err
	}
	for _, t := range tables {
		if how.Only != nil && !slices.Contains(how.Only, t.Name) || len(t.Key) == 0 {
			continue // Rows without a key go with those that they reference.
		}
		if err := p.eraseTable(ctx, tenant, t, how); err != nil {
			return fmt.Errorf("deleting %s: %w", t.Name, err)
		}
	}
	return nil
}

func (p *Platform) eraseTable(ctx context.Context, tenant tool.TenantID, t tenantTable, how EraseRows) error {
	most := how.Batch
	if t.Name == "documents" { // The words of their passages go with them.
		most = max(1, most/documentWeight)
	}
	for {
		var deleted int64
		err := p.ofTenant(ctx, "store.EraseRows", tenant, func(tx pgx.Tx) error {
			tag, err := tx.Exec(ctx, t.deletion(), string(tenant), most)
			deleted = tag.RowsAffected()
			return err
		})
		if err != nil || deleted == 0 {
			return err
		}
		if how.Deleted != nil {
			how.Deleted(TableRows{t.Name, deleted})
		}
		if err := rest(ctx, how.Pause); err != nil {
			return err
		}
	}
}

// deletion returns the statement that deletes a batch of a tenant's rows: of so many rows, or of so
// many rows and those that may reference them.
func (t tenantTable) deletion() string {
	by := quoted(t.Key)
	if len(t.Group) > 0 {
		by = quoted(t.Group)
	}
	return fmt.Sprintf(`delete from %[1]s where tenant_id = $1 and (%[2]s) in (
		select %[2]s from %[1]s where tenant_id = $1 limit $2)`, t.sql(), by)
}

// erasureOrder returns the tables in an order in which no row is deleted that another references.
func erasureOrder(tables []tenantTable) ([]tenantTable, error) {
	place := func(t tenantTable) int {
		switch {
		case slices.Contains(erasedFirst, t.Name):
			return 0
		case slices.Contains(erasedLast, t.Name):
			return 2
		}
		return 1
	}
	left := slices.Clone(tables)
	slices.SortStableFunc(left, func(a, b tenantTable) int { return place(a) - place(b) })
	var order []tenantTable
	for len(left) > 0 {
		i := slices.IndexFunc(left, func(t tenantTable) bool {
			return !slices.ContainsFunc(left, func(o tenantTable) bool { return slices.Contains(o.Refs, t.Name) })
		})
		if i < 0 {
			return nil, errors.New("tables reference one another in a circle")
		}
		order = append(order, left[i])
		left = slices.Delete(left, i, i+1)
	}
	return order, nil
}

// FinishErasure deletes a tenant that has no rows any more, and closes the record of its erasure. It
// fails with tool.Conflict where rows are left, and names their tables.
func (p *Platform) FinishErasure(ctx context.Context, tenant tool.TenantID) (e Erasure, err error) {
	const op = "store.FinishErasure"
	err = p.ofTenant(ctx, op, tenant, func(tx pgx.Tx) error {
		left, err := countTenant(ctx, tx, tenant)
		if err != nil {
			return err
		}
		left = slices.DeleteFunc(left, func(c TableRows) bool { return c.Table == "tenants" })
		if len(left) > 0 {
			return &tool.Error{Kind: tool.Conflict, Op: op, Msg: fmt.Sprintf(
				"rows of the tenant were written meanwhile, in %s and perhaps other tables: repeat the erasure",
				left[0].Table)}
		}
		if _, err := tx.Exec(ctx, "delete from tenants where id = $1", string(tenant)); err != nil {
			return err
		}
		_, err = tx.Exec(ctx,
			"update tenant_erasures set finished_at = now() where tenant_id = $1 and finished_at is null", string(tenant))
		if err != nil {
			return err
		}
		e, err = scanErasure(tx.QueryRow(ctx, "select "+erasureColumns+" from tenant_erasures where tenant_id = $1",
			string(tenant)))
		return failure(op, err)
	})
	return e, err
}
