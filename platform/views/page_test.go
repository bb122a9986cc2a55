package views_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/views"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/view"
)

// site publishes the result of the desk's call, or its tool.
func (d *desk) site(t *testing.T, kind view.Kind) (handler http.Handler, path string) {
	t.Helper()
	r := views.Request{Principal: d.run.Principal, Kind: kind, Title: "Order <b>4711</b>", RunID: d.run.ID}
	if r.Tool.Slug = "getOrder"; kind == view.Tool {
		r.RunID = ""
	}
	made, err := d.service(t).Publish(t.Context(), r)
	require.NoError(t, err)
	handler, err = views.NewPages(views.Config{Views: d, Record: d, Tools: d}, nil)
	require.NoError(t, err)
	return handler, made.Path()
}

// ask sends a request without any credentials.
func ask(t *testing.T, h http.Handler, method, path string) (*http.Response, string) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, path, nil))
	body, err := io.ReadAll(w.Result().Body)
	require.NoError(t, err)
	return w.Result(), string(body)
}

// A page shows a result to everyone with the link, loads and runs nothing, and is kept by no cache.
func TestPageOfAResult(t *testing.T) {
	t.Parallel()

	d := newDesk(t)
	d.end.Result = &tool.Result{Content: []tool.Content{
		tool.Text(`<script>alert(1)</script> Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c2lnbmF0dXJlLW9mLXRlc3Q`),
		tool.JSON(json.RawMessage(`{"status":"sent","api_key":"s3cr3t-value-of-a-test","items":[{"sku":"A"}]}`)),
		tool.JSON(json.RawMessage(`[1,2]`)),
		{Type: tool.ContentImage, MIMEType: "image/png", Data: []byte("png"), Name: `"><script>`},
		{Type: tool.ContentImage, MIMEType: "image/svg+xml", Data: []byte("<svg/>")},
		{Type: tool.ContentResource, URI: "javascript:alert(1)", Name: "A file", MIMEType: "text/plain"},
	}}
	h, path := d.site(t, view.Result)
	resp, body := ask(t, h, http.MethodGet, path+"?utm_source=mail")
	require.Equal(t, http.StatusOK, resp.StatusCode)
	for name, want := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
		"X-Robots-Tag": "noindex, nofollow", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
	} {
		require.Equal(t, want, resp.Header.Get(name))
	}
	policy := resp.Header.Get("Content-Security-Policy")
	require.True(t, strings.HasPrefix(policy, "default-src 'none'; style-src 'sha256-"), policy)
	require.True(t, strings.HasSuffix(policy,
		"; form-action 'none'; base-uri 'none'; frame-ancestors 'none'; img-src data:"), policy)
	require.Contains(t, body, "Order &lt;b&gt;4711&lt;/b&gt;")
	require.Contains(t, body, `src="data:image/png;base64,cG5n"`)
	require.Contains(t, body, "sent")
	require.Contains(t, body, "A file of the type text/plain is not shown here.")
	for _, never := range []string{
		"<script", "<form", "svg/>", "javascript:", "s3cr3t", "eyJhbGci", "http://",
		"https://",
	} {
		require.NotContains(t, body, never)
	}
	head, body := ask(t, h, http.MethodHead, path)
	require.Equal(t, http.StatusOK, head.StatusCode)
	require.NotEmpty(t, body, "the server leaves it out")

	d.end.Result = &tool.Result{IsError: true, Structured: json.RawMessage(`{"reason":"unknown"}`)}
	_, body = ask(t, h, http.MethodGet, path)
	require.Contains(t, body, "answered with an error")
	require.Contains(t, body, "unknown")
	d.end.Result = &tool.Result{Content: []tool.Content{tool.Text(strings.Repeat("x", 300<<10))}}
	_, body = ask(t, h, http.MethodGet, path)
	require.Contains(t, body, "longer than this page shows")
}

