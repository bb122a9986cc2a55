package identity_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/identity"
	"github.com/toolcrib/toolcrib/platform/identity/identitytest"
	"github.com/toolcrib/toolcrib/tool"
)

// clock is a clock that a test moves.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) move(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(by)
}

type bench struct {
	*identitytest.Issuer
	*clock
	issuers *identity.Issuers
}

func setup(t *testing.T, change ...func(*identity.IssuerConfig)) *bench {
	t.Helper()
	b := &bench{Issuer: identitytest.New(t), clock: &clock{at: time.Now()}}
	c := identity.IssuerConfig{
		Name: "corp", URL: b.URL, Audiences: []string{identitytest.Audience}, TenantClaim: "tenant",
		Tenants: []string{"acme", "beta"}, Roles: map[string][]string{"eng": {"builder", "viewer"}, "ops": {"operator"}},
	}
	for _, fn := range change {
		fn(&c)
	}
	var err error
	b.issuers, err = identity.New(identity.Config{Issuers: []identity.IssuerConfig{c}, Now: b.now})
	require.NoError(t, err)
	t.Cleanup(b.issuers.Close)
	return b
}

func (b *bench) verify(t *testing.T, token string) (identity.Person, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	return b.issuers.Verify(ctx, token)
}

func requireKind(t *testing.T, kind tool.Kind, err error, what string) {
	t.Helper()
	require.Error(t, err, what)
	require.Equal(t, kind, tool.KindOf(err), "%s: %v", what, err)
}

var acme, beta = map[string]any{"tenant": "acme"}, map[string]any{"tenant": "beta"}

func with(more map[string]any) map[string]any {
	out := map[string]any{"tenant": "acme"}
	maps.Copy(out, more)
	return out
}

func TestValidTokens(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, kid := range []string{"rsa", "ec"} {
		p, err := b.verify(t, b.Token(kid, with(map[string]any{"groups": []string{"eng", "ops", "eng", "cooks"}})))
		require.NoError(t, err)
		require.Equal(t, "user:corp/ada", p.Subject)
		require.Equal(t, "acme", p.Tenant)
		require.Equal(t, []string{"builder", "viewer", "operator"}, p.Roles)
		require.WithinDuration(t, time.Now().Add(time.Hour), p.Expires, time.Minute)
	}
	payload, err := json.Marshal(b.Claims(with(map[string]any{"aud": []string{"other", identitytest.Audience}})))
	require.NoError(t, err)
	p, err := b.verify(t, b.Sign("ec", payload, nil))
	require.NoError(t, err, "a token that names no key is tried with all")
	require.Empty(t, p.Roles)
	p, err = b.verify(t, b.Token("rsa", with(map[string]any{"groups": "ops eng"})))
	require.NoError(t, err)
	require.Equal(t, []string{"operator", "builder", "viewer"}, p.Roles)
	require.EqualValues(t, 1, b.Fetches.Load(), "keys are fetched once")
}

// Roles may be anywhere in a token, and a tenant fixed.
func TestMapping(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *identity.IssuerConfig) {
		c.RolesClaim, c.DefaultRoles = "/realm_access/roles", []string{"viewer"}
		c.TenantClaim, c.Tenants, c.Tenant = "", nil, "acme"
	})
	p, err := b.verify(t, b.Token("rsa", map[string]any{
		"tenant": "beta", "realm_access": map[string]any{"roles": []any{"ops", 7}},
	}))
	require.NoError(t, err)
	require.Equal(t, "acme", p.Tenant, "a claim does not count beside a fixed tenant")
	require.Equal(t, []string{"viewer", "operator"}, p.Roles)
}

