package secret

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/toolcrib/toolcrib/internal/encoded"
)

// MinRedactable is the length in bytes below which a secret is left in place:
// removing every "a" would hide more than the secret.
const MinRedactable = 4

// Redactor removes known secrets from text and JSON, in whatever encoding they
// appear there: see package encoded. The zero Redactor knows none. It is safe
// for concurrent use.
//
// Text is to be cleaned before it is cut: what is left of a secret at a cut is
// no secret that is known. What others have cut goes through [Redactor.TrimPartial].
type Redactor struct {
	mu    sync.RWMutex
	texts []string
	known *encoded.Set
}

// NewRedactor returns a redactor that knows values.
func NewRedactor(values ...Value) *Redactor {
	r := &Redactor{}
	r.Add(values...)
	return r
}

// Add makes r know more values, and the members of those that are JSON objects.
func (r *Redactor) Add(values ...Value) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, v := range values {
		for _, part := range v.secrets() {
			if text := part.Reveal(); !slices.Contains(r.texts, text) {
				r.texts = append(r.texts, text)
			}
		}
	}
	r.known = encoded.NewSet(MinRedactable, r.texts...)
}

// set returns what r knows; nil for nothing.
func (r *Redactor) set() *encoded.Set {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.known
}

// maxPasses bounds how often a text is searched: a replacement can leave two
// halves of another secret side by side.
const maxPasses = 4

// Text returns s without known secrets.
func (r *Redactor) Text(s string) string {
	known := r.set()
	if known == nil || len(s) < MinRedactable {
		return s
	}
	for range maxPasses {
		spans := known.Find([]byte(s))
		if len(spans) == 0 {
			return s
		}
		var out strings.Builder
		rest := 0
		for _, span := range spans {
			out.WriteString(s[rest:span.Start])
			out.WriteString(Redacted)
			rest = span.End
		}
		out.WriteString(s[rest:])
		if out.String() == s {
			return s // The mark itself is a secret.
		}
		s = out.String()
	}
	return s
}

// Holds reports whether raw, which may be binary, has a known secret in it.
// What is compressed or encrypted is not looked into.
func (r *Redactor) Holds(raw []byte) bool { return len(r.set().Find(raw)) > 0 }

// TrimPartial returns s without the beginning of a known secret at its end,
// for text that was cut before it was cleaned.
func (r *Redactor) TrimPartial(s string) string { return s[:r.set().Open([]byte(s))] }

// JSON returns raw without known secrets. Valid JSON stays valid, with its key
// order and number spellings: strings are judged by their decoded value, and a
// number that spells a secret becomes the string [Redacted].
func (r *Redactor) JSON(raw json.RawMessage) json.RawMessage {
	// JSON escapes are among the encodings that are searched for.
	if known := r.set(); known == nil || len(known.Find(raw)) == 0 {
		return raw
	}
	return rewrite(raw, r.Text)
}

type redactorKey struct{}

// WithRedactor returns a context whose opened secrets r gets to know.
func WithRedactor(ctx context.Context, r *Redactor) context.Context {
	return context.WithValue(ctx, redactorKey{}, r)
}

// RedactorFrom returns the context's redactor, for redacting a text before it
// is cut; an empty one when the context has none.
func RedactorFrom(ctx context.Context) *Redactor {
	if r, ok := ctx.Value(redactorKey{}).(*Redactor); ok {
		return r
	}
	return &Redactor{}
}

// Note adds opened secrets to the context's redactor, if it has one.
func Note(ctx context.Context, values ...Value) {
	if r, ok := ctx.Value(redactorKey{}).(*Redactor); ok {
		r.Add(values...)
	}
}
