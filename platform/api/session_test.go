package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/api"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// browsers lets browsers sign in without TLS, and once with a code.
func browsers(cfg *api.Config) { cfg.Browsers.PlainHTTP = true }

// browser is one that may be signed in.
type browser struct {
	*bundle
	cookie string
}

// ask sends a request as the console does.
func (b *browser) ask(t *testing.T, method, path, tenant, body string, more ...string) answer {
	t.Helper()
	header := map[string]string{}
	if b.cookie != "" {
		header["Cookie"] = b.cookie
	}
	if tenant != "" {
		header[api.TenantHeader] = tenant
	}
	if method != http.MethodGet {
		header[api.BrowserHeader], header["Content-Type"] = "1", "application/json"
	}
	for i := 0; i < len(more); i += 2 {
		header[more[i]] = more[i+1]
	}
	return b.send(t, method, path, body, header, "")
}

// signIn signs the browser in with a key, and returns the slug of its tenant.
func (b *browser) signIn(t *testing.T, key string) string {
	t.Helper()
	got := b.ask(t, http.MethodPost, "/v1/session", "", `{"credential":"`+key+`"}`)
	require.Equal(t, http.StatusOK, got.status, string(got.body))
	cookie := got.header.Get("Set-Cookie")
	require.Contains(t, cookie, "HttpOnly")
	require.Contains(t, cookie, "SameSite=Lax")
	before := b.cookie
	b.cookie, _, _ = strings.Cut(cookie, ";")
	require.NotEqual(t, before, b.cookie, "the secret is another after each sign-in")
	require.NotContains(t, cookie, key)
	var in v1.SignedIn
	got.into(t, &in)
	return in.Tenant.Slug
}

// A key is traded for a cookie, whose requests have the authority that the key has now, in the tenant
// that they name.
func TestBrowsersSignIn(t *testing.T) {
	t.Parallel()

	b := setup(t, browsers)
	w := &browser{bundle: b}
	slug := w.signIn(t, b.Key(t, b.tenant, api.ToolsRead, api.ToolsWrite))
	got := w.ask(t, http.MethodGet, "/v1/tools", slug, "")
	require.Equal(t, http.StatusOK, got.status, string(got.body))
	require.Equal(t, slug, got.header.Get(api.TenantHeader), "the answer names its tenant")
	require.Equal(t, "no-store", got.header.Get("Cache-Control"))
	require.Equal(t, http.StatusForbidden, w.ask(t, http.MethodGet, "/v1/runs", slug, "").status, "as its key")
	require.Equal(t, http.StatusBadRequest, w.ask(t, http.MethodGet, "/v1/tools", "", "").status, "no tenant is named")
	require.Equal(t, http.StatusOK, w.ask(t, http.MethodPost, "/v1/apply", slug, batch(t, true, echo("hum"))).status)

	var me v1.Me
	w.ask(t, http.MethodGet, "/v1/me", slug, "").into(t, &me)
	require.Equal(t, slug, me.Tenant.Slug)
	require.ElementsMatch(t, []string{api.ToolsRead, api.ToolsWrite}, me.Permissions)
	require.Contains(t, me.Features, v1.Feature{Name: "tools", Available: true})
	require.Contains(t, me.Features, v1.Feature{
		Name: "approvals", Because: "your key lacks the permission approvals.read",
	})
	me = v1.Me{}
	w.ask(t, http.MethodGet, "/v1/me", "", "").into(t, &me)
	require.Nil(t, me.Tenant)
	require.Len(t, me.Tenants, 1)
	require.Empty(t, me.Permissions)
}

