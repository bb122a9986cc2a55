package view

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"github.com/google/uuid"

	"github.com/toolcrib/toolcrib/tool"
)

// Path is the path of the pages; the token of a link follows.
const Path = "/v/"

const (
	// tokenPrefix lets scanners of secrets find tokens.
	tokenPrefix = "tcv_"
	// secretSize is 256 bits.
	secretSize = 32
	tokenSize  = 16 + 16 + secretSize // Tenant, view, secret.
)

// Token opens a view.
type Token struct {
	Tenant tool.TenantID
	ViewID string

	raw [tokenSize]byte
}

// NewToken makes a token for a view. It fails with tool.Invalid where an id is none.
func NewToken(tenant tool.TenantID, viewID string) (Token, error) {
	ofTenant, err := uuid.Parse(string(tenant))
	if err != nil {
		return Token{}, invalid("", "the tenant has no id")
	}
	id, err := uuid.Parse(viewID)
	if err != nil {
		return Token{}, invalid("", "the view has no id")
	}
	t := Token{Tenant: tenant, ViewID: viewID}
	copy(t.raw[:], ofTenant[:])
	copy(t.raw[16:], id[:])
	_, _ = rand.Read(t.raw[32:]) // It never fails.
	return t, nil
}

// ReadToken reads a token, and reports whether it has the form of one.
func ReadToken(text string) (Token, bool) {
	encoded, ok := strings.CutPrefix(text, tokenPrefix)
	if !ok || len(encoded) != base64.RawURLEncoding.EncodedLen(tokenSize) || strings.ContainsAny(encoded, "\r\n") {
		return Token{}, false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(encoded)
	if err != nil {
		return Token{}, false
	}
	t := Token{Tenant: tool.TenantID(uuid.UUID(raw[:16]).String()), ViewID: uuid.UUID(raw[16:32]).String()}
	copy(t.raw[:], raw)
	return t, true
}

// Text returns the token as links have it. It is shown once, and not stored.
func (t *Token) Text() string { return tokenPrefix + base64.RawURLEncoding.EncodeToString(t.raw[:]) }

// Hash returns what is stored of the token.
func (t *Token) Hash() []byte {
	sum := sha256.Sum256(t.raw[:])
	return sum[:]
}
