package toolsession

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"github.com/google/uuid"

	"github.com/toolcrib/toolcrib/tool"
)

// Path is the path of the pages; the token of a link follows.
const Path = "/s/"

const (
	// tokenPrefix lets scanners of secrets find tokens.
	tokenPrefix = "tcs_"
	secretSize  = 32 // 256 bits.
	tokenSize   = 16 + 16 + secretSize
)

// Token opens the page of a session.
type Token struct {
	Tenant    tool.TenantID
	SessionID string

	raw [tokenSize]byte // Tenant, session, secret.
}

// NewToken makes a token for a session. It fails with tool.Invalid where an id is none.
func NewToken(tenant tool.TenantID, sessionID string) (Token, error) {
	t := Token{Tenant: tenant, SessionID: sessionID}
	for i, id := range []string{string(tenant), sessionID} {
		parsed, err := uuid.Parse(id)
		if err != nil {
			return Token{}, invalid("", "a token is of a tenant and a session: %q is no id", id)
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
	t := Token{Tenant: tool.TenantID(uuid.UUID(raw[:16]).String()), SessionID: uuid.UUID(raw[16:32]).String()}
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