// A browser may be signed in to several tenants; each request is of the one it names, and a tenant it is
// not signed in to looks like none.
func TestABrowserKeepsItsTenantsApart(t *testing.T) {
	t.Parallel()

	b := setup(t, browsers)
	w := &browser{bundle: b}
	one := w.signIn(t, b.key)
	old := w.cookie
	other := b.Tenant(t)
	two := w.signIn(t, b.Key(t, other, api.ToolsRead))
	stranger := b.Tenant(t)
	hidden, err := b.Store.FindTenant(t.Context(), stranger)
	require.NoError(t, err)

	require.Equal(t, http.StatusOK, w.ask(t, http.MethodGet, "/v1/tools", one, "").status)
	require.Equal(t, http.StatusOK, w.ask(t, http.MethodGet, "/v1/tools", two, "").status)
	require.Equal(t, http.StatusForbidden, w.ask(t, http.MethodGet, "/v1/runs", two, "").status, "another key")
	var me v1.Me
	w.ask(t, http.MethodGet, "/v1/me", one, "").into(t, &me)
	require.Len(t, me.Tenants, 2)

	refused := w.ask(t, http.MethodGet, "/v1/tools", hidden.Slug, "").problem(t)
	unknown := w.ask(t, http.MethodGet, "/v1/tools", "no-such-tenant", "").problem(t)
	require.Equal(t, http.StatusUnauthorized, refused.Status)
	require.Equal(t, refused.Detail, unknown.Detail)
	require.Equal(t, refused.Status, unknown.Status)

	w.cookie = old
	require.Equal(t, http.StatusUnauthorized, w.ask(t, http.MethodGet, "/v1/tools", one, "").status,
		"the secret before the second sign-in opens nothing")
}

// A session ends with its key, with its tenant, and when the browser signs out.
func TestSessionsEnd(t *testing.T) {
	t.Parallel()

	b := setup(t, browsers)
	key, text, err := b.Store.CreateKey(t.Context(), store.Key{
		Tenant: b.tenant, Name: "browser", Permissions: []string{api.ToolsRead},
	})
	require.NoError(t, err)
	revoked, out := &browser{bundle: b}, &browser{bundle: b}
	slug := revoked.signIn(t, text)
	require.Equal(t, http.StatusOK, revoked.ask(t, http.MethodGet, "/v1/tools", slug, "").status)
	_, err = b.Store.RevokeKey(t.Context(), b.tenant, key.ID)
	require.NoError(t, err)
	require.Equal(t, http.StatusUnauthorized, revoked.ask(t, http.MethodGet, "/v1/tools", slug, "").status)

	out.signIn(t, b.key)
	got := out.ask(t, http.MethodDelete, "/v1/session", "", "")
	require.Equal(t, http.StatusNoContent, got.status, string(got.body))
	require.Equal(t, `"cache", "storage"`, got.header.Get("Clear-Site-Data"))
	require.Contains(t, got.header.Get("Set-Cookie"), "Max-Age=0")
	require.Equal(t, http.StatusUnauthorized, out.ask(t, http.MethodGet, "/v1/tools", slug, "").status)

	_, err = b.Platform.SetTenantStatus(t.Context(), b.tenant, store.TenantSuspended)
	require.NoError(t, err)
	require.Equal(t, http.StatusUnauthorized, (&browser{bundle: b}).ask(t, http.MethodPost, "/v1/session", "",
		`{"credential":"`+b.key+`"}`).status)
}

// What another site could make a browser send changes nothing.
func TestOtherSitesSendNothing(t *testing.T) {
	t.Parallel()

	b := setup(t, browsers)
	w := &browser{bundle: b}
	slug := w.signIn(t, b.key)
	body := batch(t, true, echo("hum"))
	for name, more := range map[string][]string{
		"another site":       {"Sec-Fetch-Site", "cross-site"},
		"another origin":     {"Origin", "https://evil.example"},
		"a form":             {"Content-Type", "text/plain"},
		"a form of its host": {api.BrowserHeader, "0"},
	} {
		got := w.ask(t, http.MethodPost, "/v1/apply", slug, body, more...)
		require.Equal(t, http.StatusForbidden, got.status, "%s: %s", name, got.body)
		got = w.ask(t, http.MethodPost, "/v1/session", "", `{"credential":"`+b.key+`"}`, more...)
		require.Contains(t, []int{http.StatusForbidden, http.StatusUnsupportedMediaType}, got.status,
			"%s signs no one in: %s", name, got.body)
		require.Empty(t, got.header.Get("Set-Cookie"))
	}
	got := w.ask(t, http.MethodGet, "/v1/tools", slug, "", "Authorization", "Bearer "+b.key)
	require.Equal(t, http.StatusBadRequest, got.status, "a key and a cookie")
}

