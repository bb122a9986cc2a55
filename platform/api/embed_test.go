package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/audit"
	"github.com/toolcrib/toolcrib/platform/api"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/toolembed"
)

const shop = "https://shop.example.com"

// allowOrigin lets pages of an origin frame tools of the bundle's tenant.
func allowOrigin(t *testing.T, b *bundle, origin string) toolembed.Origin {
	t.Helper()
	made, err := b.Store.AddEmbedOrigin(t.Context(), toolembed.Origin{
		ID: uuid.Must(uuid.NewV7()).String(), Tenant: b.tenant, Origin: origin,
	})
	require.NoError(t, err)
	return made
}

// Origins are allowed, listed and taken away, and each change is in the audit log.
func TestEmbedOrigins(t *testing.T) {
	t.Parallel()

	b := setup(t)
	add := func(origin string, key ...string) answer {
		return b.do(t, http.MethodPost, "/v1/embed-origins", `{"origin":"`+origin+`"}`, key...)
	}
	for origin, says := range map[string]string{
		"https://*.example.com": "wildcard", "http://shop.example.com": "http", shop + "/a": "a scheme", "shop": "no address",
	} {
		got := add(origin)
		require.Equal(t, http.StatusUnprocessableEntity, got.status, origin)
		require.Equal(t, "/origin", got.problem(t).Path)
		require.Contains(t, got.problem(t).Detail, says)
	}
	list := func() []v1.EmbedOrigin {
		return as[v1.Page[v1.EmbedOrigin]](t, b.do(t, http.MethodGet, "/v1/embed-origins", ""), http.StatusOK).Items
	}
	require.Empty(t, list())
	made := as[v1.EmbedOrigin](t, add(shop), http.StatusCreated)
	require.Equal(t, made, as[v1.EmbedOrigin](t, add(shop), http.StatusCreated))
	require.Equal(t, []v1.EmbedOrigin{made}, list())
	local := as[v1.EmbedOrigin](t, add("http://localhost:3000"), http.StatusCreated)
	reader := b.Key(t, b.tenant, api.TenantsRead)
	require.Equal(t, http.StatusForbidden, add("https://more.example.com", reader).status)
	require.Equal(t, http.StatusForbidden, b.do(t, http.MethodDelete, "/v1/embed-origins/"+made.ID, "", reader).status)
	require.Equal(t, http.StatusOK, b.do(t, http.MethodGet, "/v1/embed-origins", "", reader).status)
	require.Equal(t, http.StatusOK, b.do(t, http.MethodDelete, "/v1/embed-origins/"+local.ID, "").status)
	require.Equal(t, http.StatusNotFound, b.do(t, http.MethodDelete, "/v1/embed-origins/"+local.ID, "").status)

	written, err := b.Store.ListAudit(t.Context(), b.tenant, audit.Query{Limit: 100})
	require.NoError(t, err)
	var seen []string
	for _, e := range written {
		if e.Action.Kind() == "embed_origin" {
			seen = append(seen, string(e.Action)+" "+e.Object.Name+" "+string(e.Outcome))
		}
	}
	require.ElementsMatch(t, []string{
		"embed_origin.created " + shop + " done", "embed_origin.created http://localhost:3000 done",
		"embed_origin.deleted http://localhost:3000 done", "embed_origin.created  refused",
		"embed_origin.deleted " + made.ID + " refused",
	}, seen)
}

