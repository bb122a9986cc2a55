package api_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/api"
	"github.com/toolcrib/toolcrib/platform/identity"
	"github.com/toolcrib/toolcrib/platform/identity/identitytest"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// setupIssuer is setup with an issuer whose tokens name their tenant.
func setupIssuer(t *testing.T, change ...func(*identity.IssuerConfig)) (*bundle, *identitytest.Issuer) {
	t.Helper()
	issuer := identitytest.New(t)
	c := identity.IssuerConfig{
		Name: "corp", URL: issuer.URL, Audiences: []string{identitytest.Audience}, TenantClaim: "tenant",
		Roles: map[string][]string{"eng": {"builder"}, "lead": {"approver"}, "desk": {"support"}, "boss": {"admin"}},
	}
	for _, fn := range change {
		fn(&c)
	}
	issuers, err := identity.New(identity.Config{Issuers: []identity.IssuerConfig{c}})
	require.NoError(t, err)
	t.Cleanup(issuers.Close)
	return setup(t, func(cfg *api.Config) { cfg.Issuers = issuers }), issuer
}

func (b *bundle) slug(t *testing.T) string {
	t.Helper()
	own, err := b.Store.FindTenant(t.Context(), b.tenant)
	require.NoError(t, err)
	return own.Slug
}

// A token of an issuer does what its groups are mapped to, for the tenant that it names.
func TestTokensOfIssuers(t *testing.T) {
	t.Parallel()
	b, issuer := setupIssuer(t)
	slug := b.slug(t)
	token := func(tenant string, groups ...string) string {
		return issuer.Token("rsa", map[string]any{"tenant": tenant, "groups": groups})
	}
	status := func(path, token string) int { return b.do(t, http.MethodGet, path, "", token).status }
	for _, name := range []string{slug, string(b.tenant)} {
		require.Equal(t, http.StatusOK, status("/v1/tools", token(name, "eng")))
		require.Equal(t, http.StatusForbidden, status("/v1/keys", token(name, "eng")))
	}
	require.Equal(t, http.StatusForbidden, status("/v1/tools", token(slug, "cooks")), "a group without roles")
	require.Equal(t, http.StatusForbidden, status("/v1/runs", token(slug, "desk")), "a role that does not exist yet")
	made := b.do(t, http.MethodPost, "/v1/roles", `{"name":"support","permissions":["runs.read"]}`)
	require.Equal(t, http.StatusCreated, made.status)
	require.Equal(t, http.StatusOK, status("/v1/runs", token(slug, "desk")), "a role of the tenant")

	mcp := b.send(t, http.MethodPost, "/mcp", hello,
		map[string]string{"Accept": "application/json, text/event-stream"}, token(slug, "eng"))
	require.Equal(t, http.StatusOK, mcp.status, string(mcp.body))

	users, err := b.Store.ListTokenUsers(t.Context(), b.tenant, 10)
	require.NoError(t, err)
	require.Len(t, users, 1)
	require.Equal(t, "user:corp/ada", users[0].Subject)
	require.WithinDuration(t, time.Now(), users[0].LastSeenAt, time.Minute)

	people := b.do(t, http.MethodGet, "/v1/people", "")
	require.Equal(t, http.StatusOK, people.status, string(people.body))
	require.Contains(t, string(people.body), `"subject":"user:corp/ada"`)
	got := b.do(t, http.MethodPost, "/v1/keys", `{"name":"mine","permissions":["tools.read"]}`, token(slug, "boss"))
	require.Equal(t, http.StatusCreated, got.status, string(got.body))
	require.Contains(t, string(got.body), `"created_by":"user:corp/ada"`)
	lasting := b.do(t, http.MethodPost, "/v1/schedules", `{"name":"nightly","agent":"desk","input":"x","every_s":3600}`, token(slug, "boss"))
	require.Equal(t, http.StatusForbidden, lasting.status, string(lasting.body))
	require.Contains(t, lasting.problem(t).Detail, "use an API key")
}

// A person who approves by a token is recorded by name and issuer, and approves no run of their own.
func TestPeopleApprove(t *testing.T) {
	t.Parallel()
	b, issuer := setupIssuer(t)
	slug := b.slug(t)
	theirs := b.asks(t, "user:theirs")
	token := issuer.Token("ec", map[string]any{"tenant": slug, "groups": []string{"lead"}})
	got := b.do(t, http.MethodPost, "/v1/approvals/"+theirs.ID+"/approve", `{}`, token)
	require.Equal(t, http.StatusOK, got.status, string(got.body))
	require.Contains(t, string(got.body), `"subject":"user:corp/ada"`)
	own := b.asks(t, "user:corp/ada")
	got = b.do(t, http.MethodPost, "/v1/approvals/"+own.ID+"/approve", `{}`, token)
	require.Equal(t, http.StatusForbidden, got.status, string(got.body))
}

