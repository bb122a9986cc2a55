package httpcall_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors/httpcall"
	"github.com/toolcrib/toolcrib/tool"
)

var goodConfigs = []string{
	`{"url": "https://api.example.com"}`,
	`{"type": "http", "method": "delete", "url": "https://api.example.com:8443/orders/{id}"}`,
	`{"url": "https://api.example.com{/path*}{?q,page}"}`,
	`{"url": "http://10.0.0.7/x?fixed=1{&q}"}`,
	`{"url": "https://[2001:db8::1]/x"}`,
	`{"method": "PATCH", "url": "https://x.example/{a.b}", "headers": {"X-A": {"from": "/a/b"}, "Accept": "text/plain"}, "query": {"n": 3, "f": false},
	  "body": {"deep": [{"from": "/a~1b/0"}, {"from": "/x", "literal": 1}]}, "auth": {"type": "header", "header": "X-Api-Key", "credentials_ref": "orders.v2"},
	  "max_bytes": 1000, "answer": "text"}`,
	`{"method": "POST", "url": "https://x.example/", "body": null}`,
	`{"method": "GET", "url": "https://x.example/", "body": null}`,
	`{"url": "https://x.example/{?api_key}"}`,
	`{"url": "https://x.example/o?token={token}&page=1&key=2&secret={+s}{&password}"}`,
	`{"url": "https://x.example/o?token&password=&max_tokens=5"}`,
	`{"method": "POST", "url": "https://x.example/", "body": {"password": {"from": "/p"}, "token": null, "secret": true, "api_key": "", "max_tokens": 5, "credentials_ref": "x"}}`,
	`{"url": "https://x.example/", "query": {"page_token": {"from": "/page"}}}`,
}

var badConfigs = []struct{ name, config, path string }{
	{"nothing", ``, ""},
	{"not JSON", `{`, ""},
	{"two values", `{"url": "https://x.example"} {}`, ""},
	{"an array", `[]`, ""},
	{"unknown member", `{"url": "https://x.example", "uri": "x"}`, "/uri"},
	{"wrong type", `{"url": 1}`, "/url"},
	{"wrong type below", `{"url": "https://x.example", "auth": {"type": 1}}`, "/auth/type"},
	{"another type", `{"type": "mcp", "url": "https://x.example"}`, "/type"},
	{"no url", `{}`, "/url"},
	{"relative", `{"url": "/orders"}`, "/url"},
	{"scheme", `{"url": "ftp://x.example/"}`, "/url"},
	{"file", `{"url": "file:///etc/passwd"}`, "/url"},
	{"templated scheme", `{"url": "{scheme}://x.example/"}`, "/url"},
	{"templated host", `{"url": "https://{host}/"}`, "/url"},
	{"templated part of a host", `{"url": "https://{tenant}.example.com/"}`, "/url"},
	{"template behind the host", `{"url": "https://api.example.com{suffix}/"}`, "/url"},
	{"reserved template behind the host", `{"url": "https://api.example.com{+suffix}"}`, "/url"},
	{"label template behind the host", `{"url": "https://api.example{.tld}/"}`, "/url"},
	{"templated port", `{"url": "https://api.example.com:{port}/"}`, "/url"},
	{"user information", `{"url": "https://user:pass@api.example.com/"}`, "/url"},
	{"templated user information", `{"url": "https://{user}@api.example.com/"}`, "/url"},
	{"odd address", `{"url": "http://0x7f.1/"}`, "/url"},
	{"zone", `{"url": "http://[fe80::1%25eth0]/"}`, "/url"},
	{"host that is not ASCII", `{"url": "https://api.gİthub.example/"}`, "/url"},
	{"host with an ideographic full stop", `{"url": "https://api。example.com/"}`, "/url"},
	{"no host", `{"url": "https:///x"}`, "/url"},
	{"backslash", `{"url": "https://api.example.com\\@evil.example/"}`, "/url"},
	{"fragment", `{"url": "https://x.example/a#b"}`, "/url"},
	{"fragment expression", `{"url": "https://x.example/{#b}"}`, "/url"},
	{"unclosed", `{"url": "https://x.example/{id"}`, "/url"},
	{"unopened", `{"url": "https://x.example/id}"}`, "/url"},
	{"bad variable", `{"url": "https://x.example/{a-b}"}`, "/url"},
	{"path after query", `{"url": "https://x.example/?q=1{/path}"}`, "/url"},
	{"method", `{"method": "CONNECT", "url": "https://x.example"}`, "/method"},
	{"method with line break", `{"method": "GET\r\nX: y", "url": "https://x.example"}`, "/method"},
	{"answer", `{"url": "https://x.example", "answer": "xml"}`, "/answer"},
	{"negative size", `{"url": "https://x.example", "max_bytes": -1}`, "/max_bytes"},
	{"huge size", `{"url": "https://x.example", "max_bytes": 1000000000}`, "/max_bytes"},
	{"body of GET", `{"url": "https://x.example", "body": {}}`, "/body"},
	{"bad pointer in body", `{"method": "POST", "url": "https://x.example", "body": {"a/b": [{"from": "x"}]}}`, "/body/a~1b/0/from"},
	{"bad pointer in header", `{"url": "https://x.example", "headers": {"X-A": {"from": "x"}}}`, "/headers/X-A/from"},
	{"bad escape in pointer", `{"url": "https://x.example", "query": {"a": {"from": "/a~2"}}}`, "/query/a/from"},
	{"object as value", `{"url": "https://x.example", "query": {"a": {"b": 1}}}`, "/query/a/b"},
	{"null as value", `{"url": "https://x.example", "headers": {"X-A": null}}`, "/headers/X-A"},
	{"header name", `{"url": "https://x.example", "headers": {"X A": "1"}}`, "/headers/X A"},
	{"header name with line break", `{"url": "https://x.example", "headers": {"X\r\nY": "1"}}`, "/headers/X\r\nY"},
	{"header with line break", `{"url": "https://x.example", "headers": {"X-A": "1\r\nX-B: 2"}}`, "/headers/X-A"},
	{"host header", `{"url": "https://x.example", "headers": {"host": "y.example"}}`, "/headers/host"},
	{"key header", `{"url": "https://x.example", "headers": {"idempotency-key": "1"}}`, "/headers/idempotency-key"},
	{"length header", `{"url": "https://x.example", "headers": {"Content-Length": "1"}}`, "/headers/Content-Length"},
	{"proxy header", `{"url": "https://x.example", "headers": {"Proxy-Authorization": "1"}}`, "/headers/Proxy-Authorization"},
	{"secret in a header", `{"url": "https://x.example", "headers": {"Authorization": "Bearer abc"}}`, "/headers/Authorization"},
	{"secret from the model", `{"url": "https://x.example", "headers": {"X-Api-Key": {"from": "/key"}}}`, "/headers/X-Api-Key"},
	{"secret in the query", `{"url": "https://x.example", "query": {"api_key": "abc"}}`, "/query/api_key"},
	{"secret in the URL", `{"url": "https://x.example/o?page=1&api_key=abc"}`, "/url"},
	{"secret in the URL, escaped", `{"url": "https://x.example/o?api%5Fkey=abc"}`, "/url"},
	{"secret in the URL, in part", `{"url": "https://x.example/o?access_token=abc{rest}"}`, "/url"},
	{"secret in the URL behind an expression", `{"url": "https://x.example/o{?page}&token=abc"}`, "/url"},
	{"secret in the body", `{"method": "POST", "url": "https://x.example", "body": {"a/b": [{"client_secret": "abc"}]}}`, "/body/a~1b/0/client_secret"},
	{"number of a secret in the body", `{"method": "POST", "url": "https://x.example", "body": {"pin": 1234}}`, "/body/pin"},
	{"secret below a name in the body", `{"method": "POST", "url": "https://x.example", "body": {"credentials": {"list": [{"from": "/a"}, "abc"]}}}`, "/body/credentials/list/1"},
	{"auth type", `{"url": "https://x.example", "auth": {"type": "digest", "credentials_ref": "x"}}`, "/auth/type"},
	{"no credential", `{"url": "https://x.example", "auth": {"type": "bearer"}}`, "/auth/credentials_ref"},
	{"odd credential", `{"url": "https://x.example", "auth": {"type": "bearer", "credentials_ref": "../x"}}`, "/auth/credentials_ref"},
	{"no auth header", `{"url": "https://x.example", "auth": {"type": "header", "credentials_ref": "x"}}`, "/auth/header"},
	{"header for bearer", `{"url": "https://x.example", "auth": {"type": "bearer", "header": "X", "credentials_ref": "x"}}`, "/auth/header"},
	{"secret itself in auth", `{"url": "https://x.example", "auth": {"type": "bearer", "token": "x"}}`, "/auth/token"},
}

