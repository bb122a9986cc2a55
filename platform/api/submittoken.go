package api

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// tokenSubject begins the subject of who submits with a token.
const tokenSubject = "token:"

// claims are what a token says.
type claims struct {
	Tenant  tool.TenantID `json:"t"`
	Call    string        `json:"c"`
	Expires int64         `json:"e"` // Seconds since 1970.
}

// newSubmitToken signs a token for a call, with the key of the call, which no answer shows.
func newSubmitToken(c wait.Call, expires time.Time) string {
	raw, _ := json.Marshal(claims{c.Principal.Tenant, c.ID, expires.Unix()}) // Plain values: it cannot fail.
	body := base64.RawURLEncoding.EncodeToString(raw)
	return v1.SubmitTokenPrefix + body + "." + base64.RawURLEncoding.EncodeToString(signed(c.Key, body))
}

func signed(key []byte, body string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(body))
	return mac.Sum(nil)
}

// openToken returns the principal of a token: it may submit the result of its call, and
// nothing else. Every token that is not good is refused alike.
func (s *server) openToken(ctx context.Context, token string) (tool.Principal, error) {
	refused := unauthenticated("the token is not valid, or its time is over: a key with " + wait.SubmitPermission +
		" may make another")
	body, signature, _ := strings.Cut(strings.TrimPrefix(token, v1.SubmitTokenPrefix), ".")
	raw, err := base64.RawURLEncoding.DecodeString(body)
	if err != nil {
		return tool.Principal{}, refused
	}
	mac, err := base64.RawURLEncoding.DecodeString(signature)
	var said claims
	if err != nil || json.Unmarshal(raw, &said) != nil || !tool.ValidID(string(said.Tenant)) {
		return tool.Principal{}, refused
	}
	found, err := s.cfg.Store.FindCall(ctx, said.Tenant, said.Call)
	switch {
	case tool.KindOf(err) == tool.NotFound:
		return tool.Principal{}, refused
	case err != nil:
		return tool.Principal{}, err
	case !hmac.Equal(mac, signed(found.Key, body)) || time.Now().Unix() >= said.Expires:
		return tool.Principal{}, refused
	}
	tenant, err := s.cfg.Store.FindTenant(ctx, said.Tenant)
	if err != nil {
		return tool.Principal{}, err
	}
	if tenant.Status != store.TenantActive {
		return tool.Principal{}, refused
	}
	return tool.Principal{
		Tenant: said.Tenant, Subject: tokenSubject + found.ID, Permissions: []string{wait.SubmitPermission},
	}, nil
}

// mayAnswer refuses a token that is of another call. Nothing says whether that exists.
func mayAnswer(p tool.Principal, id string) error {
	if call, ok := strings.CutPrefix(p.Subject, tokenSubject); ok && call != id {
		return &tool.Error{Kind: tool.NotFound, Op: "api.mayAnswer", Msg: "call not found"}
	}
	return nil
}
