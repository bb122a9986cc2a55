package console_test

import (
	"context"
	_ "embed"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// The pages of tools in these tests: they speak the protocol as an app does, and report what they saw with a tool.
var (
	//go:embed testdata/apps/friendly.html
	friendlyApp string
	//go:embed testdata/apps/hostile.html
	hostileApp string
	//go:embed testdata/apps/wanderer.html
	wanderingApp string
)

// appServer is a real MCP server whose tools have pages, with the hosts that they try to reach.
type appServer struct {
	host, url string
	linked    atomic.Int64 // Requests to what a person opens.
	canary    atomic.Int64 // Requests that nothing may make.
	outside   string       // The host of both.

	attached sync.Once

	mu      sync.Mutex
	reports []map[string]any
	called  []string
}

// forget drops what apps of other tests reported.
func (a *appServer) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.reports, a.called = nil, nil
}

// newAppServer runs for the whole package, as the platform does that knows its host.
func newAppServer() *appServer {
	a := &appServer{}
	outside := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/linked" {
			a.linked.Add(1)
		} else if strings.HasPrefix(r.URL.Path, "/canary") {
			a.canary.Add(1)
		}
	}))
	a.outside = strings.TrimPrefix(outside.URL, "http://")
	s := mcp.NewServer(&mcp.Implementation{Name: "weather", Version: "1.0.0"}, nil)
	tool := func(name, uri string, readOnly bool, visibility []string, answer string) {
		ui := map[string]any{"visibility": visibility}
		if uri != "" {
			ui["resourceUri"] = uri
		}
		s.AddTool(&mcp.Tool{
			Name: name, InputSchema: json.RawMessage(`{"type":"object","additionalProperties":{"type":"string"}}`),
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: readOnly}, Meta: mcp.Meta{"ui": ui},
		}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			a.note(name, r.Params.Arguments)
			return &mcp.CallToolResult{
				Content: []mcp.Content{&mcp.TextContent{Text: "in words"}}, StructuredContent: json.RawMessage(answer),
			}, nil
		})
	}
	both, app, model := []string{"model", "app"}, []string{"app"}, []string{"model"}
	tool("forecast", "ui://weather/friendly", true, both, `{"place":"Oslo","degrees":21}`)
	tool("attack", "ui://weather/hostile", true, both, `{"place":"Oslo"}`)
	tool("wander", "ui://weather/wanderer", true, both, `{"place":"Oslo"}`)
	tool("report", "", true, app, `{"taken":true}`)
	tool("order", "", false, app, `{"ordered":true}`)
	tool("secret", "", true, model, `{"secret":true}`)
	for name, html := range map[string]string{"friendly": friendlyApp, "hostile": hostileApp, "wanderer": wanderingApp} {
		html = strings.ReplaceAll(html, "OUTSIDE", outside.URL)
		s.AddResource(&mcp.Resource{URI: "ui://weather/" + name, Name: name},
			func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
				return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{
					URI: r.Params.URI, MIMEType: "text/html;profile=mcp-app", Text: html,
					Meta: mcp.Meta{"ui": map[string]any{"csp": map[string]any{
						"connectDomains": []string{outside.URL}, "resourceDomains": []string{outside.URL, "https://*", "*"},
					}}},
				}}}, nil
			})
	}
	served := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
	a.url, a.host = served.URL, strings.TrimPrefix(served.URL, "http://")
	return a
}

func (a *appServer) note(name string, raw json.RawMessage) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.called = append(a.called, name)
	if name != "report" {
		return
	}
	var seen struct {
		Seen string `json:"seen"`
	}
	var report map[string]any
	if json.Unmarshal(raw, &seen) == nil && json.Unmarshal([]byte(seen.Seen), &report) == nil {
		a.reports = append(a.reports, report)
	}
}

// reported waits for the report of an app that has a member, and returns the member.
func (a *appServer) reported(t *testing.T, name string) any {
	t.Helper()
	var found any
	require.Eventually(t, func() bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		for _, r := range a.reports {
			if v, ok := r[name]; ok {
				found = v
				return true
			}
		}
		return false
	}, time.Minute, 50*time.Millisecond, "no app reported %s", name)
	return found
}

