package httpcall_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors/httpcall"
	"github.com/toolcrib/toolcrib/tool"
)

// times returns item n times, with commas between.
func times(n int, item string) string { return strings.TrimSuffix(strings.Repeat(item+",", n), ",") }

func TestConfigIsBounded(t *testing.T) {
	t.Parallel()

	post := func(body string) string {
		return `{"method": "POST", "url": "https://x.example", "body": ` + body + `}`
	}
	query := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"q%d": {"from": "/a"},`, i)
		}
		return strings.TrimSuffix(b.String(), ",")
	}
	deep := func(n int) string { return strings.Repeat(`{"a":`, n) + `1` + strings.Repeat(`}`, n) }
	for _, tt := range []struct {
		name, config, path string
		ok                 bool
	}{
		{"256 references", post(`[` + times(256, `{"from":""}`) + `]`), "", true},
		{"257 references", post(`[` + times(257, `{"from":""}`) + `]`), "", false},
		{"256 variables", `{"url": "https://x.example/` + strings.Repeat(`{a}`, 256) + `"}`, "", true},
		{"257 variables", `{"url": "https://x.example/` + strings.Repeat(`{a}`, 257) + `"}`, "", false},
		{
			"references all over",
			`{"method": "POST", "url": "https://x.example/{a,b}", "headers": {"X-A": {"from": "/a"}}, "query": {` + query(127) +
				`}, "body": [` + times(127, `{"from":"/b"}`) + `]}`,
			"", false,
		},
		{"64 KiB", post(`"` + strings.Repeat("x", 65<<10) + `"`), "", false},
		{"64 deep", post(deep(64)), "", true},
		{"65 deep", post(deep(65)), "/body" + strings.Repeat("/a", 65), false},
		{"a pointer of 64", post(`{"from": "` + strings.Repeat("/a", 64) + `"}`), "", true},
		{"a pointer of 65", post(`{"from": "` + strings.Repeat("/a", 65) + `"}`), "/body/from", false},
	} {
		err := httpcall.CheckConfig(json.RawMessage(tt.config))
		if tt.ok {
			require.NoError(t, err, tt.name)
			continue
		}
		require.Equal(t, tool.Invalid, tool.KindOf(err), tt.name)
		require.Equal(t, tt.path, tool.AsError(err).Path, tt.name)
	}
}

// TestArgumentsAreNotMultiplied proves that no configuration makes more of a
// call's arguments than a request may have.
func TestArgumentsAreNotMultiplied(t *testing.T) {
	t.Parallel()

	const half = 500 << 10
	long := `{"a": "` + strings.Repeat("x", half) + `"}`
	many := `{"a": [` + times(half/3, `""`) + `]}`
	escaped := `{"a": "` + strings.Repeat(`\u0041`, half/6) + `"}`
	some := `{"a": "` + strings.Repeat("x", 200) + `"}`
	for _, tt := range []struct{ name, config, args, path, says string }{
		{"body", `{"method": "POST", "url": "$URL/o", "body": [` + times(256, `{"from":""}`) + `]}`, long, "", "body"},
		{
			"body of members", `{"method": "POST", "url": "$URL/o", "body": {"x": [` + times(9, `{"from":"/a"}`) + `]}}`, long,
			"", "body",
		},
		{
			"rest of the body", `{"method": "POST", "url": "$URL/o"}`, `{"a": "` + strings.Repeat("x", 4<<20) + `"}`, "",
			"body",
		},
		{"query", `{"url": "$URL/o", "query": {"q": {"from": "/a"}}}`, long, "/a", "URL"},
		{"query of many", `{"url": "$URL/o", "query": {"q": {"from": "/a"}}}`, many, "/a", "URL"},
		{"query of escapes", `{"url": "$URL/o", "query": {"q": {"from": "/a"}}}`, escaped, "/a", "URL"},
		{"query of all", `{"url": "$URL/o", "query": {"q": {"from": ""}}}`, long, "", "URL"},
		{"rest of the query", `{"url": "$URL/o"}`, long, "/a", "URL"},
		{
			"query escaped on the way", `{"url": "$URL/o", "query": {"q": {"from": "/a"}}}`,
			`{"a": "` + strings.Repeat("/", 3000) + `"}`, "/a", "URL",
		},
		{"path", `{"url": "$URL/{a}"}`, long, "/a", "URL"},
		{"path of many uses", `{"url": "$URL/` + strings.Repeat("{a}", 256) + `"}`, some, "/a", "URL"},
		{
			"path of a long name", `{"url": "$URL/{?` + strings.Repeat("a", 200) + `*}"}`,
			`{"` + strings.Repeat("a", 200) + `": [` + times(1000, `""`) + `]}`, "/" + strings.Repeat("a", 200), "URL",
		},
		{"header", `{"url": "$URL/o", "headers": {"X-A": {"from": "/a"}}}`, long, "/a", "headers"},
		{
			"headers", `{"url": "$URL/o", "headers": {"X-A": {"from": "/a"}, "X-B": {"from": "/a"}}}`,
			`{"a": "` + strings.Repeat("x", 20<<10) + `"}`, "/a", "headers",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t, ok)
			began := time.Now()
			_, err := b.executor.Execute(t.Context(), b.call(tt.config, tt.args))
			require.Equal(t, tool.Invalid, tool.KindOf(err), "%v", err)
			require.Equal(t, tt.path, tool.AsError(err).Path)
			require.ErrorContains(t, err, "the request's "+tt.says)
			require.Empty(t, b.requests())
			require.Less(t, time.Since(began), 10*time.Second)
		})
	}
	b := setup(t, ok)
	_, err := b.executor.Execute(
		t.Context(), b.call(`{"method": "POST", "url": "$URL/o", "body": [`+times(8, `{"from":"/a"}`)+`]}`, long),
	)
	require.NoError(t, err, "within the limit")
	require.Len(t, b.requests()[0].Body, 8*(half+2)+9)
}

// TestFillingEndsWithItsCall proves that the time of a call bounds the writing
// of its request.
func TestFillingEndsWithItsCall(t *testing.T) {
	t.Parallel()

	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	late, stop := context.WithTimeout(t.Context(), time.Nanosecond)
	defer stop()
	<-late.Done()
	for _, config := range []string{
		`{"url": "https://x.example/{a}"}`,
		`{"url": "https://x.example/", "query": {"q": {"from": "/a"}}}`,
		`{"url": "https://x.example/", "headers": {"X-A": {"from": "/a"}}}`,
		`{"method": "POST", "url": "https://x.example/", "body": [{"from": "/a"}]}`,
	} {
		for ctx, want := range map[context.Context]tool.Kind{cancelled: tool.Cancelled, late: tool.Timeout} {
			_, err := httpcall.Target(ctx, json.RawMessage(config), json.RawMessage(`{"a": "x"}`))
			require.Equal(t, want, tool.KindOf(err), config)
			require.False(t, tool.AsError(err).Sent)
		}
	}
}

func TestPointersLeadThroughArguments(t *testing.T) {
	t.Parallel()

	b := setup(t, ok)
	config := `{"method": "POST", "url": "$URL/o", "body": {
		"item": {"from": "/list/1/x"}, "again": {"from": "/list/1"}, "none": {"from": "/list/2"}, "padded": {"from": "/list/01"}, "below": {"from": "/list/-1"},
		"number": {"from": "/1/0"}, "scalar": {"from": "/list/0/x"}, "odd": {"from": "/a~1b/~0"}, "last": {"from": "/twice"}, "null": {"from": "/nothing"},
		"empty": [], "object": {"gone": {"from": "/absent"}, "kept": true, "also": {"from": "/absent"}}}}`
	_, err := b.executor.Execute(t.Context(), b.call(config,
		`{"list": [7, {"x": [1.0]}], "1": {"0": "zero"}, "a/b": {"~": false}, "twice": 1, "twice": 2, "nothing": null}`))
	require.NoError(t, err)
	require.Equal(t, //nolint:testifylint // Byte for byte.
		`{"item":[1.0],"again":{"x": [1.0]},"number":"zero","odd":false,"last":2,"null":null,"empty":[],"object":{"kept":true}}`, b.requests()[0].Body)
}
