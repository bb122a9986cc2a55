package builtins

import (
	"context"
	"net/http"
	"strings"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

// auth is the credential in a configuration and how it is sent.
type auth struct {
	Type           string `json:"type"` // bearer, basic ("user:password") or header.
	CredentialsRef string `json:"credentials_ref"`
	Header         string `json:"header"` // For header, such as "X-Api-Key".
}

var schemes = map[string]egress.Scheme{"bearer": egress.Bearer, "basic": egress.Basic, "header": egress.Raw}

func (a *auth) check() error {
	if a == nil {
		return nil
	}
	_, known := schemes[a.Type]
	switch {
	case !known:
		return configFault("/auth/type", "want bearer, basic or header")
	case !secret.ValidRef(a.CredentialsRef):
		return configFault(
			"/auth/credentials_ref", "want the name of a credential: letters, digits, dots, dashes and underscores",
		)
	case a.Type == "header" && !validHeaderName(a.Header):
		return configFault("/auth/header", "want the name of a header that may carry a credential")
	case a.Type != "header" && a.Header != "":
		return configFault("/auth/header", "only for the type header")
	}
	return nil
}

// open opens the credential; nil for none.
func (a *auth) open(ctx context.Context, secrets secret.Resolver, tenant tool.TenantID) (*egress.Credential, error) {
	if a == nil {
		return nil, nil // No credential is none.
	}
	if err := a.check(); err != nil {
		return nil, err
	}
	v, err := secret.Open(ctx, secrets, tenant, a.CredentialsRef)
	if err != nil {
		return nil, err
	}
	if _, password, ok := strings.Cut(v.Reveal(), ":"); ok && a.Type == "basic" {
		secret.Note(ctx, secret.NewValue(password))
	}
	return &egress.Credential{Value: v, Scheme: schemes[a.Type], Header: a.Header}, nil
}

// validHeaderName reports whether a credential may be sent in a header.
func validHeaderName(name string) bool {
	const token = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
	if name == "" || len(name) > 64 || strings.Trim(name, token) != "" {
		return false
	}
	switch http.CanonicalHeaderKey(name) {
	case "Host", "Connection", "Content-Length", "Content-Type", "Transfer-Encoding", "Accept-Encoding", "Upgrade", "Te",
		"Trailer", "Expect", "Keep-Alive", "Idempotency-Key":
		return false
	default:
		return true
	}
}
