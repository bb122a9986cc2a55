package httpcall_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors/middleware"
	"github.com/toolcrib/toolcrib/tool"
)

func TestCredentials(t *testing.T) {
	t.Parallel()

	for _, tt := range []struct{ name, config, target, cookie, authorization string }{
		{
			"query",
			`{"url": "$URL/o?a=1", "query": {"b": 2}, "auth": {"type": "query", "name": "api key", "credentials_ref": "orders"}}`,
			"/o?a=1&b=2&api+key=s3cr3t-orders", "", "",
		},
		{
			"query in place of an argument",
			`{"url": "$URL/o", "query": {"key": {"from": "/key"}}, "auth": {"type": "query", "name": "key", "credentials_ref": "orders"}}`,
			"/o?key=s3cr3t-orders", "", "",
		},
		{
			"cookie",
			`{"url": "$URL/o", "query": {"a": 1}, "cookies": {"b": "2"}, "auth": {"type": "cookie", "name": "session", "credentials_ref": "orders"}}`,
			"/o?a=1", "b=2; session=s3cr3t-orders", "",
		},
		{
			"basic of an object",
			`{"url": "$URL/o", "query": {"a": 1}, "auth": {"type": "basic", "credentials_ref": "account"}}`, "/o?a=1", "",
			"Basic YWRhOmxvdmVsYWNlLTE4MTU=",
		},
		{
			"basic without a password",
			`{"url": "$URL/o", "query": {"a": 1}, "auth": {"type": "basic", "credentials_ref": "orders"}}`, "/o?a=1", "",
			"Basic czNjcjN0LW9yZGVycw==",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t, func(w http.ResponseWriter, r *http.Request) {
				_, password, _ := r.BasicAuth()
				_, _ = io.WriteString(w, "you sent "+r.RequestURI+r.Header.Get("Cookie")+r.Header.Get("Authorization")+password)
			})
			call := b.call(tt.config, `{"key": "mine"}`)
			res, err := middleware.Redact()(b.executor).Execute(t.Context(), call)
			require.NoError(t, err)
			require.NotContains(t, res.Content[0].Text, "s3cr3t")
			require.NotContains(t, res.Content[0].Text, "lovelace")
			seen := b.requests()[0]
			require.Equal(t, tt.target, seen.Target)
			require.Equal(t, tt.cookie, seen.Header.Get("Cookie"))
			require.Equal(t, tt.authorization, seen.Header.Get("Authorization"))
		})
	}
	for _, config := range []string{
		`{"url": "$URL/o", "auth": {"type": "query", "name": "key", "credentials_ref": "elsewhere"}}`,
		`{"url": "$URL/o", "auth": {"type": "cookie", "name": "key", "credentials_ref": "elsewhere"}}`,
		`{"url": "$URL/o", "auth": {"type": "cookie", "name": "key", "credentials_ref": "broken"}}`,
		`{"url": "$URL/o", "auth": {"type": "basic", "credentials_ref": "broken"}}`,
	} {
		b := setup(t, ok)
		_, err := b.executor.Execute(t.Context(), b.call(config, `{}`))
		require.Equal(t, tool.Denied, tool.KindOf(err), config)
		require.Empty(t, b.requests())
	}
}
