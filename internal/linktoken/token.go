// Package linktoken makes and reads the tokens that open one record of a tenant to people without a login: links to
// published views and to sessions, and the right to run a tool in a frame. A token names its tenant and record, so
// that a server finds the row, and has a secret of 256 bits. Only its hash is stored.
package linktoken

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/toolcrib/toolcrib/tool"
)

// Kind is what tokens of a kind begin with, such as "tcv_". It lets scanners of secrets find them, and keeps a token
// of one kind from being read as one of another.
type Kind string

const (
	idsSize    = 2 * len(uuid.UUID{}) // Tenant and record.
	secretSize = 32
	tokenSize  = idsSize + secretSize
)

// Token opens a record. Printed or logged, it shows its kind alone.
type Token struct {
	Tenant tool.TenantID
	ID     string // Of the record.

	kind Kind
	raw  [tokenSize]byte // Tenant, record, secret.
}

// New makes a token for a record. It fails with tool.Invalid where an id is none.
func (k Kind) New(tenant tool.TenantID, id string) (Token, error) {
	t := Token{Tenant: tenant, ID: id, kind: k}
	for i, id := range []string{string(tenant), id} {
		parsed, err := uuid.Parse(id)
		if err != nil {
			return Token{}, &tool.Error{
				Kind: tool.Invalid, Op: "linktoken.New", Msg: fmt.Sprintf("a token is of a tenant and a record: %q is no id", id),
			}
		}
		copy(t.raw[i*len(parsed):], parsed[:])
	}
	_, _ = rand.Read(t.raw[idsSize:]) // It never fails.
	return t, nil
}

// Read reads a token, and reports whether it has the form of one. A token has one spelling.
func (k Kind) Read(text string) (Token, bool) {
	encoded, ok := strings.CutPrefix(text, string(k))
	if !ok || len(encoded) != base64.RawURLEncoding.EncodedLen(tokenSize) || strings.ContainsAny(encoded, "\r\n") {
		return Token{}, false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(encoded)
	if err != nil {
		return Token{}, false
	}
	t := Token{Tenant: tool.TenantID(uuid.UUID(raw[:16]).String()), ID: uuid.UUID(raw[16:32]).String(), kind: k}
	copy(t.raw[:], raw)
	return t, true
}

// Text returns the token as it is sent. It is shown once, and not stored.
func (t Token) Text() string { return string(t.kind) + base64.RawURLEncoding.EncodeToString(t.raw[:]) }

// Hash returns what is stored of the token.
func (t Token) Hash() []byte {
	sum := sha256.Sum256(t.raw[:])
	return sum[:]
}

// String returns the kind of the token, without its secret.
func (t Token) String() string { return string(t.kind) + "…" }

// GoString is [Token.String], for %#v.
func (t Token) GoString() string { return t.String() }
