package identity

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/tool"
)

// Config holds the issuers whose tokens are accepted.
type Config struct {
	Issuers []IssuerConfig
	// RootCAs are trusted to name the issuers. Defaults to the system's.
	RootCAs *x509.CertPool
	// Now defaults to [time.Now].
	Now func() time.Time
}

// Issuers verifies tokens. It is safe for concurrent use.
type Issuers struct {
	byURL map[string]*issuer
	urls  []string
	gates []*egress.Gate
}

type issuer struct {
	IssuerConfig
	keys *keyring
	now  func() time.Time
}

// Person is whom a verified token is of.
type Person struct {
	Subject string // user:<issuer>/<sub>.
	Tenant  string // Slug or id, as the issuer says or its configuration.
	Roles   []string
	Expires time.Time
}

// New returns what verifies tokens of issuers. It fetches nothing. The caller closes it.
func New(cfg Config) (*Issuers, error) {
	if len(cfg.Issuers) > maxIssuers {
		return nil, fmt.Errorf("%d issuers are configured; at most %d may be", len(cfg.Issuers), maxIssuers)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	s := &Issuers{byURL: map[string]*issuer{}}
	names := map[string]bool{}
	for _, asked := range cfg.Issuers {
		c, err := asked.withDefaults()
		if err != nil {
			s.Close()
			return nil, err
		}
		if names[c.Name] || s.byURL[c.URL] != nil {
			s.Close()
			return nil, fmt.Errorf("two issuers are named %q or have the URL %s", c.Name, c.URL)
		}
		names[c.Name] = true
		// The operator names the issuer, so its host is allowed at any address.
		policy := egress.Policy{AllowHosts: []string{hostOf(c.URL)}}
		if c.KeysURL != "" {
			policy.AllowHosts = append(policy.AllowHosts, hostOf(c.KeysURL))
		}
		if err := policy.Check(); err != nil {
			s.Close()
			return nil, fmt.Errorf("issuer %q: %w", c.Name, err)
		}
		gate, err := egress.New(egress.Config{
			Policy:  func(tool.TenantID) egress.Policy { return policy },
			RootCAs: cfg.RootCAs, Timeout: fetchTimeout, MaxBytes: maxDocument, MaxRedirects: -1,
		})
		if err != nil {
			s.Close()
			return nil, fmt.Errorf("issuer %q: %w", c.Name, err)
		}
		s.gates = append(s.gates, gate)
		s.byURL[c.URL] = &issuer{
			IssuerConfig: c, now: cfg.Now, keys: &keyring{issuer: c.URL, url: c.KeysURL, gate: gate, now: cfg.Now},
		}
		s.urls = append(s.urls, c.URL)
	}
	return s, nil
}

// Close closes idle connections.
func (s *Issuers) Close() {
	for _, gate := range s.gates {
		gate.Close()
	}
}

// URLs lists the issuers, for the metadata of the servers that accept their tokens.
func (s *Issuers) URLs() []string { return slices.Clone(s.urls) }

// refused says why a token is not accepted, in words that its holder may read.
func refused(why string) error {
	return &tool.Error{Kind: tool.Denied, Op: "identity.Verify", Msg: "the token is not valid: " + why}
}

// IsToken reports whether a bearer's text has the form of a token, and none of a key.
func IsToken(text string) bool { return strings.Count(text, ".") == 2 && strings.HasPrefix(text, "ey") }

// Verify returns whom a token is of. It fails with tool.Denied for a token that is not accepted, and
// with tool.Unavailable where its issuer cannot be reached.
func (s *Issuers) Verify(ctx context.Context, text string) (Person, error) {
	head, claims, err := read(text)
	if err != nil {
		return Person{}, err
	}
	from := s.byURL[claims.text("iss")]
	if from == nil {
		return Person{}, refused("its issuer is not known here")
	}
	if !slices.Contains(from.Algorithms, head.Algorithm) {
		return Person{}, refused("its issuer may not sign by its algorithm")
	}
	keys, err := from.keys.find(ctx, head.KeyID, head.Algorithm)
	if errors.Is(err, errUnknownKey) {
		return Person{}, refused(errUnknownKey.Error())
	}
	if err != nil {
		return Person{}, err
	}
	verifier := oidc.NewVerifier(from.URL, &oidc.StaticKeySet{PublicKeys: keys}, &oidc.Config{
		SupportedSigningAlgs: from.Algorithms, SkipClientIDCheck: true, SkipExpiryCheck: true, Now: from.now,
	})
	if _, err := verifier.Verify(ctx, text); err != nil {
		return Person{}, refused("its signature is wrong")
	}
	return from.person(claims)
}

// person checks the claims of a token with a valid signature.
func (i *issuer) person(c claims) (Person, error) {
	if !slices.ContainsFunc(c.audiences(), func(a string) bool { return slices.Contains(i.Audiences, a) }) {
		return Person{}, refused("it is for another audience")
	}
	now := i.now()
	expires, ok := c.time("exp")
	switch {
	case !ok:
		return Person{}, refused("it has no time of expiry")
	case !now.Before(expires.Add(i.ClockSkew)):
		return Person{}, refused("it has expired")
	}
	for _, name := range []string{"nbf", "iat"} {
		at, ok := c.time(name)
		if !ok && c[name] != nil || ok && now.Add(i.ClockSkew).Before(at) {
			return Person{}, refused("it is not valid yet")
		}
	}
	sub := c.text("sub")
	if !validSubject(sub) {
		return Person{}, refused("it has no subject of up to 255 printable characters")
	}
	p := Person{Subject: "user:" + i.Name + "/" + sub, Tenant: i.Tenant, Expires: expires}
	if i.TenantClaim != "" {
		p.Tenant = c.text(i.TenantClaim)
		if p.Tenant == "" || len(i.Tenants) > 0 && !slices.Contains(i.Tenants, p.Tenant) {
			return Person{}, refused("it is for no tenant of this issuer")
		}
	}
	for _, names := range append([][]string{i.DefaultRoles}, i.mapped(c)...) {
		for _, name := range names {
			if !slices.Contains(p.Roles, name) {
				p.Roles = append(p.Roles, name)
			}
		}
	}
	return p, nil
}

// mapped returns the roles of each group of a token.
func (i *issuer) mapped(c claims) [][]string {
	var out [][]string
	for _, group := range c.list(i.RolesClaim) {
		out = append(out, i.Roles[group])
	}
	return out
}

// validSubject reports whether sub can be part of a subject: ASCII without spaces, as OpenID Connect
// bounds it.
func validSubject(sub string) bool {
	return sub != "" && len(sub) <= 255 && !strings.ContainsFunc(sub, func(r rune) bool { return r <= ' ' || r > '~' })
}