// Every token here is refused, with whatever key it is signed.
func TestHostileTokens(t *testing.T) {
	t.Parallel()
	b := setup(t)
	valid := b.Token("rsa", acme)
	parts := strings.Split(valid, ".")
	encode := base64.RawURLEncoding.EncodeToString
	part := func(v map[string]any) string {
		raw, err := json.Marshal(v)
		require.NoError(t, err)
		return encode(raw)
	}
	// headed is a token with the payload and the signature of a valid one, and another head.
	headed := func(algorithm string) string {
		return part(map[string]any{"alg": algorithm, "kid": "rsa"}) + "." + parts[1] + "." + parts[2]
	}
	raw := func(payload string) string { return b.Sign("rsa", []byte(payload), map[string]any{"kid": "rsa"}) }
	claims, err := json.Marshal(b.Claims(acme))
	require.NoError(t, err)
	members := strings.TrimSuffix(string(claims), "}")
	head := func(more map[string]any) string { return b.Sign("rsa", claims, more) }

	der, err := x509.MarshalPKIXPublicKey(b.Public("rsa"))
	require.NoError(t, err)
	confused := part(map[string]any{"alg": "HS256", "kid": "rsa"}) + "." + parts[1]
	hmacWith := func(secret []byte) string {
		mac := hmac.New(sha256.New, secret)
		mac.Write([]byte(confused))
		return confused + "." + encode(mac.Sum(nil))
	}
	stranger := identitytest.New(t)
	now := time.Now()
	for name, token := range map[string]string{
		"alg none":                          part(map[string]any{"alg": "none"}) + "." + parts[1] + ".",
		"alg None with a signature":         headed("None"),
		"no alg":                            part(map[string]any{"kid": "rsa"}) + "." + parts[1] + "." + parts[2],
		"HS256 with the public key (PEM)":   hmacWith(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})),
		"HS256 with the public key (DER)":   hmacWith(der),
		"an algorithm that is not allowed":  headed("RS384"),
		"the key of another algorithm":      headed("ES256"),
		"a changed claim":                   parts[0] + "." + part(b.Claims(beta)) + "." + parts[2],
		"no signature":                      parts[0] + "." + parts[1] + ".",
		"another issuer":                    stranger.Token("rsa", acme),
		"signed by another issuer":          stranger.Token("rsa", with(map[string]any{"iss": b.URL})),
		"an issuer with a slash more":       b.Token("rsa", with(map[string]any{"iss": b.URL + "/"})),
		"no issuer":                         b.Token("rsa", with(map[string]any{"iss": nil})),
		"another audience":                  b.Token("rsa", with(map[string]any{"aud": "billing"})),
		"an audience among words":           b.Token("rsa", with(map[string]any{"aud": "billing toolcrib"})),
		"no audience":                       b.Token("rsa", with(map[string]any{"aud": nil})),
		"expired":                           b.Token("rsa", with(map[string]any{"exp": now.Add(-time.Minute).Unix()})),
		"no expiry":                         b.Token("rsa", with(map[string]any{"exp": nil})),
		"an expiry that is a text":          b.Token("rsa", with(map[string]any{"exp": "2099-01-01"})),
		"an endless expiry":                 raw(`{"iss":"` + b.URL + `","aud":"toolcrib","sub":"ada","tenant":"acme","exp":1e300}`),
		"not valid yet":                     b.Token("rsa", with(map[string]any{"nbf": now.Add(time.Minute).Unix()})),
		"issued in the future":              b.Token("rsa", with(map[string]any{"iat": now.Add(time.Minute).Unix()})),
		"nbf that is a text":                b.Token("rsa", with(map[string]any{"nbf": "soon"})),
		"a tenant that is not the issuer's": b.Token("rsa", map[string]any{"tenant": "gamma"}),
		"no tenant":                         b.Token("rsa", nil),
		"a tenant that is a list":           b.Token("rsa", map[string]any{"tenant": []string{"acme"}}),
		"no subject":                        b.Token("rsa", with(map[string]any{"sub": nil})),
		"an empty subject":                  b.Token("rsa", with(map[string]any{"sub": ""})),
		"a subject with a space":            b.Token("rsa", with(map[string]any{"sub": "ada lovelace"})),
		"a subject with a line":             b.Token("rsa", with(map[string]any{"sub": "ada\nkey:1"})),
		"a long subject":                    b.Token("rsa", with(map[string]any{"sub": strings.Repeat("a", 256)})),
		"a huge token":                      b.Token("rsa", with(map[string]any{"pad": strings.Repeat("a", 20_000)})),
		"a kid that is a path":              head(map[string]any{"kid": "../../../../dev/null"}),
		"a kid that is a URL":               head(map[string]any{"kid": stranger.URL + "/keys"}),
		"a long kid":                        head(map[string]any{"kid": strings.Repeat("k", 300)}),
		"a kid that is a number":            head(map[string]any{"kid": 7}),
		"a kid of another key":              head(map[string]any{"kid": "ec"}),
		"a head that must be understood":    head(map[string]any{"kid": "rsa", "crit": []string{"exp"}, "exp": 1}),
		"a token of another type":           head(map[string]any{"kid": "rsa", "typ": "logout+jwt"}),
		"a claim twice":                     raw(members + `,"tenant":"beta"}`),
		"a claim twice by case":             raw(members + `,"Tenant":"beta"}`),
		"an audience twice":                 raw(members + `,"aud":"billing"}`),
		"claims that are a list":            raw(`["iss"]`),
		"claims that are null":              raw(`null`),
		"claims of great depth":             raw(members + `,"deep":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}`),
		"text behind the claims":            raw(string(claims) + `{}`),
		"no token":                          "eyJ.a.b",
		"five parts":                        valid + ".a.b",
		"padding":                           parts[0] + "." + parts[1] + "=." + parts[2],
	} {
		_, err := b.verify(t, token)
		requireKind(t, tool.Denied, err, name)
		require.NotContains(t, tool.AsError(err).Msg, "gamma", "a refusal does not echo claims")
	}
	_, err = b.verify(t, valid)
	require.NoError(t, err)
	require.LessOrEqual(t, b.Fetches.Load(), int64(1), "keys that do not exist are asked for once in a while")
}

