package builtins_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/builtins"
	"github.com/toolcrib/toolcrib/tool"
)

// reader answers what it was asked.
type reader struct{ err error }

func (r reader) Read(ctx context.Context, p builtins.Page) (builtins.Article, error) {
	if r.err != nil {
		return builtins.Article{}, r.err
	}
	published := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	whole := map[bool]string{true: "whole", false: "article"}[p.Whole]
	return builtins.Article{
		Title: "T\x07itle", Byline: "Ada", Site: "Site", Language: "en", Published: &published,
		Content:   whole + " " + string(p.Format) + " of " + p.URL.Path + ": " + string(p.Body),
		Truncated: strings.Contains(string(p.Body), "long"),
	}, ctx.Err()
}

func (reader) Decode(body []byte, _ string) string { return string(body) }

func newFetch(t *testing.T) (*bench, builtins.Config) {
	t.Helper()
	b := newBench(t, func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		switch r.URL.Path {
		case "/page":
			h.Set("Content-Type", "text/html; charset=utf-8")
			_, _ = io.WriteString(w, "<p>Hällo\u202e\r\nthere")
		case "/moved":
			http.Redirect(w, r, "/page", http.StatusFound)
		case "/inward":
			http.Redirect(w, r, "http://169.254.169.254/latest", http.StatusFound)
		case "/text":
			h.Set("Content-Type", "text/plain")
			_, _ = io.WriteString(w, "0123456789é")
		case "/markdown":
			h.Set("Content-Type", "text/markdown")
			_, _ = io.WriteString(w, "# Hi")
		case "/json":
			h.Set("Content-Type", "application/ld+json")
			_, _ = io.WriteString(w, `{"a": 1.10}`)
		case "/feed":
			h.Set("Content-Type", "application/rss+xml")
			_, _ = io.WriteString(w, `<rss/>`)
		case "/svg":
			h.Set("Content-Type", "image/svg+xml")
			_, _ = io.WriteString(w, `<svg/>`)
		case "/png", "/bigpng":
			h.Set("Content-Type", "image/png")
			_, _ = io.WriteString(w, "\x89PNG\r\n\x1a\n")
			if r.URL.Path == "/bigpng" {
				_, _ = w.Write(make([]byte, 1<<20))
			}
		case "/false":
			h.Set("Content-Type", "image/png")
			_, _ = io.WriteString(w, "<script>alert(1)</script>")
		case "/pdf":
			h.Set("Content-Type", "application/pdf")
			_, _ = io.WriteString(w, "%PDF-1.7")
		case "/untold":
			h["Content-Type"] = nil
			_, _ = io.WriteString(w, "<!doctype html><p>x")
		case "/zip":
			h.Set("Content-Type", "application/zip")
			_, _ = io.WriteString(w, "PK")
		case "/404":
			http.Error(w, "no such\x1b page", http.StatusNotFound)
		case "/403":
			w.WriteHeader(http.StatusForbidden)
		case "/429":
			h.Set("Retry-After", "7")
			w.WriteHeader(http.StatusTooManyRequests)
		case "/503":
			w.WriteHeader(http.StatusServiceUnavailable)
		case "/headers":
			h.Set("Content-Type", "text/plain")
			_, _ = io.WriteString(
				w, r.Method+" "+r.Header.Get("Cookie")+r.Header.Get("Authorization")+r.Header.Get("Idempotency-Key"),
			)
		}
	})
	return b, builtins.Config{Reader: reader{}}
}

func TestWebFetchPage(t *testing.T) {
	t.Parallel()

	b, cfg := newFetch(t)
	_, res := b.ok(t, cfg, "web_fetch", `{"url": "$URL/moved"}`)
	require.JSONEq(
		t,
		b.at(
			`{"url": "$URL/page", "status": 200, "content_type": "text/html", "title": "Title", "byline": "Ada", "site": "Site",
		"language": "en", "published": "2026-01-02T03:04:05Z", "format": "markdown", "content": "article markdown of /page: <p>Hällo\nthere",
		"total_chars": 41, "fetched_at": "2026-05-01T12:00:00Z"}`,
		),
		string(res.Structured),
	)
	require.Contains(t, string(res.Structured), "<p>", "HTML is not escaped as for HTML")

	out, _ := b.ok(t, cfg, "web_fetch", `{"url": "$URL/untold", "format": "text", "whole_page": true}`)
	require.Equal(t, "whole text of /untold: <!doctype html><p>x", out["content"])
	require.Equal(t, "text/html", out["content_type"])
	out, _ = b.ok(t, cfg, "web_fetch", `{"url": "$URL/page", "format": "raw"}`)
	require.Equal(t, "<p>Hällo\nthere", out["content"])
	require.NotContains(t, out, "title")
	out, _ = b.ok(t, cfg, "web_fetch", `{"url": "$URL/headers"}`)
	require.Equal(t, "GET ", out["content"], "it comes as nobody")
}

