package secret

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/toolcrib/toolcrib/tool"
)

// Resolver opens secrets by reference. Implementations are safe for concurrent use.
//
// Resolve fails with a [*tool.Error]: NotFound when the tenant has no such secret, whether or
// not others have; Invalid when ref is malformed; Unavailable when the store does not answer.
type Resolver interface {
	Resolve(ctx context.Context, tenant tool.TenantID, ref string) (Value, error)
}

// ResolverFunc is a function as a [Resolver].
type ResolverFunc func(ctx context.Context, tenant tool.TenantID, ref string) (Value, error)

// Resolve calls f.
func (f ResolverFunc) Resolve(ctx context.Context, tenant tool.TenantID, ref string) (Value, error) {
	return f(ctx, tenant, ref)
}

// First returns a resolver that tries each of resolvers in turn and stops at the first secret,
// or at the first error other than NotFound: a failed source must not be replaced by a later
// one.
func First(resolvers ...Resolver) Resolver {
	return ResolverFunc(func(ctx context.Context, tenant tool.TenantID, ref string) (Value, error) {
		for _, r := range resolvers {
			v, err := r.Resolve(ctx, tenant, ref)
			if err == nil || tool.KindOf(err) != tool.NotFound {
				return v, err
			}
		}
		return Value{}, notFound(ref)
	})
}

// Open resolves a secret and adds it to the context's [Redactor], so that it is removed from
// the call's result. A secret that is not found is Denied: the call lacks an authority.
func Open(ctx context.Context, r Resolver, tenant tool.TenantID, ref string) (Value, error) {
	if r == nil {
		return Value{}, &tool.Error{
			Kind: tool.Denied, Op: "secret.Open",
			Msg: fmt.Sprintf("credential %q is not available: no credential store is configured", ref),
		}
	}
	v, err := r.Resolve(ctx, tenant, ref)
	if e, ok := errors.AsType[*tool.Error](err); ok && e.Kind == tool.NotFound {
		return Value{}, &tool.Error{Kind: tool.Denied, Op: "secret.Open", Msg: unavailable(ref), Err: err}
	}
	if err != nil {
		return Value{}, fmt.Errorf("opening credential %q: %w", ref, err)
	}
	Note(ctx, v)
	return v, nil
}

// unavailable returns the message and remedy for a missing secret.
func unavailable(ref string) string {
	return fmt.Sprintf("credential %q is not available: create it with toolcrib credential set %s --host HOST", ref, ref)
}

var refPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)

// ValidRef reports whether ref can name a secret: a letter or digit, then up
// to 127 letters, digits, dots, dashes and underscores.
func ValidRef(ref string) bool { return refPattern.MatchString(ref) }

func checkNames(tenant tool.TenantID, ref string) error {
	if !ValidRef(ref) {
		return &tool.Error{
			Kind: tool.Invalid, Op: "secret.Resolve",
			Msg: fmt.Sprintf("%.40q can't name a credential: want letters, digits, dots, dashes and underscores", ref),
		}
	}
	if tenant != "" && !ValidRef(string(tenant)) {
		return &tool.Error{Kind: tool.Invalid, Op: "secret.Resolve", Msg: "malformed tenant"}
	}
	return nil
}

func notFound(ref string) error {
	return &tool.Error{Kind: tool.NotFound, Op: "secret.Resolve", Msg: fmt.Sprintf("no credential %q", ref)}
}