// The clock of an issuer may be off a little.
func TestClockSkew(t *testing.T) {
	t.Parallel()
	b := setup(t)
	now := time.Now()
	_, err := b.verify(t, b.Token("rsa", with(map[string]any{
		"exp": now.Add(-10 * time.Second).Unix(), "iat": now.Add(10 * time.Second).Unix(),
	})))
	require.NoError(t, err)
	b.move(time.Minute)
	_, err = b.verify(t, b.Token("rsa", with(map[string]any{"exp": now.Unix()})))
	requireKind(t, tool.Denied, err, "later")
}

// Subjects of two issuers are never the same.
func TestSubjectsAreOfTheirIssuer(t *testing.T) {
	t.Parallel()
	one, two := identitytest.New(t), identitytest.New(t)
	config := func(name, url string) identity.IssuerConfig {
		return identity.IssuerConfig{
			Name: name, URL: url, Audiences: []string{identitytest.Audience}, Tenant: "acme", DefaultRoles: []string{"viewer"},
		}
	}
	issuers, err := identity.New(identity.Config{Issuers: []identity.IssuerConfig{
		config("one", one.URL), config("two", two.URL),
	}})
	require.NoError(t, err)
	t.Cleanup(issuers.Close)
	require.Equal(t, []string{one.URL, two.URL}, issuers.URLs())
	a, err := issuers.Verify(t.Context(), one.Token("rsa", nil))
	require.NoError(t, err)
	b, err := issuers.Verify(t.Context(), two.Token("rsa", nil))
	require.NoError(t, err)
	require.Equal(t, "user:one/ada", a.Subject)
	require.Equal(t, "user:two/ada", b.Subject)
	_, err = issuers.Verify(t.Context(), two.Token("rsa", map[string]any{"iss": one.URL}))
	requireKind(t, tool.Denied, err, "a key of the other")

	for what, wrong := range map[string][]identity.IssuerConfig{
		"a name twice": {config("one", one.URL), config("one", two.URL)},
		"a URL twice":  {config("one", one.URL), config("two", one.URL)},
	} {
		_, err := identity.New(identity.Config{Issuers: wrong})
		require.Error(t, err, what)
	}
}

// Keys that change are found, and asked for no more often than is bounded.
func TestKeysChange(t *testing.T) {
	t.Parallel()
	b := setup(t)
	old := b.Token("rsa", acme)
	_, err := b.verify(t, old)
	require.NoError(t, err)
	b.AddKey("next", jose.ES256)
	b.RemoveKey("rsa")
	next := b.Token("next", acme)
	_, err = b.verify(t, next)
	requireKind(t, tool.Denied, err, "the keys were fetched just now")
	for range 50 {
		_, _ = b.verify(t, next)
	}
	require.EqualValues(t, 1, b.Fetches.Load())
	b.move(11 * time.Second)
	_, err = b.verify(t, next)
	require.NoError(t, err)
	require.EqualValues(t, 2, b.Fetches.Load())
	_, err = b.verify(t, old)
	requireKind(t, tool.Denied, err, "a key that the issuer took back")
	b.move(11 * time.Minute)
	_, err = b.verify(t, b.Token("ec", acme))
	require.NoError(t, err)
	require.EqualValues(t, 3, b.Fetches.Load(), "keys are fetched anew once they are old")
}

