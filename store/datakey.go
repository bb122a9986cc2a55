package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/toolcrib/toolcrib/internal/vault"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// AddDataKey implements [vault.Store].
func (s *Store) AddDataKey(ctx context.Context, k vault.DataKey) (vault.DataKey, error) {
	var row db.AddDataKeyRow
	err := s.do(ctx, "store.AddDataKey", k.Tenant, func(q *db.Queries) (err error) {
		row, err = q.AddDataKey(ctx, db.AddDataKeyParams{
			TenantID: string(k.Tenant), Version: number(k.Version), Wrapped: k.Wrapped, KekID: text(k.KEK),
		})
		if errors.Is(err, pgx.ErrNoRows) {
			return errRaced
		}
		return err
	})
	if err != nil {
		return vault.DataKey{}, explain(err, tool.NotFound, "tenant not found")
	}
	return dataKeyOf(db.TenantKey(row)), nil
}

// NewestDataKey implements [vault.Store].
func (s *Store) NewestDataKey(ctx context.Context, tenant tool.TenantID) (vault.DataKey, error) {
	row, err := ask(ctx, s.do, "store.NewestDataKey", tenant, (*db.Queries).NewestDataKey, string(tenant))
	return dataKeyOf(row), explain(err, tool.NotFound, "the tenant has no data key")
}

// ListDataKeys implements [vault.Store].
func (s *Store) ListDataKeys(ctx context.Context, tenant tool.TenantID) ([]vault.DataKeyUse, error) {
	rows, err := ask(ctx, s.do, "store.ListDataKeys", tenant, (*db.Queries).ListDataKeys, string(tenant))
	return convert(rows, func(row db.ListDataKeysRow) vault.DataKeyUse {
		return vault.DataKeyUse{DataKey: dataKeyOf(row.TenantKey), Credentials: int(row.Credentials)}
	}), err
}

// RewrapDataKey implements [vault.Store]. The second of two concurrent calls
// changes nothing: the key was rewrapped already.
func (s *Store) RewrapDataKey(ctx context.Context, k vault.DataKey, from string) error {
	return s.do(ctx, "store.RewrapDataKey", k.Tenant, func(q *db.Queries) error {
		_, err := q.RewrapDataKey(ctx, db.RewrapDataKeyParams{
			TenantID: string(k.Tenant), Version: number(k.Version), Wrapped: k.Wrapped, KekID: text(k.KEK), FromKek: text(from),
		})
		return err
	})
}

// ListSealedBefore implements [vault.Store].
func (s *Store) ListSealedBefore(
	ctx context.Context, tenant tool.TenantID, keyVersion, limit int,
) ([]vault.Sealed, error) {
	const op = "store.ListSealedBefore"
	rows, err := ask(ctx, s.do, op, tenant, (*db.Queries).ListSealedBefore, db.ListSealedBeforeParams{
		TenantID: string(tenant), KeyVersion: number(keyVersion), Limit: pageSize(limit),
	})
	return convert(rows, func(row db.ListSealedBeforeRow) vault.Sealed {
		return sealedOf(row.Credential, row.TenantKey, row.Expired)
	}), err
}

// ResealCredential implements [vault.Store].
func (s *Store) ResealCredential(ctx context.Context, c vault.Sealed) (bool, error) {
	const op = "store.ResealCredential"
	if err := checkIDs(op, c.ID); err != nil {
		return false, err
	}
	n, err := ask(ctx, s.do, op, c.Tenant, (*db.Queries).ResealCredential, db.ResealCredentialParams{
		TenantID: string(c.Tenant), ID: c.ID, Revision: c.Revision, Version: number(c.Version),
		KeyVersion: number(c.KeyVersion), Ciphertext: c.Ciphertext,
	})
	return n > 0, err
}

func dataKeyOf(row db.TenantKey) vault.DataKey {
	return vault.DataKey{
		Tenant: tool.TenantID(row.TenantID), Version: int(row.Version), Wrapped: row.Wrapped, KEK: row.KekID,
		CreatedAt: row.CreatedAt,
	}
}
