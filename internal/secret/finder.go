package secret

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/toolcrib/toolcrib/tool"
)

// Selector finds a tenant's credential by its purpose, where no tool refers to it (reference
// number S3-56).
type Selector struct {
	Category string // Such as "custom".
	Provider string // Such as "serper".
	Variant  string // Distinguishes credentials of one provider; empty for the default one.
}

// String returns "category/provider" or "category/provider/variant".
func (s Selector) String() string {
	if s.Variant == "" {
		return s.Category + "/" + s.Provider
	}
	return s.Category + "/" + s.Provider + "/" + s.Variant
}

// Finder opens credentials by their purpose. Implementations are safe for concurrent use, and
// fail like a [Resolver].
type Finder interface {
	Find(ctx context.Context, tenant tool.TenantID, s Selector) (Value, error)
}

// OpenFirst opens the first credential that f finds for one of selectors, and adds it to the
// context's [Redactor]. It fails with NotFound where the tenant has none of them; any other
// error ends the search: when the store fails, no later selector is tried.
func OpenFirst(ctx context.Context, f Finder, tenant tool.TenantID, selectors ...Selector) (Value, Selector, error) {
	if f != nil {
		for _, s := range selectors {
			v, err := f.Find(ctx, tenant, s)
			if e, ok := errors.AsType[*tool.Error](err); ok && e.Kind == tool.NotFound {
				continue
			}
			if err != nil {
				return Value{}, s, fmt.Errorf("finding credential %s: %w", s, err)
			}
			Note(ctx, v)
			return v, s, nil
		}
	}
	return Value{}, Selector{}, &tool.Error{
		Kind: tool.NotFound, Op: "secret.OpenFirst", Msg: "the tenant has no such credential",
	}
}

// Field returns a member of a secret whose text is a JSON object, such as
// {"client_id": "…", "client_secret": "…"}: its text where it is a string that
// is not empty, bound to the same hosts.
func (v Value) Field(name string) (Value, bool) {
	text, ok := v.members()[name]
	if !ok || text == "" {
		return Value{}, false
	}
	return NewValue(text, v.hosts...), true
}

// members returns the string members of a secret that is a JSON object.
func (v Value) members() map[string]string {
	raw := bytes.TrimSpace([]byte(v.Reveal()))
	if len(raw) == 0 || raw[0] != '{' {
		return nil
	}
	var all map[string]any
	if json.Unmarshal(raw, &all) != nil {
		return nil
	}
	texts := make(map[string]string, len(all))
	for name, member := range all {
		if s, ok := member.(string); ok {
			texts[name] = s
		}
	}
	return texts
}

// secrets returns all parts of v to redact: its text and, where that is a JSON object, its
// members, except for those whose name shows that they are not secret.
func (v Value) secrets() []Value {
	all := []Value{v}
	for name, text := range v.members() {
		if !plainMember(name) {
			all = append(all, NewValue(text))
		}
	}
	return all
}

// plainMember reports whether a member of a credential is not secret: its destination or
// owner.
func plainMember(name string) bool {
	switch name {
	case "endpoint", "url", "token_url", "username", "user", "client_id", "scope", "scopes", "audience", "type", "region":
		return true
	default:
		return false
	}
}
