package httpcall_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors/middleware"
	"github.com/toolcrib/toolcrib/tool"
)

// shelf answers pages of two of five items, in each of the ways to lead on.
func shelf(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	number := func(name string, otherwise int) int {
		if n, err := strconv.Atoi(r.Form.Get(name)); err == nil {
			return n
		}
		return otherwise
	}
	from := number("offset", 2*(number("page", 1)-1))
	from = number("after", from)
	if r.Form.Has("zero") {
		from = 2 * number("zero", 0)
	}
	var items []string
	for n := from; n < min(from+2, 5); n++ {
		items = append(items, fmt.Sprintf(`{"n": %d}`, n))
	}
	next, link := `null`, `null`
	if from+2 < 5 {
		next = fmt.Sprintf(`"%d"`, from+2)
		q := url.Values{"after": {strconv.Itoa(from + 2)}}
		link = `"/o?` + q.Encode() + `"`
		w.Header().Add("Link", `</o?first>; rel="first", </o?`+q.Encode()+`>; title="a, b; rel=\"prev\""; rel="last next"`)
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"data": [%s], "next": %s, "link": %s}`, strings.Join(items, ","), next, link)
}

func TestPages(t *testing.T) {
	t.Parallel()

	const all = `{"items":[{"n": 0},{"n": 1},{"n": 2},{"n": 3},{"n": 4}],"pages":3,"complete":true}`
	for _, tt := range []struct {
		name, pagination, args, want string
		targets                      []string
	}{
		{
			"cursor", `{"type": "cursor", "items": "/data", "next": "/next", "parameter": "after"}`, `{"q": "x y"}`, all,
			[]string{"/o?q=x+y", "/o?q=x+y&after=2", "/o?q=x+y&after=4"},
		},
		{
			"cursor of the caller", `{"type": "cursor", "items": "/data", "next": "/next", "parameter": "after"}`,
			`{"after": 4}`,
			`{"items":[{"n": 4}],"pages":1,"complete":true}`,
			[]string{"/o?after=4"},
		},
		{
			"next URL", `{"type": "next_url", "items": "/data", "next": "/link"}`, `{"q": 1}`, all,
			[]string{"/o?q=1", "/o?after=2", "/o?after=4"},
		},
		{"link", `{"type": "link", "items": "/data"}`, `{}`, all, []string{"/o", "/o?after=2", "/o?after=4"}},
		{
			"page, to an empty one", `{"type": "page", "items": "/data", "parameter": "page"}`, `{}`,
			strings.Replace(all, "3,", "4,", 1),
			[]string{"/o", "/o?page=2", "/o?page=3", "/o?page=4"},
		},
		{
			"page of a size", `{"type": "page", "items": "/data", "parameter": "page", "page_size": 2}`, `{"q": 1}`, all,
			[]string{"/o?q=1", "/o?q=1&page=2", "/o?q=1&page=3"},
		},
		{
			"page from zero", `{"type": "page", "items": "/data", "parameter": "zero", "page_size": 2, "first": 0}`, `{}`, all,
			[]string{"/o?zero=0", "/o?zero=1", "/o?zero=2"},
		},
		{
			"page of the caller", `{"type": "page", "items": "/data", "parameter": "page", "page_size": 2}`, `{"page": 2}`,
			`{"items":[{"n": 2},{"n": 3},{"n": 4}],"pages":2,"complete":true}`,
			[]string{"/o?page=2", "/o?page=3"},
		},
		{
			"offset", `{"type": "offset", "items": "/data", "parameter": "offset", "page_size": 2}`, `{}`, all,
			[]string{"/o", "/o?offset=2", "/o?offset=4"},
		},
		{
			"no more pages than allowed",
			`{"type": "cursor", "items": "/data", "next": "/next", "parameter": "after", "max_pages": 2}`, `{}`,
			`{"items":[{"n": 0},{"n": 1},{"n": 2},{"n": 3}],"pages":2,"complete":false,"next":"4"}`,
			[]string{"/o", "/o?after=2"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t, shelf)
			config := `{"url": "$URL/o", "auth": {"type": "bearer", "credentials_ref": "orders"}, "pagination": ` +
				tt.pagination + `}`
			res, err := b.executor.Execute(t.Context(), b.call(config, tt.args))
			require.NoError(t, err)
			require.Equal(t, tt.want, string(res.Structured))
			require.Equal(t, strings.Contains(tt.want, `"complete":false`), len(res.Warnings) == 1)
			var targets, keys []string
			for _, r := range b.requests() {
				targets, keys = append(targets, r.Target), append(keys, r.Header.Get("Idempotency-Key"))
				require.Equal(t, "Bearer s3cr3t-orders", r.Header.Get("Authorization"),
					"every page is asked for with the credential")
			}
			require.Equal(t, tt.targets, targets)
			require.Equal(t, []string{"effect-1", "effect-1-2", "effect-1-3", "effect-1-4"}[:len(keys)], keys)
		})
	}
}

func TestPagesByBody(t *testing.T) {
	t.Parallel()

	b := setup(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"data": [1], "next": {"c": 7}}`)
	})
	config := `{"method": "POST", "url": "$URL/o", "body": {"query": {"from": "/q"}}, "pagination": {"type": "cursor", "items": "/data", "next": "/next/c", "body": "/variables/after", "max_pages": 2}}`
	call := b.call(config, `{"q": 1.0}`)
	_, err := b.executor.Execute(t.Context(), call)
	require.Equal(t, tool.Invalid, tool.KindOf(err), "a tool that may change something asks for one page")
	require.Empty(t, b.requests())

	call.Version.Snapshot.Execution.Pure = true
	res, err := b.executor.Execute(t.Context(), call)
	require.NoError(t, err)
	require.Equal(t, `{"items":[1,1],"pages":2,"complete":false,"next":7}`, //nolint:testifylint // Byte for byte.
		string(res.Structured))
	seen := b.requests()
	require.Equal(t, `{"query":1.0}`, seen[0].Body)
	require.Equal(t, `{"query":1.0,"variables":{"after":7}}`, seen[1].Body) //nolint:testifylint // Byte for byte.
}

