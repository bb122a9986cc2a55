package builtins_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/builtins"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

// provider is a built-in search provider whose own endpoint is elsewhere.
type provider struct {
	builtins.SearchProvider

	endpoint string
}

func (p provider) Endpoint() string { return p.endpoint }

// settings are the credentials of tenants by what they are for.
type settings map[tool.TenantID]map[secret.Selector]secret.Value

func (s settings) Find(_ context.Context, tenant tool.TenantID, at secret.Selector) (secret.Value, error) {
	if v, ok := s[tenant][at]; ok {
		return v, nil
	}
	return secret.Value{}, &tool.Error{Kind: tool.NotFound, Msg: "none"}
}

// asked is what a search service was asked.
type asked struct{ key, path, query string }

// search is a bench whose upstream is a search service, for both providers.
type search struct {
	*bench

	cfg      builtins.Config
	settings settings
	env      map[string]string

	mu    sync.Mutex
	asked []asked
}

const serperAnswer = `{"organic": [
	{"title": "Tool crib", "link": "https://tools.example/crib", "snippet": "Where tools\u202e are\n kept.", "date": "3 days ago", "position": 1},
	{"title": "A trap", "link": "javascript:alert(1)", "snippet": "x"},
	{"title": "Another", "link": "http://tools.example/other"}], "credits": 1}`

const braveAnswer = `{"web": {"results": [
	{"title": "<strong>Tool</strong> crib", "url": "https://tools.example/crib", "description": "Where &lt;tools&gt; <strong>are</strong> kept.", "page_age": "2026-04-01T00:00:00"}]}}`

func newSearch(t *testing.T) *search {
	t.Helper()
	s := &search{settings: settings{}, env: map[string]string{}}
	s.bench = newBench(t, func(w http.ResponseWriter, r *http.Request) {
		answer, key := serperAnswer, r.Header.Get("X-Api-Key")
		if token := r.Header.Get("X-Subscription-Token"); token != "" {
			answer, key = braveAnswer, token
		}
		s.mu.Lock()
		s.asked = append(s.asked, asked{key, r.URL.Path, r.URL.RawQuery})
		s.mu.Unlock()
		switch r.URL.Query().Get("q") {
		case "no":
			http.Error(w, "no such thing, says "+key, http.StatusBadRequest)
		case "refused":
			w.WriteHeader(http.StatusForbidden)
		case "later":
			w.Header().Set("Retry-After", "9")
			w.WriteHeader(http.StatusTooManyRequests)
		case "down":
			w.WriteHeader(http.StatusBadGateway)
		case "nonsense":
			_, _ = io.WriteString(w, "<html>")
		default:
			_, _ = io.WriteString(w, answer)
		}
	})
	providers := builtins.SearchProviders()
	s.cfg = builtins.Config{
		SearchProviders: []builtins.SearchProvider{
			provider{providers[0], s.url + "/serper"}, provider{providers[1], s.url + "/brave"},
		},
		Settings: s.settings,
		Lookup:   func(name string) (string, bool) { v, ok := s.env[name]; return v, ok },
		Secrets: secret.ResolverFunc(func(_ context.Context, tenant tool.TenantID, ref string) (secret.Value, error) {
			switch {
			case tenant == "t1" && ref == "search":
				return secret.NewValue(`{"api_key": "from-the-ref", "token": "not-this", "endpoint": "`+s.url+`/ref"}`, s.host), nil
			case tenant == "t1" && ref == "elsewhere":
				return secret.NewValue("from-elsewhere", "search.example"), nil
			}
			return secret.Value{}, &tool.Error{Kind: tool.NotFound, Msg: "none"}
		}),
	}
	return s
}

// set gives a tenant a setting.
func (s *search) set(tenant tool.TenantID, provider, variant, text string) {
	if s.settings[tenant] == nil {
		s.settings[tenant] = make(map[secret.Selector]secret.Value)
	}
	s.settings[tenant][secret.Selector{Category: "custom", Provider: provider, Variant: variant}] = secret.NewValue(
		s.at(text), s.host,
	)
}

// last returns what was asked last.
func (s *search) last(t *testing.T) asked {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	require.NotEmpty(t, s.asked)
	return s.asked[len(s.asked)-1]
}

