package api_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/audit"
	"github.com/toolcrib/toolcrib/platform/api"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/store"
)

const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"

// signInAs signs a new browser in that calls itself by a name.
func (b *bundle) signInAs(t *testing.T, key, agent string) (*browser, string) {
	t.Helper()
	w := &browser{bundle: b}
	got := w.ask(t, http.MethodPost, "/v1/session", "", `{"credential":"`+key+`"}`, "User-Agent", agent)
	require.Equal(t, http.StatusOK, got.status, string(got.body))
	var in v1.SignedIn
	got.into(t, &in)
	w.cookie = (&http.Response{Header: got.header}).Cookies()[0].String()
	return w, in.Tenant.Slug
}

func (b *browser) sessions(t *testing.T, path, slug string) []v1.BrowserSession {
	t.Helper()
	got := b.ask(t, http.MethodGet, path, slug, "")
	require.Equal(t, http.StatusOK, got.status, string(got.body))
	var page v1.Page[v1.BrowserSession]
	got.into(t, &page)
	return page.Items
}

// A person sees the browsers that they are signed in with, and ends the sessions of the others: theirs alone.
func TestAPersonEndsTheirSessions(t *testing.T) {
	t.Parallel()

	b := setup(t, browsers)
	key, text, err := b.Store.CreateKey(t.Context(), store.Key{
		Tenant: b.tenant, Name: "browser", Permissions: []string{api.ToolsRead},
	})
	require.NoError(t, err)
	one, slug := b.signInAs(t, text, firefox)
	two, _ := b.signInAs(t, text, "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/140.0 Safari/537.36")
	three, _ := b.signInAs(t, text, "")
	other, _ := b.signInAs(t, b.key, firefox)

	found := one.sessions(t, "/v1/me/sessions", slug)
	require.Len(t, found, 3, "of the other key there is nothing")
	require.Equal(t, []string{"", "Chrome on Windows", "Firefox on Linux"},
		[]string{found[0].Browser, found[1].Browser, found[2].Browser})
	require.Equal(t, []bool{false, false, true}, []bool{found[0].Current, found[1].Current, found[2].Current})
	require.Equal(t, "key:"+key.ID, found[0].Subject)
	require.WithinDuration(t, found[0].CreatedAt.Add(store.WebSessionIdle), found[0].Until, time.Minute)

	// The id of a session opens nothing, and one of another principal is as one that is not there.
	theirs := other.sessions(t, "/v1/me/sessions", slug)[0].ID
	none := "01975c2e-7d1a-7c3e-9f00-0000000000c1"
	foreign := one.ask(t, http.MethodDelete, "/v1/me/sessions/"+theirs, slug, "")
	requireSameProblem(t, one.ask(t, http.MethodDelete, "/v1/me/sessions/"+none, slug, ""), foreign, none, theirs)
	require.Equal(t, http.StatusNotFound, foreign.status)
	require.Equal(t, http.StatusUnauthorized, (&browser{bundle: b, cookie: "toolcrib-dev=" + found[2].ID}).
		ask(t, http.MethodGet, "/v1/tools", slug, "").status)

	got := one.ask(t, http.MethodDelete, "/v1/me/sessions/"+found[1].ID, slug, "")
	require.Equal(t, http.StatusNoContent, got.status, string(got.body))
	require.Equal(t, http.StatusUnauthorized, two.ask(t, http.MethodGet, "/v1/tools", slug, "").status)
	require.Equal(t, http.StatusOK, three.ask(t, http.MethodGet, "/v1/tools", slug, "").status)
	require.Equal(t, http.StatusNotFound, one.ask(t, http.MethodDelete, "/v1/me/sessions/"+found[1].ID, slug, "").status)

	var ended v1.EndedSessions
	one.ask(t, http.MethodDelete, "/v1/me/sessions", slug, "").into(t, &ended)
	require.Equal(t, 1, ended.Ended)
	require.Equal(t, http.StatusUnauthorized, three.ask(t, http.MethodGet, "/v1/tools", slug, "").status)
	require.Equal(t, http.StatusOK, one.ask(t, http.MethodGet, "/v1/tools", slug, "").status)
	require.Equal(t, http.StatusOK, other.ask(t, http.MethodGet, "/v1/tools", slug, "").status)
	require.Equal(t, http.StatusForbidden, one.ask(t, http.MethodGet, "/v1/sessions", slug, "").status)
	require.Equal(t, http.StatusForbidden, one.ask(t, http.MethodDelete, "/v1/sessions/"+theirs, slug, "").status)

	one.ask(t, http.MethodDelete, "/v1/session", "", "")
	require.Equal(t, []string{
		"browser_session.created", "browser_session.created", "browser_session.created", // of the key
		"browser_session.deleted", "browser_session.deleted", "refused browser_session.deleted", "browser_session.deleted",
	}, sessionActions(t, b, "key:"+key.ID))
}