// TestHostilePages proves that pages end, whatever an upstream says, that none
// is cut, and that none is left out without a word.
func TestHostilePages(t *testing.T) {
	t.Parallel()

	cursor := `"pagination": {"type": "cursor", "items": "/data", "next": "/next", "parameter": "after", "max_pages": 100}`
	links := `"pagination": {"type": "next_url", "items": "/data", "next": "/next"}`
	header := `"pagination": {"type": "link", "items": "/data"}`
	endless := func(_ int, w http.ResponseWriter) { _, _ = io.WriteString(w, `{"data": [1], "next": "same"}`) }
	for _, tt := range []struct {
		name, config string
		answer       func(n int, w http.ResponseWriter)
		requests     int
		structured   string
		says         string
	}{
		{"a round", cursor, endless, 2, "", "next page was read already"},
		{
			"without end", cursor, func(n int, w http.ResponseWriter) { _, _ = fmt.Fprintf(w, `{"data": [], "next": %d}`, n) },
			100, `"pages":100,"complete":false,"next":100}`, "",
		},
		{
			"too long", `"max_bytes": 100, ` + cursor,
			func(n int, w http.ResponseWriter) {
				_, _ = fmt.Fprintf(w, `{"data": ["%s"], "next": "c%d"}`, strings.Repeat("x", 10), n)
			},
			3, `{"items":["xxxxxxxxxx","xxxxxxxxxx"],"pages":2,"complete":false,"next":"c2"}`, "",
		},
		{"too long at once", `"max_bytes": 10, ` + cursor, endless, 1, "", "more than the limit of 10 bytes"},
		{
			"an object as cursor", cursor,
			func(_ int, w http.ResponseWriter) { _, _ = io.WriteString(w, `{"data": [1], "next": {"a": 1}}`) }, 1, "",
			"neither a string nor a number",
		},
		{
			"true as cursor", cursor,
			func(_ int, w http.ResponseWriter) { _, _ = io.WriteString(w, `{"data": [1], "next": true}`) }, 1, "",
			"neither a string nor a number",
		},
		{"a long cursor", cursor, func(_ int, w http.ResponseWriter) {
			_, _ = fmt.Fprintf(w, `{"data": [1], "next": "%s"}`, strings.Repeat("x", 9<<10))
		}, 1, "", "too long"},
		{"a cursor of line breaks", cursor, func(n int, w http.ResponseWriter) {
			_, _ = io.WriteString(w, `{"data": [1], "next": `+[]string{`"\r\nX: y"`, `null`}[min(n-1, 1)]+`}`)
		}, 2, `{"items":[1,1],"pages":2,"complete":true}`, ""},
		{
			"no items", cursor, func(_ int, w http.ResponseWriter) { _, _ = io.WriteString(w, `{"next": "x"}`) }, 1, "",
			`no array at "/data"`,
		},
		{
			"items of an object", cursor, func(_ int, w http.ResponseWriter) { _, _ = io.WriteString(w, `{"data": {"a": 1}}`) },
			1, "", `no array at "/data"`,
		},
		{
			"null items", cursor, func(_ int, w http.ResponseWriter) { _, _ = io.WriteString(w, `{"data": null}`) }, 1,
			`{"items":[],"pages":1,"complete":true}`, "",
		},
		{"nothing", cursor, func(int, http.ResponseWriter) {}, 1, `{"items":[],"pages":1,"complete":true}`, ""},
		{"no JSON", cursor, func(_ int, w http.ResponseWriter) { _, _ = io.WriteString(w, `<p>`) }, 1, "", "not JSON"},
		{"no on the way", cursor, func(n int, w http.ResponseWriter) {
			if n == 2 {
				w.WriteHeader(http.StatusUnprocessableEntity)
			}
			_, _ = fmt.Fprintf(w, `{"data": [1], "next": %d}`, n)
		}, 2, "", "422 Unprocessable Entity"},
		{"another host", links, func(_ int, w http.ResponseWriter) {
			_, _ = io.WriteString(w, `{"data": [1], "next": "http://169.254.169.254/latest/"}`)
		}, 1, "", "another origin"},
		{"another port", links, func(_ int, w http.ResponseWriter) {
			_, _ = io.WriteString(w, `{"data": [1], "next": "http://127.0.0.1:1/"}`)
		}, 1, "", "another origin"},
		{"another scheme", links, func(_ int, w http.ResponseWriter) {
			_, _ = io.WriteString(w, `{"data": [1], "next": "file:///etc/passwd"}`)
		}, 1, "", "another origin"},
		{"no scheme", links, func(_ int, w http.ResponseWriter) {
			_, _ = io.WriteString(w, `{"data": [1], "next": "//evil.example/x"}`)
		}, 1, "", "another origin"},
		{
			"a user", links,
			func(_ int, w http.ResponseWriter) { _, _ = io.WriteString(w, `{"data": [1], "next": "$USER/x"}`) }, 1, "",
			"another origin",
		},
		{
			"no URL", links,
			func(_ int, w http.ResponseWriter) { _, _ = io.WriteString(w, `{"data": [1], "next": "http://[::"}`) }, 1, "",
			"another origin",
		},
		{
			"a number as URL", links,
			func(_ int, w http.ResponseWriter) { _, _ = io.WriteString(w, `{"data": [1], "next": 7}`) }, 1, "",
			"neither a string nor a number",
		},
		{"header to another host", header, func(_ int, w http.ResponseWriter) {
			w.Header().Set("Link", `<https://evil.example/>; rel=next`)
			_, _ = io.WriteString(w, `{"data": [1]}`)
		}, 1, "", "another origin"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			var n atomic.Int64
			var own atomic.Pointer[string]
			b := setup(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				tt.answer(int(n.Add(1)), rewriter{w, *own.Load()})
			})
			user := strings.Replace(b.url, "http://", "http://user@", 1)
			own.Store(&user)
			res, err := b.executor.Execute(t.Context(), b.call(`{"url": "$URL/o", `+tt.config+`}`, `{}`))
			require.NoError(t, err)
			require.Len(t, b.requests(), tt.requests)
			require.Equal(t, tt.says != "", res.IsError)
			if tt.says != "" {
				require.Contains(t, res.Content[0].Text, tt.says)
				return
			}
			require.Contains(t, string(res.Structured), tt.structured)
		})
	}
}