// A browser uploads files in their own types, from its own pages alone.
func TestBrowsersUploadFiles(t *testing.T) {
	t.Parallel()

	b := setup(t, browsers)
	w := &browser{bundle: b}
	slug := w.signIn(t, b.key)
	content := pngOf(t, 4, 3)
	for _, media := range []string{"image/png", "application/octet-stream", "text/plain"} {
		got := w.ask(t, http.MethodPost, "/v1/files?name=plan.png", slug, content, "Content-Type", media)
		require.Equal(t, http.StatusCreated, got.status, "%s: %s", media, got.body)
		var stored v1.File
		got.into(t, &stored)
		require.Equal(t, "image/png", stored.MediaType)
	}
	for name, more := range map[string][]string{
		"another site":       {"Sec-Fetch-Site", "cross-site"},
		"another origin":     {"Origin", "https://evil.example"},
		"a form of its host": {api.BrowserHeader, "0"},
	} {
		more = append(more, "Content-Type", "image/png")
		got := w.ask(t, http.MethodPost, "/v1/files?name=plan.png", slug, content, more...)
		require.Equal(t, http.StatusForbidden, got.status, "%s: %s", name, got.body)
	}
	document := `{"key":"leave.md","content":"aGk="}`
	got := w.ask(t, http.MethodPost, "/v1/pipelines/none/documents", slug, document, "Content-Type", "text/markdown")
	require.Equal(t, http.StatusForbidden, got.status, "a document is JSON: %s", got.body)
}

// A code signs in from the machine of the server, as often as the server lets it.
func TestCodesSignIn(t *testing.T) {
	t.Parallel()

	var key string
	used := false
	b := setup(t, browsers, func(cfg *api.Config) {
		cfg.Browsers.Redeem = func(code string) (string, bool) {
			ok := code == "c0de" && !used
			used = used || ok
			return key, ok
		}
	})
	key = b.key
	w := &browser{bundle: b}
	post := func(body string, more ...string) int {
		return w.ask(t, http.MethodPost, "/v1/session", "", body, more...).status
	}
	require.Equal(t, http.StatusUnauthorized, post(`{"code":"another"}`))
	require.Equal(t, http.StatusUnauthorized, post(`{"code":"c0de"}`, "X-Forwarded-For", "192.0.2.1"), "from elsewhere")
	require.Equal(t, http.StatusOK, post(`{"code":"c0de"}`))
	require.Equal(t, http.StatusUnauthorized, post(`{"code":"c0de"}`), "once")
	require.Equal(t, http.StatusUnprocessableEntity, post(`{}`))
	require.Equal(t, http.StatusUnauthorized, post(`{"credential":"tck_nonsense"}`))
}

// Behind TLS the cookie has the prefix that browsers hold it to.
func TestCookiesAreSecure(t *testing.T) {
	t.Parallel()

	b := setup(t)
	got := (&browser{bundle: b}).ask(t, http.MethodPost, "/v1/session", "", `{"credential":"`+b.key+`"}`)
	require.Equal(t, http.StatusOK, got.status)
	cookie := got.header.Get("Set-Cookie")
	require.True(t, strings.HasPrefix(cookie, "__Host-toolcrib="), cookie)
	for _, part := range []string{"Path=/", "Secure", "HttpOnly", "SameSite=Lax"} {
		require.Contains(t, cookie, part)
	}
	require.NotContains(t, cookie, "Domain")
}

// The server says what it is to those without a key.
func TestMeta(t *testing.T) {
	t.Parallel()

	b := setup(t)
	var meta v1.Meta
	b.do(t, http.MethodGet, "/v1/meta", "", "").into(t, &meta)
	require.Contains(t, meta.ImplementationTypes, "http")
	require.Contains(t, meta.ProblemKinds, string(tool.NotFound))
	require.Contains(t, meta.Permissions, v1.KnownPermission{
		Name: "tools.declare_reads", Meaning: "declare that a tool's POST only reads, beside tools.write",
		Roles: []string{"admin"},
	})
	require.Contains(t, meta.AuditActions, v1.KnownName{
		Name:    "tool.published",
		Meaning: "a version of a tool was published",
	})
	require.Contains(t, meta.WebhookEvents, v1.KnownName{
		Name: "tool.needs_approval", Meaning: "a call waits for approval",
	})
	require.False(t, meta.Development)
	var me v1.Me
	b.do(t, http.MethodGet, "/v1/me", "").into(t, &me)
	require.Contains(t, me.Subject, "key:")
	require.Empty(t, me.Tenants, "a key is in no browser")
}

