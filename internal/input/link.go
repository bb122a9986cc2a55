package input

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// Path is the path of the pages; the token of a link follows.
const Path = "/i/"

// tokenSize is that of a token before it is encoded: tenant, call, end, signature.
const tokenSize = 16 + 16 + 8 + sha256.Size

// domain keeps signatures of links apart from others with the key of a call.
const domain = "toolcrib/input-link/1\n"

// Link returns the path of the page on which a person answers a request, good until it
// expires, or until the key of the call changes. Who has it can see the request and answer
// it; it is good for nothing else.
func Link(c *wait.Call, expires time.Time) (string, error) {
	tenant, err := uuid.Parse(string(c.Principal.Tenant))
	if err != nil {
		return "", invalid("", "the tenant has no id")
	}
	id, err := uuid.Parse(c.ID)
	if err != nil {
		return "", invalid("", "the call has no id")
	}
	raw := make([]byte, 0, tokenSize)
	raw = append(append(raw, tenant[:]...), id[:]...)
	raw = binary.BigEndian.AppendUint64(raw, uint64(max(expires.Unix(), 0)))
	return Path + base64.RawURLEncoding.EncodeToString(append(raw, sign(c.Key, raw)...)), nil
}

func sign(key, claims []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(domain))
	mac.Write(claims)
	return mac.Sum(nil)
}

// Token is what a link says before its signature is checked.
type Token struct {
	Tenant  tool.TenantID
	CallID  string
	Expires time.Time

	claims, signature []byte
}

// ReadToken reads the token of a link, and reports whether it has the form of one.
func ReadToken(text string) (Token, bool) {
	if len(text) != base64.RawURLEncoding.EncodedLen(tokenSize) {
		return Token{}, false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || strings.ContainsAny(text, "\r\n") {
		return Token{}, false
	}
	seconds := binary.BigEndian.Uint64(raw[32:40])
	if seconds > 1<<40 {
		return Token{}, false
	}
	return Token{
		Tenant: tool.TenantID(uuid.UUID(raw[:16]).String()),
		CallID: uuid.UUID(raw[16:32]).String(), Expires: time.Unix(int64(seconds), 0),
		claims: raw[:40], signature: raw[40:],
	}, true
}

// Opens reports whether the token was made for a call, and is still good. It opens calls that
// ask a person for input, and no others.
func (t Token) Opens(c *wait.Call, now time.Time) bool {
	return c.Implementation == tool.Input && len(c.Key) > 0 && now.Before(t.Expires) &&
		hmac.Equal(t.signature, sign(c.Key, t.claims))
}
