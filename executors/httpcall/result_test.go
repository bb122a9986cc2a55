package httpcall_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors/httpcall"
	"github.com/toolcrib/toolcrib/executors/middleware"
	"github.com/toolcrib/toolcrib/tool"
)

func TestResults(t *testing.T) {
	t.Parallel()

	const answer = `{"data": {"orders": [{"id": 12345678901234567890, "total": 1.10}], "a/b": null}, "meta": {"n": 1}}`
	for _, tt := range []struct{ name, result, answer, want, says string }{
		{"one place", `{"from": "/data/orders"}`, answer, `[{"id": 12345678901234567890, "total": 1.10}]`, ""},
		{"the whole", `{"from": ""}`, answer, answer, ""},
		{"null", `{"from": "/data/a~1b"}`, answer, `null`, ""},
		{
			"several places",
			`{"first": {"from": "/data/orders/0"}, "count": {"from": "/meta/n"}, "gone": {"from": "/meta/x"}, "list": [{"from": "/meta/x"}], "via": "shop"}`,
			answer, `{"first":{"id": 12345678901234567890, "total": 1.10},"count":1,"list":[null],"via":"shop"}`, "",
		},
		{"of an array", `{"id": {"from": "/1/id"}}`, `[{"id": 1}, {"id": 2}]`, `{"id":2}`, ""},
		{"of a scalar", `{"value": {"from": ""}}`, `3.50`, `{"value":3.50}`, ""},
		{"nothing there", `{"from": "/data/x"}`, answer, "", `has nothing at "/data/x"`},
		{"no JSON", `{"from": "/data"}`, `<p>`, "", "not JSON: <p>"},
		{"too long", `[{"from": ""}, {"from": ""}, {"from": ""}]`, answer, "", "more than the limit of 200 bytes"},
		{"null for none", `null`, `{"a": 1}`, `{"a": 1}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/vnd.example")
				if tt.result == "null" {
					w.Header().Set("Content-Type", "application/json")
				}
				_, _ = io.WriteString(w, tt.answer)
			})
			res, err := b.executor.Execute(
				t.Context(), b.call(`{"url": "$URL/o", "max_bytes": 200, "result": `+tt.result+`}`, `{}`),
			)
			require.NoError(t, err)
			require.Equal(t, tt.says != "", res.IsError)
			if tt.says != "" {
				require.Contains(t, res.Content[0].Text, tt.says)
				return
			}
			require.Equal(t, tt.want, string(res.Structured))
		})
	}
	b := setup(t, shelf)
	res, err := b.executor.Execute(
		t.Context(),
		b.call(
			`{"url": "$URL/o", "result": {"from": "/items"}, "pagination": {"type": "link", "items": "/data", "max_pages": 1}}`,
			`{}`,
		),
	)
	require.NoError(t, err)
	require.Equal(t, `[{"n": 0},{"n": 1}]`, string(res.Structured))
	require.Len(t, res.Warnings, 1)
}

// TestDeclaredErrors holds rules to how they end a call.
func TestDeclaredErrors(t *testing.T) {
	t.Parallel()

	rules := `[
		{"status": 404, "where": "/code", "equals": "gone", "kind": "not_found", "message": {"from": "/why"}},
		{"status": "404", "kind": "answer_error", "message": "no such order: list them first"},
		{"status": 409, "kind": "conflict"},
		{"status": 400, "where": "/retry", "equals": true, "kind": "rate_limited", "retry_after": "/after"},
		{"status": "4xx", "where": "/fatal", "kind": "unavailable", "message": {"from": "/detail"}},
		{"status": "2xx", "where": "/errors", "kind": "answer_error", "message": {"from": "/errors/0/message"}},
		{"where": "/ok", "equals": false, "kind": "denied", "message": {"from": "/error"}},
		{"where": "/status/code", "equals": 1e1, "kind": "invalid"}
	]`
	for _, tt := range []struct {
		name   string
		status int
		body   string
		kind   tool.Kind // Empty: a result, which is "no" where says is something.
		says   string
		after  time.Duration
	}{
		{
			"first rule", 404, `{"code": "gone", "why": "it was deleted"}`, tool.NotFound,
			"the upstream answered 404 Not Found: it was deleted", 0,
		},
		{
			"first rule without its message", 404, `{"code": "g\u006fne"}`, tool.NotFound,
			"the upstream answered 404 Not Found", 0,
		},
		{"second rule", 404, `{"code": "other"}`, "", "no such order: list them first", 0},
		{"second rule, no JSON", 404, `<p>`, "", "no such order: list them first", 0},
		{"without a message", 409, `{}`, tool.Conflict, "the upstream answered 409 Conflict", 0},
		{
			"come back by the answer", 400, `{"retry": true, "after": 1.5}`, tool.RateLimited, "400 Bad Request",
			1500 * time.Millisecond,
		},
		{"come back by text", 400, `{"retry": true, "after": "30"}`, tool.RateLimited, "", 30 * time.Second},
		{"come back by the header", 400, `{"retry": true, "after": "soon"}`, tool.RateLimited, "", 7 * time.Second},
		{"come back in the past", 400, `{"retry": true, "after": -1}`, tool.RateLimited, "", 7 * time.Second},
		{"come back never", 400, `{"retry": true, "after": 1e300}`, tool.RateLimited, "", time.Hour},
		{"come back at no number", 400, `{"retry": true, "after": "NaN"}`, tool.RateLimited, "", 7 * time.Second},
		{"any of a class", 418, `{"fatal": [0], "detail": {"a": 1}}`, tool.Unavailable, `: {"a": 1}`, 7 * time.Second},
		{"none of a class", 418, `{"fatal": []}`, "", "418 I'm a teapot", 0},
		{"errors in an answer", 200, `{"data": null, "errors": [{"message": "no field x"}]}`, "", "no field x", 0},
		{
			"errors without a message", 200, `{"errors": {"a": 1}}`, "", `the upstream answered 200 OK: {"errors": {"a": 1}}`,
			0,
		},
		{"no errors", 200, `{"data": 1, "errors": []}`, "", "", 0},
		{"null errors", 200, `{"data": 1, "errors": null}`, "", "", 0},
		{"not ok", 200, `{"ok": false, "error": "not_in_channel"}`, tool.Denied, "200 OK: not_in_channel", 0},
		{"ok", 200, `{"ok": true}`, "", "", 0},
		{"numbers by value", 503, `{"status": {"code": 10.0}}`, tool.Invalid, "503 Service Unavailable", 0},
		{"no rule", 503, `{"status": {"code": "10"}}`, tool.Unavailable, "the upstream failed", 7 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.Header().Set("Retry-After", "7")
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.body)
			})
			res, err := b.executor.Execute(
				t.Context(),
				b.call(`{"method": "POST", "url": "$URL/o", "errors": `+rules+`}`, `{}`),
			)
			require.Len(t, b.requests(), 1)
			if tt.kind == "" {
				require.NoError(t, err)
				require.Equal(t, tt.says != "", res.IsError)
				if tt.says != "" {
					require.Contains(t, res.Content[0].Text, tt.says)
				}
				return
			}
			require.Nil(t, res)
			e := tool.AsError(err)
			require.Equal(t, tt.kind, e.Kind)
			require.Contains(t, e.Msg, tt.says)
			require.Equal(t, tt.after, e.RetryAfter)
			require.True(t, e.Sent)
			require.True(t, e.Answered)
			require.False(t, e.MayRetry(tool.Execution{}), "no rule makes a call be repeated")
			require.False(t, e.OutcomeUnknown(tool.Execution{}))
		})
	}
}

// TestDeclaredMessages proves that what an upstream says is short and holds no
// secret, however it ends a call.
func TestDeclaredMessages(t *testing.T) {
	t.Parallel()

	for _, kind := range []string{"answer_error", "not_found"} {
		for before := 480; before <= 500; before++ {
			b := setup(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusTeapot)
				_, _ = io.WriteString(w, `{"why": "`+strings.Repeat("x", before)+`s3cr3t-orders`+strings.Repeat("é", 5000)+`"}`)
			})
			config := `{"url": "$URL/o", "auth": {"type": "bearer", "credentials_ref": "orders"}, "errors": [{"status": 418, "kind": "` + kind + `", "message": {"from": "/why"}}]}`
			res, err := middleware.Redact()(b.executor).Execute(t.Context(), b.call(config, `{}`))
			var text string
			if err != nil {
				text = tool.AsError(err).Msg
				require.Less(t, len(text), 600)
			} else {
				text = res.Content[0].Text
				require.Less(t, len(text), 5000)
			}
			require.NotContains(t, text, "s3")
			require.NotContains(t, text, "\uFFFD")
		}
	}
}

func TestBinaryAnswers(t *testing.T) {
	t.Parallel()

	for _, tt := range []struct {
		name, answer, contentType, disposition string
		want                                   tool.Content
	}{
		{
			"pdf with a name", "auto", "application/pdf", `attachment; filename="invoice 7.pdf"`,
			tool.Content{Type: tool.ContentResource, MIMEType: "application/pdf", Name: "invoice 7.pdf"},
		},
		{
			"name in other letters", "auto", "application/pdf", `attachment; filename*=UTF-8''r%C3%A9sum%C3%A9.pdf`,
			tool.Content{Type: tool.ContentResource, MIMEType: "application/pdf", Name: "résumé.pdf"},
		},
		{
			"name with a way", "auto", "application/zip", `attachment; filename="../../etc/passwd"`,
			tool.Content{Type: tool.ContentResource, MIMEType: "application/zip", Name: "passwd"},
		},
		{
			"name with a windows way", "auto", "application/zip", `attachment; filename*=UTF-8''C%3A%5Cx%5C..`,
			tool.Content{Type: tool.ContentResource, MIMEType: "application/zip"},
		},
		{
			"name with a line break", "auto", "application/zip", `attachment; filename*=UTF-8''a%0D%0Ab`,
			tool.Content{Type: tool.ContentResource, MIMEType: "application/zip"},
		},
		{
			"malformed name", "auto", "application/zip", `attachment; filename="`,
			tool.Content{Type: tool.ContentResource, MIMEType: "application/zip"},
		},
		{
			"text as bytes", "binary", "text/csv; charset=utf-8", "",
			tool.Content{Type: tool.ContentResource, MIMEType: "text/csv"},
		},
		{
			"json as bytes", "binary", "application/json", "",
			tool.Content{Type: tool.ContentResource, MIMEType: "application/json"},
		},
		{
			"image", "binary", "image/png", `inline; filename=x.png`,
			tool.Content{Type: tool.ContentImage, MIMEType: "image/png", Name: "x.png"},
		},
		{"audio", "auto", "audio/mpeg", "", tool.Content{Type: tool.ContentAudio, MIMEType: "audio/mpeg"}},
		{"nothing said", "binary", "", "", tool.Content{Type: tool.ContentResource, MIMEType: "application/octet-stream"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header()["Content-Type"] = nil
				if tt.contentType != "" {
					w.Header().Set("Content-Type", tt.contentType)
				}
				if tt.disposition != "" {
					w.Header().Set("Content-Disposition", tt.disposition)
				}
				_, _ = io.WriteString(w, "{}\x00\xff")
			})
			res, err := b.executor.Execute(t.Context(), b.call(`{"url": "$URL/o", "answer": "`+tt.answer+`"}`, `{}`))
			require.NoError(t, err)
			tt.want.Data = []byte("{}\x00\xff")
			if tt.want.Type == tool.ContentResource {
				tt.want.URI = b.url
			}
			require.Equal(t, []tool.Content{tt.want}, res.Content)
			require.Nil(t, res.Structured)
		})
	}
	b := setup(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/pdf")
		_, _ = io.WriteString(w, "%PDF"+r.Header.Get("Authorization"))
	})
	call := b.call(`{"url": "$URL/o", "auth": {"type": "bearer", "credentials_ref": "orders"}}`, `{}`)
	res, err := middleware.Redact()(b.executor).Execute(t.Context(), call)
	require.NoError(t, err)
	require.Equal(t, tool.Text("binary content withheld: it held a credential"), res.Content[0])
	require.NoError(t, httpcall.CheckConfig(call.Version.Snapshot.Config))
}