// An issuer that cannot be reached, or whose keys cannot be read, makes no token invalid.
func TestIssuerIsAway(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]http.HandlerFunc{
		"broken": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) },
		"huge": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(append([]byte(`{"keys":[],"pad":"`), bytes.Repeat([]byte("a"), 600<<10)...))
		},
		"a page":  func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) },
		"no keys": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"keys":[]}`)) },
		"secret keys": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"keys":[{"kty":"oct","k":"AAAA"}]}`))
		},
		"keys twice": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"keys":[],"keys":[]}`)) },
		"another place": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
		},
	} {
		b := setup(t)
		b.Answer(answer)
		token := b.Token("rsa", acme)
		_, err := b.verify(t, token)
		requireKind(t, tool.Unavailable, err, name)
		require.Positive(t, tool.AsError(err).RetryAfter, name)
		fetches := b.Fetches.Load()
		for range 20 {
			_, err = b.verify(t, token)
			requireKind(t, tool.Unavailable, err, name)
		}
		require.Equal(t, fetches, b.Fetches.Load(), "%s: it is not asked for each token", name)
		b.Answer(nil)
		b.move(11 * time.Second)
		_, err = b.verify(t, token)
		require.NoError(t, err, name)
		b.Answer(answer)
		b.move(time.Hour)
		_, err = b.verify(t, b.Token("ec", with(map[string]any{"exp": b.now().Add(time.Hour).Unix()})))
		require.NoError(t, err, "%s: keys that were there are used meanwhile", name)
	}
}

// A slow issuer holds its own tokens up for a bounded time, and everyone waits for one request.
func TestIssuerIsSlow(t *testing.T) {
	t.Parallel()
	b := setup(t)
	release := make(chan struct{})
	b.Answer(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	t.Cleanup(func() { close(release) })
	token := b.Token("rsa", acme)
	ctx, cancel := context.WithCancel(t.Context())
	var waiting sync.WaitGroup
	for range 10 {
		waiting.Go(func() {
			_, err := b.issuers.Verify(ctx, token)
			require.Error(t, err)
			require.Equal(t, tool.Unavailable, tool.KindOf(err))
		})
	}
	require.Eventually(t, func() bool { return b.Fetches.Load() == 1 }, time.Minute, time.Millisecond)
	cancel()
	waiting.Wait()
	require.EqualValues(t, 1, b.Fetches.Load())
}

func TestConfigurations(t *testing.T) {
	t.Parallel()
	valid := identity.IssuerConfig{
		Name: "corp", URL: "https://login.example.com", Audiences: []string{"toolcrib"}, Tenant: "acme",
		DefaultRoles: []string{"viewer"},
	}
	_, err := identity.New(identity.Config{Issuers: []identity.IssuerConfig{valid}})
	require.NoError(t, err)
	for what, change := range map[string]func(*identity.IssuerConfig){
		"no name":             func(c *identity.IssuerConfig) { c.Name = "" },
		"a name with a slash": func(c *identity.IssuerConfig) { c.Name = "a/b" },
		"http":                func(c *identity.IssuerConfig) { c.URL = "http://login.example.com" },
		"a query":             func(c *identity.IssuerConfig) { c.URL += "?a=b" },
		"no audience":         func(c *identity.IssuerConfig) { c.Audiences = nil },
		"two tenants":         func(c *identity.IssuerConfig) { c.TenantClaim = "tenant" },
		"no tenant":           func(c *identity.IssuerConfig) { c.Tenant = "" },
		"nothing permitted":   func(c *identity.IssuerConfig) { c.DefaultRoles = nil },
		"a role's name":       func(c *identity.IssuerConfig) { c.DefaultRoles = []string{"*"} },
		"HS256":               func(c *identity.IssuerConfig) { c.Algorithms = []string{"RS256", "HS256"} },
		"none":                func(c *identity.IssuerConfig) { c.Algorithms = []string{"none"} },
		"a large skew":        func(c *identity.IssuerConfig) { c.ClockSkew = time.Hour },
		"keys without TLS":    func(c *identity.IssuerConfig) { c.KeysURL = "http://login.example.com/keys" },
	} {
		c := valid
		change(&c)
		_, err := identity.New(identity.Config{Issuers: []identity.IssuerConfig{c}})
		require.Error(t, err, what)
		require.Contains(t, err.Error(), "issuer", what)
	}
}

// The example of the deployment is a configuration.
func TestExampleOfIssuers(t *testing.T) {
	t.Parallel()
	read, err := identity.ReadFile("../../deploy/oidc-issuers.yaml")
	require.NoError(t, err)
	issuers, err := identity.New(identity.Config{Issuers: read})
	require.NoError(t, err)
	t.Cleanup(issuers.Close)
	require.Equal(t, []string{"https://login.example.com/realms/corp"}, issuers.URLs())
}
