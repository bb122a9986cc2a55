package vault

import (
	"context"

	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

// Store stores encrypted credentials and data keys. Package store implements it; storetest tests
// it against this contract.
//
// Every method acts within one tenant: rows of others are NotFound, like rows that do not exist.
// A name is the ref of a credential or its id. No method finds revoked credentials.
type Store interface {
	// CreateCredential stores a new credential. It fails with Conflict when the
	// tenant has one with its ref or selector.
	CreateCredential(ctx context.Context, s Sealed) (Credential, error)
	// ChangeCredential replaces all except for id, ref and times of the credential
	// with s.ID, if its revision is still s.Revision; else it fails with
	// [ErrChanged]. A new s.Version sets RotatedAt.
	ChangeCredential(ctx context.Context, s Sealed) (Credential, error)
	// RevokeCredential ends a credential and destroys its ciphertext.
	RevokeCredential(ctx context.Context, tenant tool.TenantID, id string) (Credential, error)
	// FindCredential returns a credential with its ciphertext.
	FindCredential(ctx context.Context, tenant tool.TenantID, name string) (Sealed, error)
	// ListCredentials returns up to limit credentials in the order of refs.
	ListCredentials(ctx context.Context, tenant tool.TenantID, afterRef string, limit int) ([]Credential, error)
	// OpenCredential returns the credential of a ref for its use, in one round trip.
	OpenCredential(ctx context.Context, tenant tool.TenantID, ref string) (Sealed, error)
	// OpenSelected is OpenCredential by the credential's purpose.
	OpenSelected(ctx context.Context, tenant tool.TenantID, s secret.Selector) (Sealed, error)
	// NoteUse sets LastUsedAt unless that was less than a minute ago.
	NoteUse(ctx context.Context, tenant tool.TenantID, id string) error

	// AddDataKey stores a data key, and returns the stored one of its version, which
	// may be a concurrent writer's.
	AddDataKey(ctx context.Context, k DataKey) (DataKey, error)
	// NewestDataKey returns the data key of the greatest version. It fails with
	// NotFound where the tenant has none.
	NewestDataKey(ctx context.Context, tenant tool.TenantID) (DataKey, error)
	// ListDataKeys returns the data keys, and how many credentials each encrypts.
	ListDataKeys(ctx context.Context, tenant tool.TenantID) ([]DataKeyUse, error)
	// RewrapDataKey replaces Wrapped and KEK of k, if its KEK is still from.
	RewrapDataKey(ctx context.Context, k DataKey, from string) error
	// ListSealedBefore returns up to limit credentials whose KeyVersion is less
	// than keyVersion.
	ListSealedBefore(ctx context.Context, tenant tool.TenantID, keyVersion, limit int) ([]Sealed, error)
	// ResealCredential replaces Ciphertext and KeyVersion of a credential, if it is
	// still of s.Revision and s.Version, and reports whether it did. Neither the
	// revision nor any time changes.
	ResealCredential(ctx context.Context, s Sealed) (bool, error)

	// ListSealedTexts returns texts of up to limit records whose KeyVersion is less than
	// keyVersion.
	ListSealedTexts(ctx context.Context, tenant tool.TenantID, keyVersion, limit int) ([]Text, error)
	// ResealText replaces Ciphertext and KeyVersion of a text, if its record still has that
	// Version of it, and reports whether it did.
	ResealText(ctx context.Context, t Text) (bool, error)
}

// DataKeyUse is a data key, and how many credentials it encrypts.
type DataKeyUse struct {
	DataKey
	Credentials int
}
