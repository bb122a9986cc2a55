package secret

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/toolcrib/toolcrib/internal/encoded"
)

// MinRedactable is the minimum length of a redacted secret in bytes: redacting every "a"
// would hide more than the secret.
const MinRedactable = 4

// Redactor removes known secrets from text and JSON, in any encoding: see package encoded. The
// zero Redactor knows none. It is safe for concurrent use.
//
// Redact text before it is cut: the rest of a cut secret is not recognised. For text that was
// cut already, use [Redactor.TrimPartial].
type Redactor struct {
	mu    sync.RWMutex
	texts []string
	known *encoded.Set
}

// NewRedactor returns a redactor of values.
func NewRedactor(values ...Value) *Redactor {
	r := &Redactor{}
	r.Add(values...)
	return r
}

// Add adds values, and the members of those that are JSON objects.
func (r *Redactor) Add(values ...Value) {
	if len(values) == 0 {
		return
	}
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

// set returns the known secrets; nil for none.
func (r *Redactor) set() *encoded.Set {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.known
}

// Empty reports whether no secret is known that is long enough to redact.
func (r *Redactor) Empty() bool { return r.set() == nil }

// maxPasses bounds the passes over a text: a replacement can join two halves of another
// secret.
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

// Holds reports whether raw, which may be binary, contains a known secret. Compressed or
// encrypted data is not searched.
func (r *Redactor) Holds(raw []byte) bool { return len(r.set().Find(raw)) > 0 }

// TrimPartial returns s without the beginning of a known secret at its end, for text that was
// cut before it was redacted.
func (r *Redactor) TrimPartial(s string) string { return s[:r.set().Open([]byte(s))] }

// JSON returns raw without known secrets. Valid JSON stays valid, with its key order and
// number spellings: strings are compared decoded, and a number that equals a secret becomes
// the string [Redacted].
func (r *Redactor) JSON(raw json.RawMessage) json.RawMessage {
	// JSON escapes are among the encodings that are searched for.
	if known := r.set(); known == nil || len(known.Find(raw)) == 0 {
		return raw
	}
	return rewrite(raw, r.Text)
}

type redactorKey struct{}

// WithRedactor returns a context whose opened secrets are added to r.
func WithRedactor(ctx context.Context, r *Redactor) context.Context {
	return context.WithValue(ctx, redactorKey{}, r)
}

// RedactorFrom returns the context's redactor, for redacting a text before it is cut; an empty
// one when there is none.
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
