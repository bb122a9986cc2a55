package httpcall_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors/httpcall"
	"github.com/toolcrib/toolcrib/executors/middleware"
	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

// received is what the upstream saw of a request.
type received struct {
	Method, Target, Body string
	Header               http.Header
}

// bundle is an executor and an upstream on loopback, which an explicit policy
// allows.
type bundle struct {
	executor *httpcall.Executor
	url      string

	mu   sync.Mutex
	seen []received
}

func (b *bundle) requests() []received {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]received(nil), b.seen...)
}

func setup(t *testing.T, answer http.HandlerFunc, hosts ...string) *bundle {
	t.Helper()
	b := &bundle{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		b.mu.Lock()
		b.seen = append(b.seen, received{Method: r.Method, Target: r.RequestURI, Body: string(body), Header: r.Header})
		b.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(srv.Close)
	b.url = srv.URL
	hosts = append(hosts, strings.TrimPrefix(srv.URL, "http://"))
	gate, err := egress.New(egress.Config{
		Policy: func(tool.TenantID) egress.Policy { return egress.Policy{AllowHosts: hosts} },
	})
	require.NoError(t, err)
	t.Cleanup(gate.Close)
	vars := map[string]string{
		"TOOLCRIB_SECRET_ORDERS": "s3cr3t-orders", "TOOLCRIB_SECRET_ORDERS_HOSTS": "127.0.0.1",
		"TOOLCRIB_SECRET_LOGIN": "ada:lovelace-1815", "TOOLCRIB_SECRET_LOGIN_HOSTS": "127.0.0.1",
		"TOOLCRIB_SECRET_CLIENT":       "{\n  \"client_id\": \"crib\",\n  \"client_secret\": \"s3cr3t+client/1\"\n}\n",
		"TOOLCRIB_SECRET_CLIENT_HOSTS": "127.0.0.1",
		"TOOLCRIB_SECRET_PAIR":         "crib:s3cr3t-pair", "TOOLCRIB_SECRET_PAIR_HOSTS": "127.0.0.1",
		"TOOLCRIB_SECRET_UNBOUND":       "crib:s3cr3t-unbound",
		"TOOLCRIB_SECRET_ACCOUNT":       `{"username": "ada", "password": "lovelace-1815"}`,
		"TOOLCRIB_SECRET_ACCOUNT_HOSTS": "127.0.0.1",
		"TOOLCRIB_SECRET_BROKEN":        "two\nlines", "TOOLCRIB_SECRET_BROKEN_HOSTS": "127.0.0.1",
		"TOOLCRIB_SECRET_ELSEWHERE": "s3cr3t-else", "TOOLCRIB_SECRET_ELSEWHERE_HOSTS": "api.example.com",
	}
	b.executor = httpcall.New(gate, secret.Env{
		Lookup: func(name string) (string, bool) { v, ok := vars[name]; return v, ok },
	})
	return b
}

// call makes a call of a tool whose configuration may say $URL for the upstream.
func (b *bundle) call(config, args string) *tool.Call {
	return &tool.Call{
		CallIdentity: tool.CallIdentity{
			CallID:    "call_1",
			EffectID:  "effect-1",
			Principal: tool.Principal{Tenant: "t1"},
		},
		Attempt: 1,
		Egress:  tool.EgressWrite,
		Version: &tool.Version{Slug: "orders", Number: "1.0.0", Snapshot: tool.Snapshot{Definition: tool.Definition{
			Implementation: tool.HTTP, Config: json.RawMessage(strings.ReplaceAll(config, "$URL", b.url)),
		}}},
		Arguments: json.RawMessage(args),
	}
}

func ok(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"id": 12345678901234567890, "total": 1.10}`)
}

func TestRequest(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name, config, args   string
		method, target, body string
		header               map[string]string
	}{
		{
			name:   "get with leftovers in the query",
			config: `{"url": "$URL/orders"}`, args: `{"status": "open", "limit": 10, "tag": ["a", "b"], "none": null}`,
			method: "GET", target: "/orders?limit=10&status=open&tag=a&tag=b",
		},
		{
			name:   "path and query templates",
			config: `{"url": "$URL/orders/{id}/lines{?status,limit}"}`, args: `{"id": "a/b c", "status": "new"}`,
			method: "GET", target: "/orders/a%2Fb%20c/lines?status=new",
		},
		{
			name:   "member of an argument",
			config: `{"url": "$URL/users/{user.id}"}`, args: `{"user": {"id": 7}}`,
			method: "GET", target: "/users/7",
		},
		{
			name:   "reserved expansion keeps slashes",
			config: `{"url": "$URL/files/{+path}"}`, args: `{"path": "a/b.txt"}`,
			method: "GET", target: "/files/a/b.txt",
		},
		{
			name:   "body of what is left, numbers as spelled",
			config: `{"method": "POST", "url": "$URL/orders/{id}"}`,
			args:   `{"id": "o1", "amount": 1.10, "big": 12345678901234567890, "note": null}`,
			method: "POST", target: "/orders/o1", body: `{"amount":1.10,"big":12345678901234567890,"note":null}`,
			header: map[string]string{
				"Content-Type": "application/json", "Idempotency-Key": "effect-1", "User-Agent": "toolcrib",
			},
		},
		{
			name:   "body by pointers",
			config: `{"method": "put", "url": "$URL/o", "body": {"who": {"from": "/customer/name"}, "via": "agent", "gone": {"from": "/absent"}, "list": [{"from": "/n"}, {"from": "/absent"}]}}`,
			args:   `{"customer": {"name": "Ada"}, "n": 1e3}`,
			method: "PUT",
			target: "/o",
			body:   `{"who":"Ada","via":"agent","list":[1e3,null]}`,
		},
		{
			name:   "whole arguments as body",
			config: `{"method": "POST", "url": "$URL/o", "body": {"from": ""}}`, args: `{"a": [1, 2.0]}`,
			method: "POST", target: "/o", body: `{"a": [1, 2.0]}`,
		},
		{
			name:   "no body",
			config: `{"method": "POST", "url": "$URL/o", "body": null}`, args: `{"a": 1}`,
			method: "POST", target: "/o",
		},
		{
			name:   "headers and query by pointers and literals",
			config: `{"url": "$URL/o?fixed=1", "headers": {"X-Region": {"from": "/region"}, "X-App": "crib", "X-None": {"from": "/absent"}}, "query": {"q": {"from": "/text"}, "v": 2}}`,
			args:   `{"region": "eu", "text": "a b\nc", "unused": 1}`,
			method: "GET",
			target: "/o?fixed=1&q=a+b%0Ac&v=2",
			header: map[string]string{"X-Region": "eu", "X-App": "crib", "X-None": ""},
		},
		{
			name: "bearer", config: `{"url": "$URL/o", "auth": {"type": "bearer", "credentials_ref": "orders"}}`, args: `{}`,
			method: "GET", target: "/o", header: map[string]string{"Authorization": "Bearer s3cr3t-orders"},
		},
		{
			name: "basic", config: `{"url": "$URL/o", "auth": {"type": "basic", "credentials_ref": "login"}}`, args: `{}`,
			method: "GET", target: "/o", header: map[string]string{"Authorization": "Basic YWRhOmxvdmVsYWNlLTE4MTU="},
		},
		{
			name:   "key header",
			config: `{"url": "$URL/o", "auth": {"type": "header", "header": "X-Api-Key", "credentials_ref": "orders"}}`,
			args:   ``,
			method: "GET", target: "/o", header: map[string]string{"X-Api-Key": "s3cr3t-orders"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t, ok)
			res, err := b.executor.Execute(t.Context(), b.call(tt.config, tt.args))
			require.NoError(t, err)
			require.JSONEq(t, `{"id": 12345678901234567890, "total": 1.10}`, string(res.Structured))
			require.Equal(t, `{"id": 12345678901234567890, "total": 1.10}`, string(res.Structured),
				"numbers keep their spelling")
			seen := b.requests()
			require.Len(t, seen, 1)
			require.Equal(t, tt.method, seen[0].Method)
			require.Equal(t, tt.target, seen[0].Target)
			require.Equal(t, tt.body, seen[0].Body)
			for name, want := range tt.header {
				require.Equal(t, want, seen[0].Header.Get(name), name)
			}
		})
	}
}

// TestRefusedArguments proves that arguments can't leave their place: nothing
// is sent for these.
func TestRefusedArguments(t *testing.T) {
	t.Parallel()

	tests := []struct{ name, config, args, path string }{
		{"missing path variable", `{"method": "DELETE", "url": "$URL/orders/{id}"}`, `{}`, "/id"},
		{"null path variable", `{"url": "$URL/orders/{id}"}`, `{"id": null}`, "/id"},
		{"empty path variable", `{"url": "$URL/orders/{id}"}`, `{"id": ""}`, "/id"},
		{"dots", `{"url": "$URL/orders/{id}"}`, `{"id": ".."}`, ""},
		{"dots behind an escaped slash", `{"url": "$URL/orders/{id}"}`, `{"id": "a/../../admin"}`, ""},
		{"dots behind an escaped backslash", `{"url": "$URL/orders/{id}"}`, `{"id": "..\\admin"}`, ""},
		{"dots in reserved expansion", `{"url": "$URL/files/{+path}"}`, `{"path": "../../etc"}`, ""},
		{"query in reserved expansion", `{"url": "$URL/files/{+path}"}`, `{"path": "a?admin=1"}`, "/path"},
		{"line break in path", `{"url": "$URL/orders/{id}"}`, `{"id": "a\r\nX: y"}`, "/id"},
		{"line break in header", `{"url": "$URL/o", "headers": {"X-A": {"from": "/a"}}}`, `{"a": "x\r\nX-Admin: 1"}`, "/a"},
		{"object in header", `{"url": "$URL/o", "headers": {"X-A": {"from": "/a"}}}`, `{"a": {}}`, "/a"},
		{"object in path", `{"url": "$URL/{a}"}`, `{"a": {"b": [1]}}`, "/a/b"},
		{"not an object", `{"url": "$URL/o"}`, `[1]`, ""},
		{"truncated", `{"url": "$URL/o"}`, `{"a": 1`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t, ok)
			_, err := b.executor.Execute(t.Context(), b.call(tt.config, tt.args))
			var e *tool.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, tool.Invalid, e.Kind)
			require.Equal(t, tt.path, e.Path)
			require.False(t, e.Sent)
			require.Empty(t, b.requests())
		})
	}
}

// TestCredentialStaysHome proves that a credential bound to another host is
// never sent, nor one that would break its header.
func TestCredentialStaysHome(t *testing.T) {
	t.Parallel()

	for _, ref := range []string{"elsewhere", "absent", "broken"} {
		b := setup(t, ok)
		_, err := b.executor.Execute(
			t.Context(), b.call(`{"url": "$URL/o", "auth": {"type": "bearer", "credentials_ref": "`+ref+`"}}`, `{}`),
		)
		require.Equal(t, tool.Denied, tool.KindOf(err))
		require.False(t, tool.AsError(err).Sent)
		require.Empty(t, b.requests())
	}
}

// TestPasswordAloneIsRedacted proves that of "user:password" the password is a
// secret of its own.
func TestPasswordAloneIsRedacted(t *testing.T) {
	t.Parallel()

	b := setup(t, func(w http.ResponseWriter, r *http.Request) {
		_, password, _ := r.BasicAuth()
		http.Error(w, "wrong password "+password, http.StatusBadRequest)
	})
	e := middleware.Redact()(b.executor)
	res, err := e.Execute(
		t.Context(), b.call(`{"url": "$URL/o", "auth": {"type": "basic", "credentials_ref": "login"}}`, `{}`),
	)
	require.NoError(t, err)
	require.Equal(t, "the upstream answered 400 Bad Request: wrong password [redacted]", res.Content[0].Text)
}

// TestConnections proves that only calls that may be repeated share them: a
// shared one may turn out to be closed, and the request go out again.
func TestConnections(t *testing.T) {
	t.Parallel()

	b := setup(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.RemoteAddr) })
	from := func(x tool.Execution) string {
		call := b.call(`{"url": "$URL/o", "answer": "text"}`, `{}`)
		call.Version.Snapshot.Execution = x
		res, err := b.executor.Execute(t.Context(), call)
		require.NoError(t, err)
		return res.Content[0].Text
	}
	require.Equal(t, from(tool.Execution{Pure: true}), from(tool.Execution{Idempotent: true}))
	first := from(tool.Execution{})
	require.NotEqual(t, first, from(tool.Execution{}))
}