// A key makes tokens with the permission for it, of tools that it may call, for origins that the tenant allows. The
// token is in one answer alone, and its hash is what is stored.
func TestEmbedTokens(t *testing.T) {
	t.Parallel()

	b := setup(t, func(c *api.Config) { c.PublicURL = "https://tools.example.com/" })
	guardedTool := strings.Replace(echo("guarded"), `"description"`, `"required_permission":"orders.read","description"`, 1)
	b.apply(t, echo("say"), guardedTool, draft("unpublished"))
	origin := allowOrigin(t, b, shop)
	backend := b.Key(t, b.tenant, api.EmbedsMint)
	mint := func(body string, key ...string) answer {
		return b.do(t, http.MethodPost, "/v1/embed-tokens", body, key...)
	}
	of := func(name, origin, caller string) string {
		return `{"tool":"` + name + `","origin":"` + origin + `","caller":"` + caller + `"}`
	}
	for name, c := range map[string]struct {
		body, key string
		status    int
		says      string
	}{
		"no permission":   {of("say", shop, "c-7"), b.Key(t, b.tenant, api.RunsWrite), 403, api.EmbedsMint},
		"not its tool":    {of("guarded", shop, "c-7"), backend, 403, "permission"},
		"unknown tool":    {of("none", shop, "c-7"), backend, 404, "none"},
		"a draft":         {of("unpublished", shop, "c-7"), backend, 409, "draft"},
		"another origin":  {of("say", "https://other.example.com", "c-7"), backend, 403, "does not allow pages"},
		"no origin":       {of("say", "https://*", "c-7"), backend, 422, "wildcard"},
		"no caller":       {of("say", shop, "c 7"), backend, 422, "/caller"},
		"another version": {`{"tool":"say","version":"2.0.0","origin":"` + shop + `","caller":"c"}`, backend, 404, "2.0.0"},
	} {
		got := mint(c.body, c.key)
		require.Equal(t, c.status, got.status, "%s: %s", name, got.body)
		require.Contains(t, string(got.body), c.says, name)
	}
	made := as[v1.EmbedToken](t, mint(of("say", shop, "c-7"), backend), http.StatusCreated)
	require.Equal(t, "https://tools.example.com/embed/"+b.slug(t)+"/say", made.URL)
	require.Equal(t, "1.0.0", made.Version)
	require.True(t, strings.HasPrefix(made.Subject, "embed:") && strings.HasSuffix(made.Subject, ":c-7"), made.Subject)
	token, ok := toolembed.ReadToken(made.Token)
	require.True(t, ok)
	open := func() error {
		_, err := b.Store.OpenEmbedToken(t.Context(), b.tenant, token.ID, token.Hash(), shop)
		return err
	}
	require.NoError(t, open())
	stranger := b.Key(t, b.Tenant(t), "*")
	require.Equal(t, http.StatusNotFound, mint(of("say", shop, "c-7"), stranger).status, "its tool is not theirs")
	require.Equal(t, http.StatusOK, b.do(t, http.MethodDelete, "/v1/embed-origins/"+origin.ID, "").status)
	require.Equal(t, tool.NotFound, tool.KindOf(open()), "its origin is allowed no longer")
	require.Equal(t, http.StatusForbidden, mint(of("say", shop, "c-7"), backend).status)
}

// A token runs its tool in a frame and does nothing else: no endpoint takes it, so that it approves nothing, opens no
// credential and publishes nothing.
func TestAnEmbedTokenDoesNothingElse(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.apply(t, echo("say"))
	allowOrigin(t, b, shop)
	made := as[v1.EmbedToken](t, b.do(t, http.MethodPost, "/v1/embed-tokens",
		`{"tool":"say","origin":"`+shop+`","caller":"c-7"}`), http.StatusCreated)
	tried := 0
	for _, op := range operations(t, b) {
		if len(op.security) == 0 {
			continue
		}
		for _, id := range []string{"say", uuid.NewString()} {
			for _, body := range []string{"", "{}"} {
				got := b.do(t, op.method, fill(op.path, id), body, made.Token)
				require.Equal(t, http.StatusUnauthorized, got.status, "%s %s", op.method, op.path)
				require.NotContains(t, string(got.body), made.Token)
			}
		}
		tried++
	}
	require.Greater(t, tried, 100)
	for _, path := range []string{"/mcp", "/mcp/say", "/v1/codec/decode", "/v1/codec/encode"} {
		require.Equal(t, http.StatusUnauthorized, b.send(t, http.MethodPost, path, "{}",
			mcpHeader(map[string]string{"Mcp-Protocol-Version": "2026-07-28"}), made.Token).status, path)
	}
	session := b.do(t, http.MethodPost, "/v1/session", `{"key":"`+made.Token+`"}`, "")
	require.GreaterOrEqual(t, session.status, http.StatusBadRequest, "it opens no session")
	require.Empty(t, session.header.Get("Set-Cookie"))
}