// A result is shown by the sections of the version that was called, without a script; what has no section follows, and
// what repeats it does not. Of an error, and of a version that is gone, all is shown as it is.
func TestPageOfAResultBySections(t *testing.T) {
	t.Parallel()

	d := newDesk(t)
	d.version.Snapshot.Interaction.OutputSections = json.RawMessage(`[{"key":"sold","label":"Sold","type":"chart"},` +
		`{"key":"orders","label":"Orders <i>","type":"table"}]`)
	structured := json.RawMessage(`{"sold":{"Mon":3,"Tue":5},"orders":[{"id":"A-1","total":9007199254740993}],` +
		`"api_key":"s3cr3t-value"}`)
	content := []tool.Content{tool.JSON(structured), tool.Text("Two days.")}
	d.end.Result = &tool.Result{Structured: structured, Content: content}
	h, path := d.site(t, view.Result)
	resp, body := ask(t, h, http.MethodGet, path)
	require.Equal(t, http.StatusOK, resp.StatusCode)
	for _, shown := range []string{
		`role="img" aria-label="Sold: bar chart of 2 values`, "Orders &lt;i&gt;", "9007199254740993", "The rest of the result",
		"Two days.", "As a table",
	} {
		require.Contains(t, body, shown)
	}
	require.Equal(t, 1, strings.Count(body, "9007199254740993"))
	require.NotContains(t, body, "s3cr3t")
	require.NotContains(t, body, "<script")

	d.end.Result.IsError = true
	_, body = ask(t, h, http.MethodGet, path)
	require.NotContains(t, body, "<svg")
	require.Contains(t, body, "answered with an error")
	d.end.Result.IsError, d.gone = false, true
	_, body = ask(t, h, http.MethodGet, path)
	require.NotContains(t, body, "<svg")
	require.Contains(t, body, "9007199254740993")
}

// A page of a tool shows what it does and takes, and no form.
func TestPageOfATool(t *testing.T) {
	t.Parallel()

	d := newDesk(t)
	d.version.Snapshot.Name, d.version.Snapshot.Description = "Get an order", "Finds an order."
	d.version.Snapshot.InputSchema = json.RawMessage(`{"type":"object","properties":{` +
		`"order_id":{"type":"string","description":"Such as SO-1017."},"part":{"enum":["all","lines"]}},"required":["order_id"]}`)
	h, path := d.site(t, view.Tool)
	resp, body := ask(t, h, http.MethodGet, path)
	require.Equal(t, http.StatusOK, resp.StatusCode)
	for _, shown := range []string{"Finds an order.", "order_id", "required", "Such as SO-1017.", "One of: all, lines."} {
		require.Contains(t, body, shown)
	}
	require.NotContains(t, body, "<form")
	require.NotContains(t, body, "<input")
}

// Links that open nothing are answered alike, whatever the reason: also that of a row that would take input.
//
//nolint:tparallel,paralleltest // They share a desk.
func TestPagesThatOpenNothing(t *testing.T) {
	t.Parallel()

	d := newDesk(t)
	h, path := d.site(t, view.Result)
	other, err := view.NewToken(d.run.Tenant, d.view.ID)
	require.NoError(t, err)
	foreign, err := view.NewToken(tool.TenantID(uuid.NewString()), d.view.ID)
	require.NoError(t, err)
	_, want := ask(t, h, http.MethodGet, view.Path+"none")
	for name, c := range map[string]struct {
		path   string
		change func(d *desk)
	}{
		"no token":            {path: view.Path},
		"another token":       {path: view.Path + other.Text()},
		"a tenant's":          {path: view.Path + foreign.Text()},
		"below it":            {path: path + "/image"},
		"expired or revoked":  {path, func(d *desk) { d.opens = false }},
		"a form":              {path, func(d *desk) { d.view.Kind = view.Form }},
		"the run is deleted":  {path, func(d *desk) { d.run.ID = uuid.NewString() }},
		"it lost its result":  {path, func(d *desk) { d.end.Result = nil }},
		"a token of no tenan": {path: view.Path + "tcv_" + strings.Repeat("A", 86)},
	} {
		t.Run(name, func(t *testing.T) {
			copied := *d
			shown, err := views.NewPages(views.Config{Views: &copied, Record: &copied, Tools: &copied}, nil)
			require.NoError(t, err)
			if c.change != nil {
				c.change(&copied)
			}
			resp, body := ask(t, shown, http.MethodGet, c.path)
			require.Equal(t, http.StatusNotFound, resp.StatusCode)
			require.Equal(t, want, body)
			require.Equal(t, "no-store", resp.Header.Get("Cache-Control"))
		})
	}
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions} {
		resp, _ := ask(t, h, method, path)
		require.Equal(t, http.StatusMethodNotAllowed, resp.StatusCode, method)
		require.Equal(t, "GET, HEAD", resp.Header.Get("Allow"))
	}
}

// One link is not opened without bounds.
func TestPagesAreLimited(t *testing.T) {
	t.Parallel()

	d := newDesk(t)
	h, path := d.site(t, view.Result)
	status := 0
	for range 40 {
		resp, _ := ask(t, h, http.MethodGet, path)
		if status = resp.StatusCode; status != http.StatusOK {
			require.NotEmpty(t, resp.Header.Get("Retry-After"))
			break
		}
	}
	require.Equal(t, http.StatusTooManyRequests, status)
}
