package httpcall_test

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors/middleware"
	"github.com/toolcrib/toolcrib/tool"
)

// TestStatuses holds every status to its row of the table of how calls end.
func TestStatuses(t *testing.T) {
	t.Parallel()

	kinds := map[int]tool.Kind{
		401: tool.Denied, 403: tool.Denied, 407: tool.Denied,
		408: tool.RateLimited, 425: tool.RateLimited, 429: tool.RateLimited,
	}
	for status := 200; status < 600; status++ {
		if http.StatusText(status) == "" && status%50 != 0 {
			continue
		}
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			t.Parallel()

			b := setup(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", "7")
				w.WriteHeader(status)
				if status >= 400 {
					_, _ = io.WriteString(w, `{"error": "because"}`)
				}
			})
			res, err := b.executor.Execute(t.Context(), b.call(`{"method": "POST", "url": "$URL/o"}`, `{}`))
			require.Len(t, b.requests(), 1, "one request, whatever the answer")
			kind := kinds[status]
			if status >= 500 {
				kind = tool.Unavailable
			}
			if kind == "" {
				require.NoError(t, err)
				require.Equal(t, status >= 300, res.IsError)
				if status >= 400 {
					require.Contains(t, res.Content[0].Text, `because`)
				}
				return
			}
			require.Nil(t, res)
			e := tool.AsError(err)
			require.Equal(t, kind, e.Kind)
			require.True(t, e.Sent)
			require.NotContains(t, e.Error(), "because", "an upstream's failure is not quoted")
			if kind != tool.Denied {
				require.Equal(t, 7*time.Second, e.RetryAfter)
			}
			require.True(t, e.Answered)
			require.False(t, e.OutcomeUnknown(tool.Execution{}), "a failure that was answered leaves no doubt about its outcome")
			require.False(t, e.MayRetry(tool.Execution{}), "it was sent")
			require.Equal(t, kind.Retryable(), e.MayRetry(tool.Execution{Idempotent: true}))
		})
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()

	text := func(s string) *tool.Result { return &tool.Result{Content: []tool.Content{tool.Text(s)}} }
	raw := func(s string) *tool.Result { return tool.JSONResult([]byte(s)) }
	tests := []struct {
		name, config, contentType, body string
		want                            *tool.Result
	}{
		{
			"json keeps its bytes", `{"url": "$URL"}`, "application/json; charset=utf-8",
			" {\"b\": 1.10, \"a\": 12345678901234567890}\n", raw(`{"b": 1.10, "a": 12345678901234567890}`),
		},
		{"json by suffix", `{"url": "$URL"}`, "application/problem+json", `[1]`, raw(`[1]`)},
		{"json without a type", `{"url": "$URL"}`, "", `{"a": 1}`, raw(`{"a": 1}`)},
		{"json that is text", `{"url": "$URL"}`, "text/plain", `{"a": 1}`, text(`{"a": 1}`)},
		{"json wanted", `{"url": "$URL", "answer": "json"}`, "text/plain", `{"a": 1}`, raw(`{"a": 1}`)},
		{
			"json wanted and not given", `{"url": "$URL", "answer": "json"}`, "text/html", `<p>`,
			tool.ErrorResult("the upstream answered 200 OK with something that is not JSON: <p>"),
		},
		{"text wanted", `{"url": "$URL", "answer": "text"}`, "application/json", `{"a": 1}`, text(`{"a": 1}`)},
		{"text", `{"url": "$URL"}`, "text/csv", "a,b\n", text("a,b\n")},
		{"text of odd bytes", `{"url": "$URL"}`, "text/plain", "caf\xe9", text("caf\uFFFD")},
		{"xml", `{"url": "$URL"}`, "application/atom+xml", "<a/>", text("<a/>")},
		{
			"image", `{"url": "$URL"}`, "image/png", "\x89PNG",
			&tool.Result{Content: []tool.Content{{Type: tool.ContentImage, Data: []byte("\x89PNG"), MIMEType: "image/png"}}},
		},
		{
			"audio", `{"url": "$URL"}`, "audio/ogg", "OggS",
			&tool.Result{Content: []tool.Content{{Type: tool.ContentAudio, Data: []byte("OggS"), MIMEType: "audio/ogg"}}},
		},
		{
			"pdf", `{"url": "$URL/x?part=1"}`, "application/pdf", "%PDF",
			&tool.Result{
				Content: []tool.Content{
					{Type: tool.ContentResource, Data: []byte("%PDF"), MIMEType: "application/pdf", URI: "$URL"},
				},
			},
		},
		{
			"bytes without a type", `{"url": "$URL"}`, "", "\x00\xff",
			&tool.Result{
				Content: []tool.Content{
					{Type: tool.ContentResource, Data: []byte("\x00\xff"), MIMEType: "application/octet-stream", URI: "$URL"},
				},
			},
		},
		{"nothing", `{"url": "$URL"}`, "application/json", " ", text("done: the upstream answered 200 OK without content")},
		{
			"too much", `{"url": "$URL", "max_bytes": 3}`, "text/plain", "four",
			tool.ErrorResult("the upstream answered more than the limit of 3 bytes: " +
				"ask for less, such as fewer items or fields"),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header()["Content-Type"] = nil // Not guessed.
				if tt.contentType != "" {
					w.Header().Set("Content-Type", tt.contentType)
				}
				_, _ = io.WriteString(w, tt.body)
			})
			res, err := b.executor.Execute(t.Context(), b.call(tt.config, `{}`))
			require.NoError(t, err)
			if len(res.Content) > 0 && res.Content[0].URI != "" {
				require.Equal(t, b.url, res.Content[0].URI)
				res.Content[0].URI = "$URL"
			}
			require.Equal(t, tt.want, res)
		})
	}
}