// Tokens that are not accepted are refused as keys are, and an issuer that is away is no reason to
// sign in again.
func TestTokensThatOpenNothing(t *testing.T) {
	t.Parallel()
	b, issuer := setupIssuer(t)
	slug := b.slug(t)
	suspended := b.Tenant(t)
	_, err := b.Platform.SetTenantStatus(t.Context(), suspended, store.TenantSuspended)
	require.NoError(t, err)
	refused := func(what, token string) {
		got := b.do(t, http.MethodGet, "/v1/tools", "", token)
		require.Equal(t, http.StatusUnauthorized, got.status, what)
		p := got.problem(t)
		require.Contains(t, p.Detail, "the token is not valid", what)
		require.Contains(t, got.header.Get("WWW-Authenticate"), "Bearer", what)
	}
	claims := func(tenant string) map[string]any { return map[string]any{"tenant": tenant, "groups": []string{"eng"}} }
	refused("an unknown tenant", issuer.Token("rsa", claims("no-such-tenant")))
	refused("a suspended tenant", issuer.Token("rsa", claims(string(suspended))))
	refused("an id of no tenant", issuer.Token("rsa", claims("01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6")))
	refused("another issuer", identitytest.New(t).Token("rsa", claims(slug)))
	expired := claims(slug)
	expired["exp"] = time.Now().Add(-time.Hour).Unix()
	refused("expired", issuer.Token("rsa", expired))

	without := setup(t)
	got := without.do(t, http.MethodGet, "/v1/tools", "", issuer.Token("rsa", claims(slug)))
	require.Equal(t, http.StatusUnauthorized, got.status, "a server without issuers")

	away, issuer := setupIssuer(t)
	issuer.Answer(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	got = away.do(t, http.MethodGet, "/v1/tools", "", issuer.Token("rsa", claims(away.slug(t))))
	require.Equal(t, http.StatusServiceUnavailable, got.status)
	p := got.problem(t)
	require.Equal(t, tool.Unavailable, p.Code)
	require.NotEmpty(t, got.header.Get("Retry-After"))
	require.Equal(t, http.StatusOK, away.do(t, http.MethodGet, "/v1/tools", "").status, "keys are served meanwhile")
}

// The metadata of the MCP server names the issuers.
func TestMetadataNamesIssuers(t *testing.T) {
	t.Parallel()
	b, issuer := setupIssuer(t)
	var metadata struct {
		Servers []string `json:"authorization_servers"`
	}
	got := b.do(t, http.MethodGet, "/.well-known/oauth-protected-resource/mcp", "", "")
	require.NoError(t, json.Unmarshal(got.body, &metadata))
	require.Equal(t, []string{issuer.URL}, metadata.Servers)
}

// People are bounded as keys are: each by themselves, whatever token they show.
func TestTokenLimit(t *testing.T) {
	t.Parallel()
	b, issuer := setupIssuer(t)
	issuers, err := identity.New(identity.Config{Issuers: []identity.IssuerConfig{{
		Name: "corp", URL: issuer.URL, Audiences: []string{identitytest.Audience}, Tenant: string(b.tenant),
		DefaultRoles: []string{"viewer"},
	}}})
	require.NoError(t, err)
	t.Cleanup(issuers.Close)
	limited := setup(t, func(c *api.Config) {
		c.Store, c.Issuers, c.KeyLimits = b.Store, issuers, store.Limits{RequestsPerSecond: 1, Burst: 2}
	})
	statuses := map[int]int{}
	for i := range 6 {
		token := issuer.Token("ec", map[string]any{"jti": i})
		statuses[limited.do(t, http.MethodGet, "/v1/tools", "", token).status]++
	}
	require.Positive(t, statuses[http.StatusTooManyRequests])
	require.GreaterOrEqual(t, statuses[http.StatusOK], 2)
	require.Equal(t, http.StatusOK, limited.do(t, http.MethodGet, "/v1/tools", "",
		issuer.Token("ec", map[string]any{"sub": "bob"})).status, "another person")
}