// The key of a search is that of the first place which has one, and its
// endpoint stands beside it there (S3-54 to S3-58).
func TestWebSearchPrecedence(t *testing.T) {
	t.Parallel()

	s := newSearch(t)
	everything := `{"builtin": "web_search", "api_key": "from-the-config", "credentials_ref": "search"}`
	steps := []struct {
		name   string
		config string
		undo   func() // Takes away what answered, for the next step.
		want   asked
	}{
		{"1: the configuration's api_key", everything, nil, asked{key: "from-the-config", path: "/serper"}},
		{
			"1: with an endpoint beside it", `{"builtin": "web_search", "api_key": "from-the-config", "endpoint": "$URL/own"}`,
			nil,
			asked{key: "from-the-config", path: "/own"},
		},
		{
			"2: the credential that credentials_ref names", `{"builtin": "web_search", "credentials_ref": "search"}`, nil,
			asked{key: "from-the-ref", path: "/ref"},
		},
		{"3: the setting web_search of the variant serper", "", func() {
			delete(s.settings["t1"], secret.Selector{Category: "custom", Provider: "web_search", Variant: "serper"})
		}, asked{key: "from-web-search", path: "/tenant"}},
		{
			"3: the setting serper", "",
			func() { delete(s.settings["t1"], secret.Selector{Category: "custom", Provider: "serper"}) },
			asked{key: "from-serper", path: "/serper"},
		},
		{"3: the setting of the next provider, before the platform's key", "", func() {
			delete(s.settings["t1"], secret.Selector{Category: "custom", Provider: "web_search", Variant: "brave"})
		}, asked{key: "from-brave", path: "/brave"}},
		{
			"4: SERPER_API_KEY", "", func() { delete(s.env, "SERPER_API_KEY") },
			asked{key: "from-the-platform", path: "/serper"},
		},
		{
			"4: the key of the next provider", "", func() { delete(s.env, "BRAVE_API_KEY") },
			asked{key: "from-the-platform-too", path: "/brave"},
		},
	}
	s.set("t1", "web_search", "serper", `{"token": "not-this", "api_key": "from-web-search", "endpoint": "$URL/tenant"}`)
	s.set("t1", "serper", "", `{"token": "from-serper"}`)
	s.set("t1", "web_search", "brave", "from-brave")
	s.env["SERPER_API_KEY"], s.env["BRAVE_API_KEY"] = "from-the-platform", "from-the-platform-too"
	for _, step := range steps {
		edit := func(*tool.Call) {}
		if step.config != "" {
			edit = s.configured(step.config)
		}
		s.ok(t, s.cfg, "web_search", `{"query": "crib"}`, edit)
		got := s.last(t)
		require.Equal(t, step.want, asked{key: got.key, path: got.path}, step.name)
		if step.undo != nil {
			step.undo()
		}
	}
	_, err := s.run(t, s.cfg, "web_search", `{"query": "crib"}`)
	require.Equal(t, tool.Denied, tool.KindOf(err))
	require.ErrorContains(t, err, "no search provider is set up")
	require.ErrorContains(t, err, "SERPER_API_KEY")
}

// What one tenant has set up is nobody else's: neither its key nor its
// endpoint.
func TestWebSearchTenantsApart(t *testing.T) {
	t.Parallel()

	s := newSearch(t)
	s.set("t1", "web_search", "serper", `{"api_key": "of-t1", "endpoint": "$URL/t1"}`)
	s.env["SERPER_API_KEY"] = "from-the-platform"
	s.ok(t, s.cfg, "web_search", `{"query": "crib"}`, tenant("t2"))
	got := s.last(t)
	require.Equal(t, asked{key: "from-the-platform", path: "/serper"}, asked{key: got.key, path: got.path})
	_, err := s.run(t, s.cfg, "web_search", `{"query": "crib"}`, tenant("t2"),
		s.configured(`{"builtin": "web_search", "credentials_ref": "search"}`))
	require.Equal(t, tool.Denied, tool.KindOf(err), "another tenant's credential")
	require.Len(t, s.asked, 1)
}

