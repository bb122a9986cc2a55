package remote

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

// Keys finds a provider's API keys. They are read for each request, so that a
// rotated key is used at once.
type Keys struct {
	// Secrets resolves Ref first: the tenant's own key, then one shared by all.
	// Nil for none.
	Secrets secret.Resolver
	// Ref names the key among a tenant's secrets.
	Ref string
	// Variable is the environment variable with the operator's key, used for
	// tenants without one of their own.
	Variable string
	// Lookup reads a variable. Defaults to [os.LookupEnv].
	Lookup func(name string) (string, bool)
	// Optional permits requests without a key if there is none, such as to a local
	// model server.
	Optional bool
}

// key is an opened key and its source, for messages.
type key struct {
	value  secret.Value
	source string
}

// open finds the key to use for a tenant, bound to the host that it may be sent
// to. A source that fails is an error: the operator's key must not be used
// instead of a tenant's.
func (k Keys) open(ctx context.Context, tenant tool.TenantID, provider, host string) (key, error) {
	if k.Secrets != nil {
		v, err := k.Secrets.Resolve(ctx, tenant, k.Ref)
		switch {
		case err == nil && !v.IsZero():
			return checked(v, "the credential "+k.Ref, host)
		case err != nil && tool.KindOf(err) != tool.NotFound:
			return key{}, fmt.Errorf("opening the key for provider %q: %w", provider, err)
		}
	}
	lookup := k.Lookup
	if lookup == nil {
		lookup = os.LookupEnv
	}
	if text, _ := lookup(k.Variable); strings.TrimSpace(text) != "" {
		return checked(secret.NewValue(text), k.Variable, host)
	}
	if k.Optional {
		return key{source: "none"}, nil
	}
	return key{}, &tool.Error{
		Kind: tool.Denied, Op: "remote.Open",
		Msg: fmt.Sprintf(
			"there is no key for the model provider %q: set %s where the worker runs, or give the tenant a credential named %s",
			provider, k.Variable, k.Ref,
		),
	}
}

// checked returns a key that is valid in a header. A key without hosts of its
// own may be sent to the provider's configured host only.
func checked(v secret.Value, source, host string) (key, error) {
	text := strings.TrimSpace(v.Reveal())
	if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return key{}, &tool.Error{
			Kind: tool.Denied, Op: "remote.Open",
			Msg: source + " has no usable key: it has characters that are not allowed in a header",
		}
	}
	hosts := v.Hosts()
	if len(hosts) == 0 {
		hosts = []string{host}
	}
	return key{value: secret.NewValue(text, hosts...), source: source}, nil
}

// credential returns the key for the guard to send, or nil for none.
func (k key) credential(scheme egress.Scheme, header string) *egress.Credential {
	if k.value.IsZero() {
		return nil
	}
	return &egress.Credential{Value: k.value, Scheme: scheme, Header: header}
}
