package vault

import (
	"context"

	"github.com/toolcrib/toolcrib/tool"
)

// resealBatch is the number of credentials re-encrypted at a time.
const resealBatch = 100

// Rewrapped is the outcome of [Vault.Rewrap].
type Rewrapped struct {
	Keys      int // Of the tenant.
	Rewrapped int // Number of those rewrapped.
}

// Rewrap wraps the data keys of a tenant by the first key of the keyring. The other keys are
// needed until this is done for all tenants, in all processes. It is idempotent.
func (v *Vault) Rewrap(ctx context.Context, tenant tool.TenantID) (Rewrapped, error) {
	primary, err := v.keys.primary()
	if err != nil {
		return Rewrapped{}, err
	}
	keys, err := v.store.ListDataKeys(ctx, tenant)
	if err != nil {
		return Rewrapped{}, err
	}
	done := Rewrapped{Keys: len(keys)}
	for _, k := range keys {
		if k.KEK == primary.ID {
			continue
		}
		seed, err := v.keys.unwrap(ctx, k.DataKey)
		if err != nil {
			return done, err
		}
		wrapped, err := v.keys.wrap(ctx, k.DataKey, seed)
		if err != nil {
			return done, err
		}
		if err := v.store.RewrapDataKey(ctx, wrapped, k.KEK); err != nil {
			return done, err
		}
		done.Rewrapped++
	}
	return done, nil
}

// Resealed is the outcome of [Vault.RotateDataKey].
type Resealed struct {
	KeyVersion int // Of the data key of all credentials.
	Resealed   int // Number of re-encrypted credentials and texts of other records.
}

// RotateDataKey creates a new data key for a tenant, and re-encrypts its credentials by it. They
// can be read and changed meanwhile. A tenant without credentials has no data key, and gets
// none. [Vault.Reseal] resumes an interrupted rotation.
func (v *Vault) RotateDataKey(ctx context.Context, tenant tool.TenantID) (Resealed, error) {
	if _, err := v.keys.primary(); err != nil {
		return Resealed{}, err
	}
	newest, err := v.store.NewestDataKey(ctx, tenant)
	switch {
	case err != nil && tool.KindOf(err) == tool.NotFound:
		return Resealed{}, nil
	case err != nil:
		return Resealed{}, err
	}
	next, err := v.keys.generate(ctx, tenant, newest.Version+1)
	if err != nil {
		return Resealed{}, err
	}
	if _, err := v.store.AddDataKey(ctx, next); err != nil {
		return Resealed{}, err
	}
	return v.Reseal(ctx, tenant)
}

// Reseal re-encrypts what uses an older data key of a tenant than its newest: credentials, and
// texts of other records.
func (v *Vault) Reseal(ctx context.Context, tenant tool.TenantID) (Resealed, error) {
	newest, err := v.store.NewestDataKey(ctx, tenant)
	switch {
	case err != nil && tool.KindOf(err) == tool.NotFound:
		return Resealed{}, nil
	case err != nil:
		return Resealed{}, err
	}
	done := Resealed{KeyVersion: newest.Version}
	for {
		batch, err := v.store.ListSealedBefore(ctx, tenant, newest.Version, resealBatch)
		if err != nil {
			return done, err
		}
		if len(batch) == 0 {
			texts, err := v.resealTexts(ctx, tenant, newest.Version)
			done.Resealed += texts
			return done, err
		}
		for _, s := range batch {
			value, err := v.decrypt(ctx, s)
			if err != nil {
				return done, err
			}
			next, err := v.seal(ctx, s.Credential, value)
			if err != nil {
				return done, err
			}
			// A concurrent change has encrypted it with the new key, or it is listed again.
			replaced, err := v.store.ResealCredential(ctx, next)
			if err != nil {
				return done, err
			}
			if replaced {
				done.Resealed++
			}
		}
	}
}

// Status returns the data keys of a tenant, with the number of credentials of each.
func (v *Vault) Status(ctx context.Context, tenant tool.TenantID) ([]DataKeyUse, error) {
	return v.store.ListDataKeys(ctx, tenant)
}
