package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// erasuresTable has the records of erasures, which outlive their tenants.
const erasuresTable = "tenant_erasures"

// tenantTable is a table with rows of tenants, as the catalog of the database has it.
type tenantTable struct {
	Name    string
	Columns []string
	Key     []string // Columns of the primary key.
	Refs    []string // Other tables that it references.
	Group   []string // Columns whose rows reference one another: they are deleted together.
}

// sql quotes the name for a statement.
func (t tenantTable) sql() string { return pgx.Identifier{t.Name}.Sanitize() }

func quoted(columns []string) string {
	out := make([]string, len(columns))
	for i, c := range columns {
		out[i] = pgx.Identifier{c}.Sanitize()
	}
	return strings.Join(out, ", ")
}

// readTenantTables lists the tables with a column tenant_id, without partitions, in the order of
// their names.
const readTenantTables = `
	select c.relname::text,
		(select array_agg(a.attname::text order by a.attnum) from pg_attribute a
			where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped),
		coalesce((select array_agg(a.attname::text order by k.place)
			from pg_index i cross join unnest(i.indkey) with ordinality as k (attnum, place)
			join pg_attribute a on a.attrelid = c.oid and a.attnum = k.attnum
			where i.indrelid = c.oid and i.indisprimary), '{}'),
		coalesce((select array_agg(distinct r.relname::text) from pg_constraint f join pg_class r on r.oid = f.confrelid
			where f.conrelid = c.oid and f.contype = 'f' and f.confrelid <> c.oid), '{}'),
		coalesce((select array_agg(distinct a.attname::text)
			from pg_constraint f cross join unnest(f.conkey, f.confkey) as p (own, other)
			join pg_attribute a on a.attrelid = c.oid and a.attnum = p.own
			where f.conrelid = c.oid and f.contype = 'f' and f.confrelid = c.oid and f.confdeltype in ('a', 'r')
			  and p.own = p.other and a.attname <> 'tenant_id'), '{}')
	from pg_class c
	where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
	  and c.relname <> $1
	  and exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped)
	order by c.relname`

func tenantTables(ctx context.Context, tx pgx.Tx) ([]tenantTable, error) {
	rows, err := tx.Query(ctx, readTenantTables, erasuresTable)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[tenantTable])
}

// ofTenant runs fn in a transaction of the owner, which row-level security binds to the rows of
// one tenant.
func (p *Platform) ofTenant(ctx context.Context, op string, tenant tool.TenantID, fn func(tx pgx.Tx) error) error {
	if !tool.ValidID(string(tenant)) {
		return notFound(op, "tenant not found")
	}
	s := p.store
	return s.run(ctx, op, func(ctx context.Context) error {
		return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
			if err := s.enterTenant(ctx, tx, op, tenant); err != nil {
				return err
			}
			return fn(tx)
		})
	})
}

// allTerms is a query for words that every passage meets: without one, no passage is seen.
const allTerms = "none | !none"

func (s *Store) enterTenant(ctx context.Context, tx pgx.Tx, op string, tenant tool.TenantID) error {
	if err := db.New(bind(ctx, tx)).SetTenant(ctx, s.settings(ctx, op, tenant)); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, "select set_config('app.terms', $1, true)", allTerms)
	return err
}

// TableRows is how many rows of a tenant a table has.
type TableRows struct {
	Table string `json:"table"`
	Rows  int64  `json:"rows"`
}

// TenantRows counts the rows of a tenant in each table that has any, in the order of their names.
// The row of the tenant itself is counted in "tenants". A tenant that never was has none.
func (p *Platform) TenantRows(ctx context.Context, tenant tool.TenantID) (counts []TableRows, err error) {
	err = p.ofTenant(ctx, "store.TenantRows", tenant, func(tx pgx.Tx) error {
		counts, err = countTenant(ctx, tx, tenant)
		return err
	})
	return counts, err
}

func countTenant(ctx context.Context, tx pgx.Tx, tenant tool.TenantID) ([]TableRows, error) {
	tables, err := tenantTables(ctx, tx)
	if err != nil {
		return nil, err
	}
	tables = append(tables, tenantTable{Name: "tenants"})
	slices.SortFunc(tables, func(a, b tenantTable) int { return strings.Compare(a.Name, b.Name) })
	var counts []TableRows
	for _, t := range tables {
		of := "tenant_id"
		if t.Name == "tenants" {
			of = "id"
		}
		var n int64
		err := tx.QueryRow(ctx, fmt.Sprintf("select count(*) from %s where %s = $1", t.sql(), of), string(tenant)).Scan(&n)
		if err != nil {
			return nil, fmt.Errorf("counting %s: %w", t.Name, err)
		}
		if n > 0 {
			counts = append(counts, TableRows{t.Name, n})
		}
	}
	return counts, nil
}