// rewriter writes the test's own URL in the place of $USER.
type rewriter struct {
	http.ResponseWriter
	own string
}

func (r rewriter) Write(b []byte) (int, error) {
	_, err := io.WriteString(r.ResponseWriter, strings.ReplaceAll(string(b), "$USER", r.own))
	return len(b), err
}

// TestPagesFail proves that a page that fails ends the call with its failure,
// as one of which something was sent.
func TestPagesFail(t *testing.T) {
	t.Parallel()

	config := `{"url": "$URL/o", "pagination": {"type": "page", "items": "", "parameter": "page"}}`
	for _, tt := range []struct {
		status int
		kind   tool.Kind
	}{{500, tool.Unavailable}, {429, tool.RateLimited}, {403, tool.Denied}, {0, tool.Unavailable}} {
		b := setup(t, func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.URL.Query().Get("page") == "":
				_, _ = io.WriteString(w, `[1, 2]`)
			case tt.status == 0:
				panic(http.ErrAbortHandler)
			default:
				w.WriteHeader(tt.status)
			}
		})
		res, err := b.executor.Execute(t.Context(), b.call(config, `{}`))
		require.Nil(t, res)
		e := tool.AsError(err)
		require.Equal(t, tt.kind, e.Kind)
		require.True(t, e.Sent)
		require.False(t, e.MayRetry(tool.Execution{}))
		require.Equal(t, tt.kind.Retryable(), e.MayRetry(tool.Execution{Pure: true}))
	}
	// What is asked for after the first page can't be reached any more.
	ctx, cancel := context.WithCancel(t.Context())
	b := setup(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `[1]`) })
	call := b.call(config, `{}`)
	_, err := b.executor.Execute(tool.WithProgress(ctx, func(tool.Progress) { cancel() }), call)
	require.Equal(t, tool.Cancelled, tool.KindOf(err))
	require.True(t, tool.AsError(err).Sent, "the first page was sent")
	require.ErrorContains(t, err, "page 2")
	require.Len(t, b.requests(), 1)

	_, err = b.executor.Execute(t.Context(), b.call(config, `{"page": "last"}`))
	require.Equal(t, tool.Invalid, tool.KindOf(err))
	require.False(t, tool.AsError(err).Sent)
}

// TestNextIsRedacted proves that a secret in what leads on does not come back,
// and that it is sent in its place alone.
func TestNextIsRedacted(t *testing.T) {
	t.Parallel()

	b := setup(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, `{"data": [1], "next": "%s&p"}`, r.RequestURI)
	})
	config := `{"url": "$URL/o", "auth": {"type": "query", "name": "key", "credentials_ref": "orders"}, "pagination": {"type": "next_url", "items": "/data", "next": "/next", "max_pages": 2}}`
	res, err := middleware.Redact()(b.executor).Execute(t.Context(), b.call(config, `{}`))
	require.NoError(t, err)
	require.NotContains(t, string(res.Structured), "s3cr3t")
	require.Equal(t, "/o?p&key=s3cr3t-orders", b.requests()[1].Target)
}
