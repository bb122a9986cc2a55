package toolembed

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"github.com/google/uuid"

	"github.com/toolcrib/toolcrib/tool"
)

const (
	// tokenPrefix lets scanners of secrets find tokens.
	tokenPrefix = "tce_"
	secretSize  = 32 // 256 bits.
	tokenSize   = 16 + 16 + secretSize
)

// Token is what runs a tool in a frame.
type Token struct {
	Tenant tool.TenantID
	ID     string

	raw [tokenSize]byte // Tenant, id, secret.
}

// NewToken makes a token. It fails with tool.Invalid where an id is none.
func NewToken(tenant tool.TenantID, id string) (Token, error) {
	t := Token{Tenant: tenant, ID: id}
	for i, id := range []string{string(tenant), id} {
		parsed, err := uuid.Parse(id)
		if err != nil {
			return Token{}, invalid("", "a token is of a tenant: %q is no id", id)
		}
		copy(t.raw[16*i:], parsed[:])
	}
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
	t := Token{Tenant: tool.TenantID(uuid.UUID(raw[:16]).String()), ID: uuid.UUID(raw[16:32]).String()}
	copy(t.raw[:], raw)
	return t, true
}

// Text returns the token as browsers send it. It is shown once, and not stored.
func (t *Token) Text() string { return tokenPrefix + base64.RawURLEncoding.EncodeToString(t.raw[:]) }

// Hash returns what is stored of the token.
func (t *Token) Hash() []byte {
	sum := sha256.Sum256(t.raw[:])
	return sum[:]
}
