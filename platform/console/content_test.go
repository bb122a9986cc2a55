package console_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/appframe"
	"github.com/toolcrib/toolcrib/platform/console"
)

// contentOrigin is the running platform with a content origin: one server with two names, as an operator has it.
type contentOrigin struct {
	site string // Where the console is.
	own  string // The content origin.

	mu    sync.Mutex
	asked []*http.Request // At the content origin.
}

func newContentOrigin(t *testing.T, s *site) (*contentOrigin, *site) {
	t.Helper()
	to, err := url.Parse(strings.TrimSuffix(s.url, s.prefix))
	require.NoError(t, err)
	rest := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Host = r.In.Host
		},
		FlushInterval: -1,
		ErrorLog:      slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	c := &contentOrigin{}
	server := httptest.NewUnstartedServer(nil)
	at := server.Listener.Addr().String()
	_, port, found := strings.Cut(at, ":")
	require.True(t, found)
	c.site, c.own = "http://"+at, "http://localhost:"+port
	pages, err := console.Handler(console.Options{Prefix: s.prefix, Development: true, ContentOrigin: c.own})
	require.NoError(t, err)
	all := appframe.Origin("localhost:"+port, appframe.Options{Around: c.site},
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if path, ok := strings.CutPrefix(r.URL.Path, s.prefix); !ok || console.Serves(path) {
				pages.ServeHTTP(w, r)
				return
			}
			rest.ServeHTTP(w, r)
		}))
	server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host == "localhost:"+port {
			c.mu.Lock()
			c.asked = append(c.asked, r.Clone(r.Context()))
			c.mu.Unlock()
		}
		all.ServeHTTP(w, r)
	})
	server.Start()
	t.Cleanup(server.Close)
	return c, &site{
		url: c.site + s.prefix, prefix: s.prefix, slug: s.slug, key: s.key, content: "localhost:" + port,
	}
}

// With a content origin, an app runs there: it reaches nothing of the console or the network, no cookie goes there,
// and there is nothing there but its page.
func TestAppsAtAContentOrigin(t *testing.T) {
	t.Parallel()

	alone(t)
	var c *contentOrigin
	v := liveAt(t, func(s *site) *site {
		var at *site
		c, at = newContentOrigin(t, s)
		return at
	})
	a := running.apps
	v.attachWeather(t, a)
	v.showApps(t, "true")
	v.size(t, 1280, 1100, "light")
	v.callOf(t, "weatherForecast")
	v.do(t, chromedp.WaitVisible(".app-frame iframe", chromedp.ByQuery),
		until(`document.querySelector(".app-frame iframe").src.startsWith("`+c.own+appframe.Path+`")`),
		until(`document.querySelector(".app-frame iframe").contentDocument === null`))
	require.Equal(t, map[string]any{"place": "Oslo", "degrees": 21.0}, a.reported(t, "structuredContent"))
	require.Equal(t, map[string]any{"taken": true}, a.reported(t, "reportAnswer"))
	v.blameless(t)
	c.mu.Lock()
	frames := len(c.asked)
	c.mu.Unlock()
	v.hostileApp(t, a)

	c.mu.Lock()
	asked := c.asked
	c.mu.Unlock()
	require.GreaterOrEqual(t, len(asked), frames+2, "both of the hostile apps were there")
	for _, r := range asked {
		require.Equal(t, appframe.Path, r.URL.Path)
		require.Empty(t, r.Header.Get("Cookie"))
		require.Empty(t, r.Header.Get("Referer"))
	}

	// A person who opens the other origin finds nothing, and the console's has no page of apps any more.
	var asset string
	v.open(t, "/tools")
	v.do(t, chromedp.Evaluate(`document.querySelector("script[src]").getAttribute("src")`, &asset))
	for _, path := range []string{
		"/", "/login", "/t/" + v.slug + "/tools", "/v1/tools", "/v1/me", "/healthz", "/metrics", asset,
	} {
		require.Equal(t, http.StatusNotFound, answers(t, c.own+path), path)
	}
	require.Equal(t, http.StatusOK, answers(t, v.url+strings.TrimPrefix(asset, v.prefix)))
	require.Equal(t, http.StatusNotFound, answers(t, v.url+appframe.Path))
	var origin, cookies, shown string
	v.do(t, chromedp.Navigate(c.own+appframe.Path), chromedp.Evaluate(`self.origin`, &origin),
		chromedp.Evaluate(`(() => { try { return document.cookie || "none" } catch (e) { return e.name } })()`, &cookies),
		chromedp.Evaluate(`document.body.innerText.trim()`, &shown))
	require.Equal(t, "null", origin)
	require.Equal(t, "SecurityError", cookies)
	require.Empty(t, shown)
}

func answers(t *testing.T, address string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	require.NoError(t, err)
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	return answer.StatusCode
}
