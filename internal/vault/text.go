package vault

import (
	"context"
	"fmt"

	"github.com/toolcrib/toolcrib/tool"
)

// Text is an encrypted text of a record of a tenant that is not a credential, such as the
// secret of a webhook. Everything but the version of its key is bound to the ciphertext.
type Text struct {
	Tenant     tool.TenantID
	Record     string // The kind of record, such as "webhook".
	ID         string // Of the record.
	Version    int    // Of the text.
	KeyVersion int    // Of the tenant's data key.
	Ciphertext []byte
}

func (t Text) binding() []byte { return bound("text of a record", t.Tenant, t.Record, t.ID, t.Version) }

// SealText encrypts a text by the tenant's newest data key, and returns t with it. It fails with
// [ErrNoKeys].
func (v *Vault) SealText(ctx context.Context, t Text, text string) (Text, error) {
	key, err := v.currentKey(ctx, t.Tenant)
	if err != nil {
		return Text{}, err
	}
	t.KeyVersion = key.version
	if t.Ciphertext, err = key.cipher.Encrypt([]byte(text), t.binding()); err != nil {
		return Text{}, fmt.Errorf("encrypting the text of a record: %w", err)
	}
	return t, nil
}

// OpenText decrypts a text. It fails with [ErrNoKeys].
func (v *Vault) OpenText(ctx context.Context, t Text) (string, error) {
	key, err := v.keyOf(ctx, t.Tenant, t.KeyVersion)
	if err != nil {
		return "", err
	}
	if key == nil {
		return "", unreadable(fmt.Errorf("the tenant has no data key %d", t.KeyVersion))
	}
	text, err := key.cipher.Decrypt(t.Ciphertext, t.binding())
	if err != nil {
		return "", unreadable(err)
	}
	return string(text), nil
}

// resealTexts re-encrypts texts of a tenant that use an older data key.
func (v *Vault) resealTexts(ctx context.Context, tenant tool.TenantID, keyVersion int) (resealed int, err error) {
	for {
		batch, err := v.store.ListSealedTexts(ctx, tenant, keyVersion, resealBatch)
		if err != nil || len(batch) == 0 {
			return resealed, err
		}
		for _, t := range batch {
			text, err := v.OpenText(ctx, t)
			if err != nil {
				return resealed, err
			}
			next, err := v.SealText(ctx, t, text)
			if err != nil {
				return resealed, err
			}
			// A text that was replaced meanwhile is listed again if it uses an older key.
			replaced, err := v.store.ResealText(ctx, next)
			if err != nil {
				return resealed, err
			}
			if replaced {
				resealed++
			}
		}
	}
}
