package httpcall

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/secret"
)

// Auth names the credential of a request and how it is sent. A credential goes
// only to the hosts that it is bound to.
type Auth struct {
	// Type is bearer, basic ("user:password"), header, query, cookie, or
	// oauth2_client_credentials.
	Type string `json:"type"`
	// CredentialsRef is opened by secret.Resolver. That of
	// oauth2_client_credentials has the members client_id and client_secret,
	// or is "id:secret".
	CredentialsRef string `json:"credentials_ref"`
	Header         string `json:"header,omitempty"` // For header, such as "X-Api-Key".
	Name           string `json:"name,omitempty"`   // Of the parameter or cookie, for query and cookie.

	// TokenURL is the token endpoint of oauth2_client_credentials (RFC 6749,
	// section 4.4): a literal. Tokens are cached until they expire, and sent to the
	// host of the tool's URL alone, to which the credential must be bound too.
	TokenURL string   `json:"token_url,omitempty"`
	Scopes   []string `json:"scopes,omitempty"`
	Audience string   `json:"audience,omitempty"`
	// ClientAuth is how the client authenticates itself: "basic", by header, or
	// "body". Defaults to basic.
	ClientAuth string `json:"client_auth,omitempty"`
}

// Authentication types.
const (
	authBearer = "bearer"
	authBasic  = "basic"
	authHeader = "header"
	authQuery  = "query"
	authCookie = "cookie"
	authOAuth2 = "oauth2_client_credentials"
)

// Ways for a client to authenticate itself.
const (
	clientBasic = "basic"
	clientBody  = "body"
)

const (
	maxScopes     = 64
	maxScopeBytes = 256
)

var (
	authTypes = []string{authBearer, authBasic, authHeader, authQuery, authCookie, authOAuth2}
	schemes   = map[string]egress.Scheme{
		authBearer: egress.Bearer, authBasic: egress.Basic, authHeader: egress.Raw,
		authQuery: egress.Query, authCookie: egress.Cookie,
	}
)

// UnmarshalJSON implements [json.Unmarshaler].
func (a *Auth) UnmarshalJSON(raw []byte) error {
	*a = Auth{}
	return readMembers(raw, map[string]any{
		"type": &a.Type, "credentials_ref": &a.CredentialsRef, "header": &a.Header, "name": &a.Name,
		"token_url": &a.TokenURL, "scopes": &a.Scopes, "audience": &a.Audience, "client_auth": &a.ClientAuth,
	})
}

func (a *Auth) check() error {
	switch {
	case a == nil:
		return nil
	case !slices.Contains(authTypes, a.Type):
		return fault("/auth/type", fmt.Sprintf("%.40q is none of %s", a.Type, strings.Join(authTypes, ", ")))
	case !secret.ValidRef(a.CredentialsRef):
		return fault("/auth/credentials_ref", "want the name of a credential")
	case a.Header != "" && a.Type != authHeader:
		return fault("/auth/header", "only for the type header")
	case a.Name != "" && a.Type != authQuery && a.Type != authCookie:
		return fault("/auth/name", "only for the types query and cookie")
	}
	if a.Type != authOAuth2 {
		for path, given := range map[string]bool{
			"/token_url": a.TokenURL != "", "/scopes": len(a.Scopes) > 0, "/audience": a.Audience != "",
			"/client_auth": a.ClientAuth != "",
		} {
			if given {
				return fault("/auth"+path, "only for the type "+authOAuth2)
			}
		}
	}
	switch a.Type {
	case authHeader:
		return checkHeader("/auth/header", a.Header)
	case authQuery:
		if a.Name == "" || !validHeaderValue(a.Name) {
			return fault("/auth/name", "want the name of the query parameter")
		}
	case authCookie:
		return checkCookie("/auth/name", a.Name)
	case authOAuth2:
		return a.checkOAuth2()
	}
	return nil
}

func (a *Auth) checkOAuth2() error {
	u, err := url.Parse(a.TokenURL)
	if err != nil || strings.ContainsAny(a.TokenURL, "{}#") {
		return fault("/auth/token_url", "want a literal http:// or https:// URL without a fragment")
	}
	if err := egress.CheckURL(u); err != nil {
		return fault("/auth/token_url", messageOf(err))
	}
	if _, rest, _ := strings.Cut(a.TokenURL, "?"); holdsSecret("?" + rest) {
		return fault("/auth/token_url", noLiteralSecret)
	}
	if len(a.Scopes) > maxScopes {
		return fault("/auth/scopes", fmt.Sprintf("%d scopes: at most %d", len(a.Scopes), maxScopes))
	}
	for i, scope := range a.Scopes {
		if !validScope(scope) {
			return fault(fmt.Sprintf("/auth/scopes/%d", i), fmt.Sprintf("%.40q is not a scope", scope))
		}
	}
	if len(a.Audience) > 2*maxScopeBytes || !validHeaderValue(a.Audience) {
		return fault("/auth/audience", "too long, or with control characters")
	}
	if a.ClientAuth != "" && a.ClientAuth != clientBasic && a.ClientAuth != clientBody {
		return fault("/auth/client_auth", fmt.Sprintf("%.40q is none of basic, body", a.ClientAuth))
	}
	return nil
}

// validScope checks a scope against RFC 6749's scope-token.
func validScope(s string) bool {
	odd := func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' }
	return s != "" && len(s) <= maxScopeBytes && !strings.ContainsFunc(s, odd)
}