// sessionActions returns what the log has of sessions, by an actor, oldest first.
func sessionActions(t *testing.T, b *bundle, actor string) []string {
	t.Helper()
	entries, err := b.Store.ListAudit(t.Context(), b.tenant, audit.Query{Actor: actor, Limit: 100})
	require.NoError(t, err)
	var out []string
	for _, e := range slices.Backward(entries) {
		switch {
		case e.Object.Kind != "browser_session":
		case e.Outcome == audit.Refused:
			out = append(out, "refused "+string(e.Action))
		default:
			require.NotContains(t, string(e.Before)+string(e.After), `"\\x`, "no digest is shown")
			out = append(out, string(e.Action))
		}
	}
	return out
}

// Those who manage keys see who is signed in, and end the sessions of any key; revoking it ends all of its own.
func TestSessionsOfOthersAreEnded(t *testing.T) {
	t.Parallel()

	b := setup(t, browsers, func(c *api.Config) { c.Streams.Heartbeat = 20 * time.Millisecond })
	key, text, err := b.Store.CreateKey(t.Context(), store.Key{
		Tenant: b.tenant, Name: "browser", Permissions: []string{api.RunsRead},
	})
	require.NoError(t, err)
	one, slug := b.signInAs(t, text, firefox)
	two, _ := b.signInAs(t, text, firefox)
	keeper, _ := b.signInAs(t, b.Key(t, b.tenant, api.KeysRead, api.KeysWrite), firefox)

	require.Len(t, keeper.sessions(t, "/v1/sessions", slug), 3)
	found := keeper.sessions(t, "/v1/sessions?subject=key:"+key.ID, slug)
	require.Len(t, found, 2)
	b.record(t)
	s := b.stream(t, "/v1/events", http.Header{"Cookie": {one.cookie}, api.TenantHeader: {slug}})
	s.event()
	require.Equal(t, http.StatusNoContent, keeper.ask(t, http.MethodDelete, "/v1/sessions/"+found[1].ID, slug, "").status)
	require.Empty(t, s.rest(), "its stream ends")
	require.Equal(t, http.StatusUnauthorized, one.ask(t, http.MethodGet, "/v1/runs", slug, "").status)
	require.Equal(t, http.StatusOK, two.ask(t, http.MethodGet, "/v1/runs", slug, "").status)

	require.Equal(t, http.StatusOK, keeper.ask(t, http.MethodPost, "/v1/keys/"+key.ID+"/revoke", slug, "").status)
	require.Equal(t, http.StatusUnauthorized, two.ask(t, http.MethodGet, "/v1/runs", slug, "").status)
	require.Len(t, keeper.sessions(t, "/v1/sessions", slug), 1, "only that of the keeper lasts")
}

// A browser that signs in again to a tenant has one session with it, with another id.
func TestSigningInAgainIsAnotherSession(t *testing.T) {
	t.Parallel()

	b := setup(t, browsers)
	w, slug := b.signInAs(t, b.key, firefox)
	before := w.sessions(t, "/v1/me/sessions", slug)
	require.Len(t, before, 1)
	w.signIn(t, b.key)
	after := w.sessions(t, "/v1/me/sessions", slug)
	require.Len(t, after, 1)
	require.NotEqual(t, before[0].ID, after[0].ID)
	require.True(t, after[0].Current)
	byKey := b.do(t, http.MethodGet, "/v1/me/sessions", "")
	var page v1.Page[v1.BrowserSession]
	byKey.into(t, &page)
	require.Len(t, page.Items, 1)
	require.False(t, page.Items[0].Current, "asked with the key, none is the one that asks")
}
