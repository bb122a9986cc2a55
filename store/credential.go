package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/internal/vault"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// CreateCredential implements [vault.Store].
func (s *Store) CreateCredential(ctx context.Context, c vault.Sealed) (vault.Credential, error) {
	const op = "store.CreateCredential"
	if err := checkIDs(op, c.ID); err != nil {
		return vault.Credential{}, err
	}
	row, err := ask(ctx, s.do, op, c.Tenant, (*db.Queries).CreateCredential, db.CreateCredentialParams{
		TenantID: string(c.Tenant), ID: c.ID, Ref: text(c.Ref),
		Category: text(c.Selector.Category), ProviderKey: text(c.Selector.Provider),
		ProviderVariant: text(c.Selector.Variant),
		Hosts:           list(c.Hosts), Version: number(c.Version), KeyVersion: number(c.KeyVersion),
		Ciphertext: c.Ciphertext, ExpiresAt: c.ExpiresAt,
	})
	if err != nil {
		return vault.Credential{}, explain(taken(err, c.Credential), tool.NotFound, "tenant not found")
	}
	return credentialOf(row), nil
}

// ChangeCredential implements [vault.Store].
func (s *Store) ChangeCredential(ctx context.Context, c vault.Sealed) (vault.Credential, error) {
	const op = "store.ChangeCredential"
	if err := checkIDs(op, c.ID); err != nil {
		return vault.Credential{}, err
	}
	var row db.Credential
	err := s.do(ctx, op, c.Tenant, func(q *db.Queries) (err error) {
		row, err = q.ChangeCredential(ctx, db.ChangeCredentialParams{
			TenantID: string(c.Tenant), ID: c.ID, Revision: c.Revision,
			Category: text(c.Selector.Category), ProviderKey: text(c.Selector.Provider),
			ProviderVariant: text(c.Selector.Variant),
			Hosts:           list(c.Hosts), Version: number(c.Version), KeyVersion: number(c.KeyVersion),
			Ciphertext: c.Ciphertext, ExpiresAt: c.ExpiresAt,
		})
		if errors.Is(err, pgx.ErrNoRows) {
			return &tool.Error{Kind: tool.Conflict, Op: op, Msg: vault.ErrChanged.Error(), Err: vault.ErrChanged}
		}
		return err
	})
	if err != nil {
		return vault.Credential{}, taken(err, c.Credential)
	}
	return credentialOf(row), nil
}

// taken replaces the message of a conflict over a ref or selector of another
// credential of the tenant.
func taken(err error, c vault.Credential) error {
	switch constraintOf(err) {
	case "credentials_ref":
		return explain(
			err, tool.Conflict, fmt.Sprintf("a credential %q exists already: rotate it, or revoke it first", c.Ref),
		)
	case "credentials_selector":
		return explain(
			err, tool.Conflict, fmt.Sprintf("a credential for %s exists already: rotate it, or revoke it first", c.Selector),
		)
	default:
		return err
	}
}

// RevokeCredential implements [vault.Store].
func (s *Store) RevokeCredential(ctx context.Context, tenant tool.TenantID, id string) (vault.Credential, error) {
	const op = "store.RevokeCredential"
	if !tool.ValidID(id) {
		return vault.Credential{}, notFound(op, nothingKept)
	}
	row, err := ask(ctx, s.do, op, tenant, (*db.Queries).RevokeCredential, db.RevokeCredentialParams{
		TenantID: string(tenant), ID: id,
	})
	return credentialOf(row), explain(err, tool.NotFound, nothingKept)
}

const nothingKept = "credential not found"

// FindCredential implements [vault.Store].
func (s *Store) FindCredential(ctx context.Context, tenant tool.TenantID, name string) (vault.Sealed, error) {
	if !tool.ValidID(name) {
		sealed, err := s.OpenCredential(ctx, tenant, name)
		return sealed, explain(err, tool.NotFound, nothingKept)
	}
	row, err := ask(ctx, s.do, "store.FindCredential", tenant, (*db.Queries).FindCredential, db.FindCredentialParams{
		TenantID: string(tenant), ID: name,
	})
	return sealedOf(row.Credential, row.TenantKey, row.Expired), explain(err, tool.NotFound, nothingKept)
}

// ListCredentials implements [vault.Store].
func (s *Store) ListCredentials(
	ctx context.Context, tenant tool.TenantID, afterRef string, limit int,
) ([]vault.Credential, error) {
	rows, err := ask(ctx, s.do, "store.ListCredentials", tenant, (*db.Queries).ListCredentials, db.ListCredentialsParams{
		TenantID: string(tenant), After: text(afterRef), Limit: pageSize(limit),
	})
	return convert(rows, credentialOf), err
}

// OpenCredential implements [vault.Store].
func (s *Store) OpenCredential(ctx context.Context, tenant tool.TenantID, ref string) (vault.Sealed, error) {
	const op = "store.OpenCredential"
	row, err := ask(ctx, s.doPlanned, op, tenant, (*db.Queries).OpenCredential, db.OpenCredentialParams{
		TenantID: string(tenant), Ref: text(ref),
	})
	return sealedOf(
		row.Credential, row.TenantKey, row.Expired,
	), explain(err, tool.NotFound, fmt.Sprintf("no credential %.130q", ref))
}

// OpenSelected implements [vault.Store].
func (s *Store) OpenSelected(ctx context.Context, tenant tool.TenantID, sel secret.Selector) (vault.Sealed, error) {
	row, err := ask(ctx, s.doPlanned, "store.OpenSelected", tenant, (*db.Queries).OpenSelected, db.OpenSelectedParams{
		TenantID: string(tenant), Category: text(sel.Category), ProviderKey: text(sel.Provider),
		ProviderVariant: text(sel.Variant),
	})
	return sealedOf(
		row.Credential, row.TenantKey, row.Expired,
	), explain(err, tool.NotFound, fmt.Sprintf("no credential for %.200s", sel))
}

// NoteUse implements [vault.Store].
func (s *Store) NoteUse(ctx context.Context, tenant tool.TenantID, id string) error {
	const op = "store.NoteUse"
	if err := checkIDs(op, id); err != nil {
		return err
	}
	return s.do(ctx, op, tenant, func(q *db.Queries) error {
		return q.NoteCredentialUse(ctx, db.NoteCredentialUseParams{TenantID: string(tenant), ID: id})
	})
}

func credentialOf(row db.Credential) vault.Credential {
	return vault.Credential{
		ID: row.ID, Tenant: tool.TenantID(row.TenantID), Ref: row.Ref,
		Selector: secret.Selector{Category: row.Category, Provider: row.ProviderKey, Variant: row.ProviderVariant},
		Hosts:    row.Hosts, Version: int(row.Version), KeyVersion: int(row.KeyVersion), Revision: row.Revision,
		CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt, RotatedAt: row.RotatedAt, LastUsedAt: row.LastUsedAt,
		ExpiresAt: row.ExpiresAt, RevokedAt: row.RevokedAt,
	}
}

func sealedOf(c db.Credential, k db.TenantKey, expired bool) vault.Sealed {
	return vault.Sealed{Credential: credentialOf(c), Ciphertext: c.Ciphertext, Key: dataKeyOf(k), Expired: expired}
}