func (s *site) ask(t *testing.T, method, path, body string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.url+path, strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+s.key)
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	return answer.StatusCode
}

// attachWeather attaches the server, and publishes what it brings. Its apps are not shown yet.
func (s *site) attachWeather(t *testing.T, a *appServer) {
	t.Helper()
	a.forget()
	a.attached.Do(func() { s.attachOnce(t, a) })
	s.showApps(t, "false")
}

func (s *site) attachOnce(t *testing.T, a *appServer) {
	t.Helper()
	require.Equal(t, http.StatusCreated, s.ask(t, http.MethodPost, "/v1/mcp/servers",
		`{"slug":"weather","server_url":"`+a.url+`","allowed_tools":["*"],"trust_hints":true}`))
	for _, slug := range []string{"Forecast", "Attack", "Wander", "Report", "Order", "Secret"} {
		require.Equal(t, http.StatusOK, s.ask(t, http.MethodPost, "/v1/tools/weather"+slug+"/publish", ""), slug)
	}
	s.apply(t, `{"kind":"tool","slug":"foreignQuote","implementation_type":"custom","version":"1.0.0","publish":true,
		"implementation_config":{"executor":"quote"},"execution":{"timeout_s":20,"is_pure":true}}`)
}

func (s *site) showApps(t *testing.T, on string) {
	t.Helper()
	require.Equal(t, http.StatusOK, s.ask(t, http.MethodPut, "/v1/tenants/"+s.slug+"/publishing",
		`{"mcp_apps_publish_enabled":`+on+`}`))
}

// callOf opens a tool's test, calls it, and waits for its answer.
func (v *visitor) callOf(t *testing.T, slug string) {
	t.Helper()
	v.open(t, "/tools/"+slug+"?tab=test&mode=production")
	v.do(t, click(`.t-send .primary`), until(`document.querySelector(".t-output .o-output")`))
}

// What an MCP server has for the results of its tools is shown where the tenant lets it: the page gets what the tool
// got and answered, calls tools of its server as the person, and opens links that the person opens. Closing removes
// it, and without the switch there is what the console shows of any result.
func TestAppsOfTools(t *testing.T) { //nolint:tparallel // One tab, one step after another.
	t.Parallel()

	alone(t)
	v := live(t)
	a := running.apps
	v.attachWeather(t, a)
	v.size(t, 1280, 1100, "light")
	v.callOf(t, "weatherForecast")
	v.do(t, until(`document.querySelector(".t-output").innerText.includes("Oslo")`))
	v.do(t, chromedp.Sleep(300*time.Millisecond), until(`!document.querySelector("iframe, .app-frame, .app-open")`))

	v.showApps(t, "true")
	v.callOf(t, "weatherForecast")
	v.do(t, chromedp.WaitVisible(".app-frame iframe", chromedp.ByQuery),
		until(`document.querySelector(".app-frame header").innerText.includes("Content from forecast")`),
		until(`document.querySelector(".app-frame iframe").getAttribute("sandbox") === "allow-scripts"`))
	require.Equal(t, "2026-01-26", a.reported(t, "protocolVersion"))
	require.Equal(t, map[string]any{"place": "Oslo", "degrees": 21.0}, a.reported(t, "structuredContent"))
	require.Equal(t, map[string]any{}, a.reported(t, "arguments"))
	require.Equal(t, map[string]any{"taken": true}, a.reported(t, "reportAnswer"))
	require.InDelta(t, -32601, a.reported(t, "unknownMethod"), 0)
	v.do(t, until(`document.querySelector(".app-frame iframe").style.height === "333px"`),
		until(`document.querySelector(".app-calls").innerText.includes("as you")`))
	v.picture(t, "app")
	v.accessible(t, "app")

	// A link is opened by the person, who sees where it leads.
	v.do(t, chromedp.WaitVisible(`[role=alertdialog]`, chromedp.ByQuery),
		until(`document.querySelector("[role=alertdialog]").innerText.includes("`+a.outside+`")`))
	require.Zero(t, a.linked.Load())
	v.picture(t, "app-link")
	v.do(t, click(`[role=alertdialog] .actions button:last-child`))
	require.Equal(t, "opened", a.reported(t, "link"))
	require.Eventually(t, func() bool { return a.linked.Load() == 1 }, time.Minute, 50*time.Millisecond)
	v.do(t, page.BringToFront()) // Of the tab that was opened.

	// A call that writes waits for an approval, as any other does.
	v.do(t, until(`document.querySelector(".app-calls").innerText.includes("waits for an approval")`))
	require.NotContains(t, a.calls(), "order")
	v.do(t, click(".app-close"), until(`!document.querySelector("iframe")`),
		until(`document.querySelector(".app-open")`),
		until(`document.querySelector(".t-output").innerText.includes("Oslo")`))
	v.blameless(t)

	// In the record of the call it is shown when the person asks for it.
	v.open(t, "/calls?tool=weatherForecast")
	v.do(t, click("tbody a"), chromedp.WaitVisible("aside .app-open", chromedp.ByQuery),
		until(`!document.querySelector("iframe")`), click("aside .app-open"),
		chromedp.WaitVisible("aside .app-frame iframe", chromedp.ByQuery))
	v.blameless(t)

	t.Run("hostile", func(t *testing.T) { v.hostileApp(t, a) })
}

