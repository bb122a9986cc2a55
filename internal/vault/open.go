package vault

import (
	"context"
	"fmt"

	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

var (
	_ secret.Resolver = (*Vault)(nil)
	_ secret.Finder   = (*Vault)(nil)
)

// Resolve implements [secret.Resolver]. An expired credential is Denied, so that no other source
// replaces it.
func (v *Vault) Resolve(ctx context.Context, tenant tool.TenantID, ref string) (secret.Value, error) {
	s, err := v.store.OpenCredential(ctx, tenant, ref)
	if err != nil {
		return secret.Value{}, err
	}
	return v.open(ctx, s)
}

// Find implements [secret.Finder].
func (v *Vault) Find(ctx context.Context, tenant tool.TenantID, sel secret.Selector) (secret.Value, error) {
	s, err := v.store.OpenSelected(ctx, tenant, sel)
	if err != nil {
		return secret.Value{}, err
	}
	return v.open(ctx, s)
}

func (v *Vault) open(ctx context.Context, s Sealed) (secret.Value, error) {
	if s.Expired {
		return secret.Value{}, &tool.Error{Kind: tool.Denied, Op: "vault.Resolve", Msg: fmt.Sprintf(
			"credential %q has expired: renew it with toolcrib credential rotate %s --expires DURATION", s.Ref, s.Ref)}
	}
	value, err := v.decrypt(ctx, s)
	if err != nil {
		return secret.Value{}, err
	}
	v.uses.note(s.Credential)
	return secret.NewValue(value, s.Hosts...), nil
}