// A long text is read in pieces, each from where the one before it ended.
func TestWebFetchPieces(t *testing.T) {
	t.Parallel()

	b, cfg := newFetch(t)
	var text strings.Builder
	args, pieces := `{"url": "$URL/text", "max_chars": 4}`, 0
	for {
		out, _ := b.ok(t, cfg, "web_fetch", args)
		require.InDelta(t, 11, out["total_chars"], 0)
		text.WriteString(out["content"].(string)) //nolint:errcheck // A string, by the schema.
		pieces++
		next, more := out["next_offset"].(float64)
		if !more {
			break
		}
		args = `{"url": "$URL/text", "max_chars": 4, "offset": ` + string(rune('0'+int(next))) + `}`
	}
	require.Equal(t, "0123456789é", text.String())
	require.Equal(t, 3, pieces)
	require.Contains(t, b.no(t, cfg, "web_fetch", `{"url": "$URL/text", "offset": 12}`), "11 characters")
	out, _ := b.ok(t, cfg, "web_fetch", `{"url": "$URL/text", "offset": 11}`)
	require.NotContains(t, out, "next_offset")

	out, _ = b.ok(t, cfg, "web_fetch", `{"url": "$URL/text", "max_bytes": 3}`)
	require.Equal(t, "012", out["content"])
	require.Equal(t, true, out["truncated"])
}

func TestWebFetchTypes(t *testing.T) {
	t.Parallel()

	b, cfg := newFetch(t)
	for path, want := range map[string][2]string{
		"/text": {"text", "0123456789é"}, "/markdown": {"markdown", "# Hi"}, "/json": {"json", `{"a": 1.10}`},
		"/feed": {"xml", "<rss/>"}, "/svg": {"xml", "<svg/>"},
	} {
		out, _ := b.ok(t, cfg, "web_fetch", `{"url": "$URL`+path+`"}`)
		require.Equal(
			t,
			want,
			[2]string{out["format"].(string), out["content"].(string)}, //nolint:errcheck // Strings, by the schema.
			path,
		)
	}
	out, res := b.ok(t, cfg, "web_fetch", `{"url": "$URL/png"}`)
	require.Equal(t, true, out["image"])
	require.Equal(
		t,
		tool.Content{
			Type:     tool.ContentImage,
			MIMEType: "image/png",
			Data:     []byte("\x89PNG\r\n\x1a\n"),
			URI:      b.url + "/png",
		},
		res.Content[1],
	)
	for path, want := range map[string]string{
		"/pdf": "PDF document", "/zip": "application/zip", "/false": "does not read", "/bigpng": "more than 716800 bytes",
	} {
		require.Contains(t, b.no(t, cfg, "web_fetch", `{"url": "$URL`+path+`"}`), want)
	}
}

func TestWebFetchEnds(t *testing.T) {
	t.Parallel()

	b, cfg := newFetch(t)
	require.Equal(
		t,
		"the upstream answered 404 Not Found: no such page",
		b.no(t, cfg, "web_fetch", `{"url": "$URL/404"}`),
	)
	require.Equal(t, "the upstream answered 403 Forbidden", b.no(t, cfg, "web_fetch", `{"url": "$URL/403"}`),
		"no credential of ours was refused")
	for path, want := range map[string]tool.Kind{"/429": tool.RateLimited, "/503": tool.Unavailable} {
		_, err := b.run(t, cfg, "web_fetch", `{"url": "$URL`+path+`"}`)
		require.Equal(t, want, tool.KindOf(err))
	}
	for _, target := range []string{
		"http://127.1/", "http://169.254.169.254/latest/meta-data", "http://[::ffff:127.0.0.1]/", "http://0x7f000001/",
		"file:///etc/passwd", "$URL/inward",
	} {
		_, err := b.run(t, cfg, "web_fetch", `{"url": "`+target+`"}`)
		require.Equal(t, tool.Denied, tool.KindOf(err), target)
	}
	_, err := b.run(t, cfg, "web_fetch", `{"url": "$URL/page"}`, tenant("t3"))
	require.Equal(t, tool.Denied, tool.KindOf(err), "what one tenant may reach, another may not")
	_, err = b.run(t, cfg, "web_fetch", `{"url": "$URL/page"}`, func(c *tool.Call) {
		c.EgressRules.Hosts = []string{"*.example.com"}
	})
	require.Equal(t, tool.Denied, tool.KindOf(err), "rules hold")

	cfg.Reader = reader{err: errors.New("the page can't be read: it is odd")}
	require.Contains(t, b.no(t, cfg, "web_fetch", `{"url": "$URL/page"}`), `it is odd; ask with "format": "raw"`)
	cfg.Reader = reader{
		err: &tool.Error{Kind: tool.Timeout, Msg: "the page was not read in time", Sent: true, Answered: true},
	}
	_, err = b.run(t, cfg, "web_fetch", `{"url": "$URL/page"}`)
	require.Equal(t, tool.Timeout, tool.KindOf(err))
}