func (a *appServer) calls() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.called)
}

// hostileApp looks at an app that tries what it must not: nothing happens, no request leaves, and the page around it
// is as it was.
func (v *visitor) hostileApp(t *testing.T, a *appServer) {
	t.Helper()
	chromedp.ListenTarget(v.ctx, func(event any) {
		if d, ok := event.(*page.EventJavascriptDialogOpening); ok {
			v.mu.Lock()
			defer v.mu.Unlock()
			v.faults = append(v.faults, "a dialog: "+d.Message)
		}
	})
	v.callOf(t, "weatherAttack")
	v.do(t, chromedp.WaitVisible(".app-frame iframe", chromedp.ByQuery))
	var at string
	v.do(t, chromedp.Location(&at))
	tries, ok := a.reported(t, "tries").(map[string]any)
	require.True(t, ok)
	require.Len(t, tries, 21, "%v", tries)
	for name, how := range tries {
		require.Equal(t, "nothing", how, name)
	}
	require.NotContains(t, a.calls(), "secret")
	var now string
	v.do(t, chromedp.Location(&now),
		until(`parseFloat(document.querySelector(".app-frame iframe")?.style.height || "240") <= 600`))
	require.Equal(t, at, now)
	v.picture(t, "app-hostile")
	v.blameless(t)

	// More than is read of it ends it.
	v.do(t, until(`document.querySelector(".t-output").innerText.includes("more messages than are read")`),
		until(`!document.querySelector("iframe")`))
	v.blameless(t)
	var made struct {
		Items []json.RawMessage `json:"items"`
	}
	v.get(t, "/v1/invocations?tool=foreignQuote", &made)
	require.Empty(t, made.Items, "a tool of another was not called")
	require.Zero(t, a.canary.Load())

	// Nor can one take its frame elsewhere: the policy of the page around it refuses that, and reports it.
	v.callOf(t, "weatherWander")
	require.Equal(t, true, a.reported(t, "wandered"))
	require.Eventually(t, func() bool {
		v.mu.Lock()
		defer v.mu.Unlock()
		return slices.ContainsFunc(v.faults, func(f string) bool { return strings.Contains(f, "frame-src") })
	}, time.Minute, 50*time.Millisecond)
	v.do(t, chromedp.Location(&now))
	require.True(t, strings.HasPrefix(now, v.url+"/t/"), now)
	require.Zero(t, a.canary.Load())
}

func (s *site) get(t *testing.T, path string, into any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+path, nil)
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+s.key)
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer answer.Body.Close()
	require.Equal(t, http.StatusOK, answer.StatusCode, path)
	require.NoError(t, json.NewDecoder(answer.Body).Decode(into))
}