// TestNoHalfSecrets proves that no cut of an answer leaves the beginning of a
// secret, wherever it stands.
func TestNoHalfSecrets(t *testing.T) {
	t.Parallel()

	const key = "s3cr3t-orders"
	for _, config := range []string{
		`{"url": "$URL/o", %s}`, `{"url": "$URL/o", "max_bytes": 4000, %s}`, `{"url": "$URL/o", "max_bytes": 300, %s}`,
	} {
		for _, limit := range []int{300, 4000, 4096} {
			for before := limit - len(key); before < limit; before++ {
				b := setup(t, func(w http.ResponseWriter, _ *http.Request) {
					http.Error(w, strings.Repeat("x", before)+key+strings.Repeat("y", 200), http.StatusBadRequest)
				})
				call := b.call(fmt.Sprintf(config, `"auth": {"type": "bearer", "credentials_ref": "orders"}`), `{}`)
				res, err := middleware.Redact()(b.executor).Execute(t.Context(), call)
				require.NoError(t, err)
				require.NotContains(t, res.Content[0].Text, "s3", "%d bytes before", before)
			}
		}
	}
}

// TestOddTextIsRedacted proves that a secret is found in text that has to be
// changed to be valid, and in escapes.
func TestOddTextIsRedacted(t *testing.T) {
	t.Parallel()

	const key = "s3cr3t-orders"
	var wide strings.Builder
	for _, c := range key {
		wide.WriteString("\x00" + string(c))
	}
	for _, status := range []int{200, 400} {
		for name, body := range map[string]string{
			"odd bytes": "\xff" + key + "\xff", "wide": "\xfe\xff" + wide.String(),
			"escapes": `{"key": "\u0073\u0033cr3t-orders"}`,
		} {
			b := setup(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/plain; charset=utf-16")
				w.WriteHeader(status)
				_, _ = io.WriteString(w, body)
			})
			res, err := middleware.Redact()(b.executor).Execute(t.Context(),
				b.call(`{"url": "$URL/o", "auth": {"type": "bearer", "credentials_ref": "orders"}}`, `{}`))
			require.NoError(t, err)
			text := strings.ReplaceAll(res.Content[0].Text, "\x00", "")
			require.NotContains(t, text, key, name)
			require.NotContains(t, text, `cr3t-orders`, name)
		}
	}
}

func TestClassIsEnforced(t *testing.T) {
	t.Parallel()

	b := setup(t, ok)
	for class, allowed := range map[tool.Egress]int{tool.EgressNone: 0, tool.EgressReadOnly: 1, tool.EgressWrite: 2} {
		before := len(b.requests())
		for _, method := range []string{"GET", "POST"} {
			call := b.call(`{"method": "`+method+`", "url": "$URL/o"}`, `{}`)
			call.Egress = class
			if _, err := b.executor.Execute(t.Context(), call); err != nil {
				require.Equal(t, tool.Denied, tool.KindOf(err))
			}
		}
		require.Len(t, b.requests(), before+allowed, "class %s", class)
	}
}