func TestCheckConfig(t *testing.T) {
	t.Parallel()

	for _, config := range goodConfigs {
		require.NoError(t, httpcall.CheckConfig(json.RawMessage(config)), config)
	}
	for _, tt := range badConfigs {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			err := httpcall.CheckConfig(json.RawMessage(tt.config))
			require.Equal(t, tool.Invalid, tool.KindOf(err), "%v", err)
			require.Equal(t, tt.path, tool.AsError(err).Path, "%v", err)
			require.NotEmpty(t, tool.AsError(err).Msg)
		})
	}
}

func TestMalformedConfigNeverRuns(t *testing.T) {
	t.Parallel()

	b := setup(t, ok)
	_, err := b.executor.Execute(t.Context(), b.call(`{"url": "$URL/o", "answer": "xml"}`, `{}`))
	require.Equal(t, tool.Invalid, tool.KindOf(err))
	require.ErrorContains(t, err, "implementation_config/answer")
	require.Empty(t, b.requests())
}

// FuzzExpand looks for arguments that lead a request to another host or out
// of its folder, whatever the template.
func FuzzExpand(f *testing.F) {
	for _, value := range []string{"a", "..", "../../x", "@evil.example", "//evil.example", "a?b#c", "%2e%2e/%2f", "\r\nX: y", ".evil.example", ":80@x", "\\..\\"} {
		f.Add("/fixed/{id}/end", value)
		f.Add("/fixed/{+id}{?q}", value)
		f.Add("{/id}", value)
		f.Add("/fixed{;id}{.id}", value)
		f.Add("{?id*}", value)
	}
	f.Fuzz(func(t *testing.T, path, value string) {
		if path == "" || !strings.ContainsAny(path[:1], "/?{") {
			return // It would be part of the host that the author wrote.
		}
		config, err := json.Marshal(map[string]string{"url": "https://api.example.com" + path})
		require.NoError(t, err)
		args, err := json.Marshal(map[string]any{"id": value, "q": []string{value}})
		require.NoError(t, err)
		target, err := httpcall.Target(t.Context(), config, args)
		if err != nil {
			return
		}
		u, err := url.Parse(target)
		if err != nil || u.Scheme != "https" || u.Host != "api.example.com" || u.User != nil || strings.ContainsAny(target, "\r\n\x00") {
			t.Errorf("%q with %q leads to %q", path, value, target)
		}
		if clean := "/" + strings.Trim(u.Path, "/") + "/"; strings.Contains(clean, "/../") {
			t.Errorf("%q with %q leads up: %q", path, value, target)
		}
	})
}