// A place that has a key which can't be used ends the search: no other's key
// answers for it, and an endpoint never gets a key of another place.
func TestWebSearchKeyThatCannotBeUsed(t *testing.T) {
	t.Parallel()

	s := newSearch(t)
	s.env["SERPER_API_KEY"] = "from-the-platform"
	for name, c := range map[string]struct{ setting, config, want string }{
		"a setting without a key": {setting: `{"endpoint": "$URL/tenant"}`, want: "neither api_key nor token"},
		"an empty setting":        {setting: ` `, want: "empty"},
		"an endpoint that is none": {
			setting: `{"api_key": "k-e-y", "endpoint": "file:///etc/passwd"}`, want: "endpoint",
		},
		"an endpoint that the key is not for": {
			setting: `{"api_key": "k-e-y", "endpoint": "http://search.example/"}`, want: "not bound",
		},
		"a credential that is not there": {
			config: `{"builtin": "web_search", "credentials_ref": "absent"}`, want: "not available",
		},
		"a credential for another host": {
			config: `{"builtin": "web_search", "credentials_ref": "elsewhere"}`, want: "not bound",
		},
		"a provider that is not set up": {
			config: `{"builtin": "web_search", "provider": "brave"}`, want: "BRAVE_API_KEY",
		},
		"a literal key for a host not allowed": {
			config: `{"builtin": "web_search", "api_key": "k-e-y", "endpoint": "http://127.0.0.1:9/"}`, want: "not allowed",
		},
		"a literal key for a host of the inside": {
			config: `{"builtin": "web_search", "api_key": "k-e-y", "endpoint": "https://169.254.169.254/latest"}`,
			want:   "not allowed",
		},
	} {
		delete(s.settings, "t1")
		edit := func(*tool.Call) {}
		if c.setting != "" {
			s.set("t1", "web_search", "serper", c.setting)
		}
		if c.config != "" {
			edit = s.configured(c.config)
		}
		_, err := s.run(t, s.cfg, "web_search", `{"query": "crib"}`, edit)
		require.Equal(t, tool.Denied, tool.KindOf(err), name)
		require.ErrorContains(t, err, c.want, name)
		require.NotContains(t, err.Error(), "k-e-y", name)
	}
	require.Empty(t, s.asked, "nothing was sent")

	s.cfg.Settings = brokenSettings{}
	_, err := s.run(t, s.cfg, "web_search", `{"query": "crib"}`)
	require.Equal(t, tool.Unavailable, tool.KindOf(err), "a broken store lets no lesser key answer")
	require.Empty(t, s.asked)
}

type brokenSettings struct{}

func (brokenSettings) Find(context.Context, tool.TenantID, secret.Selector) (secret.Value, error) {
	return secret.Value{}, &tool.Error{Kind: tool.Unavailable, Msg: "the store does not answer"}
}

func TestWebSearchResults(t *testing.T) {
	t.Parallel()

	s := newSearch(t)
	s.env["SERPER_API_KEY"], s.env["BRAVE_API_KEY"] = "serper-key", "brave-key"
	_, res := s.ok(
		t, s.cfg, "web_search",
		`{"query": " tool  crib ", "count": 5, "page": 2, "country": "DE", "language": "en", "freshness": "week"}`,
	)
	require.JSONEq(t, `{"query": "tool crib", "provider": "serper", "results": [
		{"position": 6, "title": "Tool crib", "url": "https://tools.example/crib", "snippet": "Where tools are kept.", "date": "3 days ago"},
		{"position": 7, "title": "Another", "url": "http://tools.example/other"}]}`, string(res.Structured))
	require.Equal(t, "gl=de&hl=en&num=5&page=2&q=tool+crib&tbs=qdr%3Aw", s.last(t).query)

	_, res = s.ok(t, s.cfg, "web_search", `{"query": "crib", "page": 3, "freshness": "day"}`,
		s.configured(`{"builtin": "web_search", "provider": "brave"}`))
	require.JSONEq(t, `{"query": "crib", "provider": "brave", "results": [
		{"position": 21, "title": "Tool crib", "url": "https://tools.example/crib", "snippet": "Where <tools> are kept.", "date": "2026-04-01T00:00:00"}]}`, string(res.Structured))
	require.Equal(t, asked{"brave-key", "/brave", "count=10&freshness=pd&offset=2&q=crib"}, s.last(t))

	_, res = s.ok(t, s.cfg, "web_search", `{"query": "crib", "count": 1}`)
	var out struct{ Results []json.RawMessage }
	require.NoError(t, json.Unmarshal(res.Structured, &out))
	require.Len(t, out.Results, 1, "no more than were asked for")
}

func TestWebSearchEnds(t *testing.T) {
	t.Parallel()

	s := newSearch(t)
	s.env["SERPER_API_KEY"] = "serper-key-42"
	require.Contains(t, s.no(t, s.cfg, "web_search", `{"query": "no"}`),
		"400 Bad Request: no such thing, says "+tool.Redacted)
	require.Contains(t, s.no(t, s.cfg, "web_search", `{"query": " "}`), "query")
	for query, want := range map[string]tool.Kind{
		"refused": tool.Denied, "later": tool.RateLimited, "down": tool.Unavailable, "nonsense": tool.Unavailable,
	} {
		_, err := s.run(t, s.cfg, "web_search", `{"query": "`+query+`"}`)
		require.Equal(t, want, tool.KindOf(err), query)
		require.True(t, tool.AsError(err).Answered, query)
	}
	_, err := s.run(t, s.cfg, "web_search", `{"query": "crib"}`, class(tool.EgressNone))
	require.Equal(t, tool.Denied, tool.KindOf(err), "a class that may not call out")
}
