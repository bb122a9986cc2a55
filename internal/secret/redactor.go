package secret

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"
)

// MinRedactable is the length in bytes below which a secret is left in place:
// removing every "a" would hide more than the secret.
const MinRedactable = 4

// Redactor removes known secrets from text and JSON, in plain and as base64
// (at any offset, padded or not, both alphabets), hexadecimal, URL-encoded and
// JSON-escaped, each in UTF-8 and in UTF-16 of both byte orders. The zero
// Redactor knows none. It is safe for concurrent use.
//
// Text is to be cleaned before it is cut: what is left of a secret at a cut is
// in no list of secrets.
type Redactor struct {
	mu       sync.RWMutex
	replacer *strings.Replacer
	forms    []string
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
			r.forms = append(r.forms, encodings(part.Reveal())...)
		}
	}
	// Longer forms first: a form may hold a shorter one.
	slices.SortFunc(r.forms, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	r.forms = slices.Compact(r.forms)
	pairs := make([]string, 0, 2*len(r.forms))
	for _, f := range r.forms {
		pairs = append(pairs, f, Redacted)
	}
	r.replacer = strings.NewReplacer(pairs...)
}

// Text returns s without known secrets.
func (r *Redactor) Text(s string) string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if len(r.forms) == 0 {
		return s
	}
	return r.replacer.Replace(s)
}

// Holds reports whether raw, which may be binary, has a known secret in it.
// What is compressed or encrypted is not looked into.
func (r *Redactor) Holds(raw []byte) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.ContainsFunc(r.forms, func(form string) bool { return bytes.Contains(raw, []byte(form)) })
}

// TrimPartial returns s without the beginning of a known secret at its end,
// for text that somebody else has cut.
func (r *Redactor) TrimPartial(s string) string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	longest := 0
	for _, form := range r.forms {
		for n := min(len(form)-1, len(s)); n > longest; n-- {
			if strings.HasSuffix(s, form[:n]) {
				longest = n
			}
		}
	}
	return s[:len(s)-longest]
}

// JSON returns raw without known secrets. Valid JSON stays valid, with its key
// order and number spellings: strings are judged by their decoded value, and a
// number that spells a secret becomes the string [Redacted].
func (r *Redactor) JSON(raw json.RawMessage) json.RawMessage {
	r.mu.RLock()
	none := len(r.forms) == 0
	r.mu.RUnlock()
	if none || len(raw) == 0 {
		return raw
	}
	return rewrite(raw, r.Text)
}

// encodings returns the forms in which a secret is looked for.
func encodings(s string) []string {
	if len(s) < MinRedactable {
		return nil
	}
	h := hex.EncodeToString([]byte(s))
	quoted, _ := json.Marshal(s) // A string always encodes.
	forms := []string{
		s, h, strings.ToUpper(h), url.QueryEscape(s), url.PathEscape(s), percentAll(s),
		strings.Trim(string(quoted), `"`),
	}
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		forms = append(forms, enc.EncodeToString([]byte(s)))
		forms = append(forms, offsets(enc, s)...)
	}
	forms = slices.DeleteFunc(forms, func(f string) bool { return len(f) < MinRedactable })
	for _, f := range slices.Clip(forms) {
		if utf8.ValidString(f) {
			forms = append(forms, utf16Of(f, binary.LittleEndian), utf16Of(f, binary.BigEndian))
		}
	}
	return forms
}

func utf16Of(s string, order binary.AppendByteOrder) string {
	var out []byte
	for _, unit := range utf16.Encode([]rune(s)) {
		out = order.AppendUint16(out, unit)
	}
	return string(out)
}

// offsets returns the characters that s surely has within the base64 of a
// longer text, for each of the three places it can start at.
func offsets(enc *base64.Encoding, s string) []string {
	var out []string
	for skip := range 3 {
		e := enc.EncodeToString(append(make([]byte, skip), s...))
		first := (skip*8 + 5) / 6        // Characters that hold bits of what is before.
		whole := (skip + len(s)) * 8 / 6 // Those that hold no bits of what comes after.
		if whole-first >= 8 {
			out = append(out, e[first:whole])
		}
	}
	return out
}

// percentAll encodes every byte but letters and digits, as some clients do.
func percentAll(s string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' {
			b.WriteByte(c)
			continue
		}
		b.WriteString("%" + strings.ToUpper(hex.EncodeToString([]byte{c})))
	}
	return b.String()
}

type redactorKey struct{}

// WithRedactor returns a context whose opened secrets r gets to know.
func WithRedactor(ctx context.Context, r *Redactor) context.Context {
	return context.WithValue(ctx, redactorKey{}, r)
}

// RedactorFrom returns the context's redactor, for those who must cut a text;
// one that knows nothing when it has none.
func RedactorFrom(ctx context.Context) *Redactor {
	if r, ok := ctx.Value(redactorKey{}).(*Redactor); ok {
		return r
	}
	return &Redactor{}
}

// Note tells the context's redactor, if it has one, of opened secrets.
func Note(ctx context.Context, values ...Value) {
	if r, ok := ctx.Value(redactorKey{}).(*Redactor); ok {
		r.Add(values...)
	}
}
