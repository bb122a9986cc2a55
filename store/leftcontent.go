package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/toolcrib/toolcrib/file"
	"github.com/toolcrib/toolcrib/tool"
)

// LeftContent is a content in a store of objects that no file has any more.
type LeftContent struct {
	file.Ref
	Location string
}

// LeftContents returns contents that a tenant's deleted files have left in stores of objects.
func (p *Platform) LeftContents(ctx context.Context, tenant tool.TenantID, limit int) (left []LeftContent, err error) {
	err = p.ofTenant(ctx, "store.LeftContents", tenant, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `select tenant_id::text, file_id::text, location from left_files where tenant_id = $1
			order by file_id limit $2`, string(tenant), limit)
		if err != nil {
			return err
		}
		left, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (LeftContent, error) {
			var c LeftContent
			err := row.Scan(&c.Tenant, &c.ID, &c.Location)
			return c, err
		})
		return err
	})
	return left, err
}

// CountContents counts what a tenant has in stores of objects, by their locations.
func (p *Platform) CountContents(ctx context.Context, tenant tool.TenantID) (counts map[string]int64, err error) {
	err = p.ofTenant(ctx, "store.TenantRows", tenant, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `select c.location, count(*) from (
				select f.location from files f where f.tenant_id = $1 and f.location <> $2
				union all select l.location from left_files l where l.tenant_id = $1) c
			group by 1`, string(tenant), postgresFiles)
		if err != nil {
			return err
		}
		defer rows.Close()
		counts = map[string]int64{}
		for rows.Next() {
			var location string
			var n int64
			if err := rows.Scan(&location, &n); err != nil {
				return err
			}
			counts[location] = n
		}
		return rows.Err()
	})
	return counts, err
}

// DropLeftContent records that a content was deleted.
func (p *Platform) DropLeftContent(ctx context.Context, ref file.Ref) error {
	return p.ofTenant(ctx, "store.DropLeftContent", ref.Tenant, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "delete from left_files where tenant_id = $1 and file_id = $2", string(ref.Tenant), ref.ID)
		return err
	})
}