// A person signs in with a token, which the session outlives, with the roles that it was mapped to.
func TestBrowsersSignInWithTokens(t *testing.T) {
	t.Parallel()

	b, issuer := setupIssuer(t)
	w := &browser{bundle: b}
	slug := w.signIn(t, issuer.Token("rsa", map[string]any{"tenant": b.slug(t), "groups": []string{"eng"}}))
	require.Equal(t, b.slug(t), slug)
	require.Equal(t, http.StatusOK, w.ask(t, http.MethodGet, "/v1/tools", slug, "").status)
	require.Equal(t, http.StatusForbidden, w.ask(t, http.MethodGet, "/v1/keys", slug, "").status)
	var me v1.Me
	w.ask(t, http.MethodGet, "/v1/me", slug, "").into(t, &me)
	require.Equal(t, "user:corp/ada", me.Subject)
}

// A session that was not used for long, or lasted long, opens nothing.
func TestSessionsRunOut(t *testing.T) {
	t.Parallel()

	for _, column := range []string{"idle_ends_at", "ends_at"} {
		b := setup(t, browsers)
		w := &browser{bundle: b}
		slug := w.signIn(t, b.key)
		_, err := b.Conn(t).Exec(t.Context(), "update web_sessions set "+column+" = now()")
		require.NoError(t, err)
		require.Equal(t, http.StatusUnauthorized, w.ask(t, http.MethodGet, "/v1/tools", slug, "").status, column)
		var me v1.Me
		w.ask(t, http.MethodGet, "/v1/me", "", "").into(t, &me)
		require.Empty(t, me.Tenants, column)
	}
}

// A stream that a browser follows ends with its session.
func TestStreamOfABrowser(t *testing.T) {
	t.Parallel()

	b := setup(t, browsers, func(c *api.Config) { c.Streams.Heartbeat = 20 * time.Millisecond })
	w := &browser{bundle: b}
	slug := w.signIn(t, b.Key(t, b.tenant, api.RunsRead))
	b.record(t)
	s := b.stream(t, "/v1/events", http.Header{"Cookie": {w.cookie}, api.TenantHeader: {slug}})
	s.event()
	require.Equal(t, http.StatusNoContent, w.ask(t, http.MethodDelete, "/v1/session", "", "").status)
	require.Empty(t, s.rest(), "nothing follows")
}

// Requests that a person causes renew a session. Its event stream, the authority checks of that stream, and background
// requests of a page do not change when it expires.
func TestPagesDoNotKeepSessions(t *testing.T) {
	t.Parallel()

	b := setup(t, browsers, func(c *api.Config) { c.Streams.Heartbeat = 20 * time.Millisecond })
	w := &browser{bundle: b}
	slug := w.signIn(t, b.key)
	conn := b.Conn(t)
	_, err := conn.Exec(t.Context(), `update web_sessions set last_used_at = now() - interval '11 hours',
		idle_ends_at = now() + interval '1 hour'`)
	require.NoError(t, err)
	left := func() (hours int) {
		require.NoError(t, conn.QueryRow(t.Context(),
			`select round(extract(epoch from idle_ends_at - now()) / 3600)::int from web_sessions`).Scan(&hours))
		return hours
	}
	cookie := http.Header{"Cookie": {w.cookie}, api.TenantHeader: {slug}}
	b.record(t)
	for _, path := range []string{topics("runs"), "/v1/events"} {
		s := b.stream(t, path, cookie)
		for beats := 0; beats < 3; { // By then its authority was looked at, too.
			f, ok := s.next()
			require.True(t, ok)
			if f.comment == "alive" {
				beats++
			}
		}
		require.Equal(t, 1, left(), path)
		s.close()
	}
	for _, path := range []string{"/v1/tools", "/v1/me"} {
		got := w.ask(t, http.MethodGet, path, slug, "", api.BackgroundHeader, "1")
		require.Equal(t, http.StatusOK, got.status, path)
		require.Equal(t, 1, left(), path)
	}
	require.Equal(t, http.StatusOK, w.ask(t, http.MethodGet, "/v1/tools", slug, "").status)
	require.Equal(t, 12, left())
}
