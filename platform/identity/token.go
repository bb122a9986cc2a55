package identity

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/schema/jsonpointer"
	"github.com/toolcrib/toolcrib/schema/jsonvalue"
)

// Bounds of a token.
const (
	maxTokenBytes = 16 << 10
	maxClaims     = 200
	maxGroups     = 500
	maxKeyID      = 256
	claimsDepth   = 16
)

// header is what is read of the head of a token.
type header struct{ Algorithm, KeyID string }

// claims are the members of a token's payload by their exact names.
type claims map[string]any

// types are those of tokens that are accepted: access tokens and ID tokens.
var types = []string{"", "jwt", "at+jwt", "application/at+jwt"}

// read returns what a token says of itself, before anything of it is verified.
func read(text string) (header, claims, error) {
	if len(text) > maxTokenBytes {
		return header{}, nil, refused("it is larger than 16 KiB")
	}
	parts := strings.Split(text, ".")
	if len(parts) != 3 {
		return header{}, nil, refused("it is not a signed JWT")
	}
	head, ok := object(parts[0])
	if !ok {
		return header{}, nil, refused("its head is malformed")
	}
	payload, ok := object(parts[1])
	if !ok || len(payload) > maxClaims {
		return header{}, nil, refused("its claims are malformed")
	}
	h := header{Algorithm: head.text("alg"), KeyID: head.text("kid")}
	switch {
	case h.Algorithm == "" || head["crit"] != nil || head["b64"] != nil:
		return header{}, nil, refused("its head is malformed")
	case head["kid"] != nil && h.KeyID == "" || len(h.KeyID) > maxKeyID:
		return header{}, nil, refused("its head is malformed")
	case head["typ"] != nil && head.text("typ") == "" || !slices.Contains(types, strings.ToLower(head.text("typ"))):
		return header{}, nil, refused("it is a token of another type")
	}
	return h, payload, nil
}

// object decodes a part of a token. An object with a member twice is none, nor is one with members
// that differ in case alone: readers differ in which of them they take.
func object(part string) (claims, bool) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(part)
	if err != nil {
		return nil, false
	}
	if _, err := jsonvalue.Check(raw, claimsDepth); err != nil {
		return nil, false
	}
	var out claims
	if json.Unmarshal(raw, &out) != nil || out == nil {
		return nil, false
	}
	folded := map[string]bool{}
	for name := range out {
		if folded[strings.ToLower(name)] {
			return nil, false
		}
		folded[strings.ToLower(name)] = true
	}
	return out, true
}

// find returns the claim of a name, or at a JSON Pointer.
func (c claims) find(name string) any {
	if !strings.HasPrefix(name, "/") {
		return c[name]
	}
	at, err := jsonpointer.Parse(name)
	if err != nil {
		return nil
	}
	found, _ := at.Lookup(map[string]any(c))
	return found
}

// text returns a claim that is a text; empty for any other.
func (c claims) text(name string) string {
	text, _ := c.find(name).(string)
	return text
}

// list returns a claim that is a text, by spaces, or a list of texts. Anything else is none.
func (c claims) list(name string) []string {
	switch v := c.find(name).(type) {
	case string:
		return strings.Fields(v)
	case []any:
		var out []string
		for _, item := range v[:min(len(v), maxGroups)] {
			if text, ok := item.(string); ok {
				out = append(out, text)
			}
		}
		return out
	}
	return nil
}

// audiences returns the values of aud, which is a text or a list of texts.
func (c claims) audiences() []string {
	if one, ok := c["aud"].(string); ok {
		return []string{one}
	}
	return c.list("aud")
}

// time returns a claim that is a time, in seconds since 1970.
func (c claims) time(name string) (time.Time, bool) {
	s, ok := c[name].(float64)
	if !ok || math.IsNaN(s) || s < 0 || s > 1<<40 {
		return time.Time{}, false
	}
	return time.Unix(int64(s), 0), true
}
