package cli_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/store"
)

func start(t *testing.T, secure bool, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	if secure {
		server.StartTLS()
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	return server.URL
}

// A server that is not a Toolcrib server is distinguished from one that fails,
// and from no server at all.
func TestWrongServers(t *testing.T) {
	t.Parallel()
	page := func(status int, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/login")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, text)
		}
	}
	plain, secure := start(t, false, page(200, "<html>")), start(t, true, page(200, "{}"))
	for name, c := range map[string]struct {
		server string
		code   int
		says   []string
	}{
		"Page": {
			plain, cli.ExitFailure,
			[]string{plain + " is no Toolcrib server: it answered 200", "The server comes from --server."},
		},
		"Absent": {
			start(t, false, page(404, "not found")), cli.ExitFailure, []string{"is no Toolcrib server: it answered 404"},
		},
		"Redirect": {start(t, false, page(302, "")), cli.ExitFailure, []string{"is no Toolcrib server: it answered 302"}},
		"BadGateway": {
			start(t, false, page(502, "<html>")), cli.ExitUnavailable,
			[]string{"answered 502: the server behind it is not answering"},
		},
		"Refused": {"http://127.0.0.1:1", cli.ExitUnavailable, []string{"nothing listens there", "toolcrib dev"}},
		"NoTLS": {
			strings.Replace(plain, "http:", "https:", 1), cli.ExitUnavailable, []string{"it does not speak TLS", "Try http://"},
		},
		"Authority": {secure, cli.ExitUnavailable, []string{"its certificate is not trusted", "SSL_CERT_FILE"}},
		"OnlyTLS": {
			strings.Replace(secure, "https:", "http:", 1), cli.ExitFailure, []string{"is no Toolcrib server: it answered 400"},
		},
		"NoURL": {"tools.example.com", cli.ExitInvalid, []string{"is no http or https URL, such as http://127.0.0.1:8080"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &shell{}
			got := s.run(t, "tool", "list", "--server", c.server, "--key", "tck_planted")
			require.Equal(t, c.code, got.code, got.err)
			for _, says := range c.says {
				require.Contains(t, got.err, says)
			}
			require.NotContains(t, got.err, "planted")
			require.NotContains(t, got.err, "upstream")
		})
	}
}

// A server below a path of a proxy is one like any other.
func TestAServerBelowAPath(t *testing.T) {
	t.Parallel()
	s := setup(t)
	to, err := url.Parse(s.vars[cli.ServerVariable])
	require.NoError(t, err)
	passes := http.StripPrefix("/a/b", httputil.NewSingleHostReverseProxy(to))
	s.vars[cli.ServerVariable] = start(t, false, func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/a/b/") {
			http.Error(w, "another site", http.StatusTeapot)
			return
		}
		passes.ServeHTTP(w, r)
	}) + "/a/b"
	for _, end := range []string{"", "/"} {
		s.vars[cli.ServerVariable] += end
		s.ok(t, "tool", "list")
		s.ok(t, "run", "list", "--json")
	}
}

// A key that is not good is refused in the same words, whatever is wrong with
// it, and the words never hold it.
func TestWrongKeys(t *testing.T) {
	t.Parallel()
	s := setup(t)
	good := s.vars[cli.KeyVariable]
	tenant := s.Tenant(t)
	past := time.Now().Add(-time.Hour)
	expired, expiredSecret, err := s.Store.CreateKey(t.Context(), store.Key{
		Tenant: tenant, Name: "expired", Permissions: []string{"*"}, ExpiresAt: &past,
	})
	require.NoError(t, err)
	require.NotEmpty(t, expired.ID)
	revoked, revokedSecret, err := s.Store.CreateKey(t.Context(), store.Key{
		Tenant: tenant, Name: "revoked", Permissions: []string{"*"},
	})
	require.NoError(t, err)
	_, err = s.Store.RevokeKey(t.Context(), tenant, revoked.ID)
	require.NoError(t, err)

	for name, key := range map[string]string{
		"Expired": expiredSecret, "Revoked": revokedSecret, "Mistyped": good[:len(good)-4] + "aaaa", "Short": "tck_wrong",
	} {
		got := s.run(t, "tool", "list", "--key", key)
		require.Equal(t, cli.ExitDenied, got.code, name)
		require.Contains(t, got.err, "denied: the API key is not valid\n", name)
		require.Contains(t, got.err, "The key comes from --key. It may be mistyped, expired, revoked, or for another server",
			name)
		require.NotContains(t, got.err, key, name)
	}
	got := s.run(t, "tool", "list", "--key", "hunter2")
	require.Equal(t, cli.ExitDenied, got.code)
	require.Contains(t, got.err, "does not look like one: keys begin with tck_")
	require.NotContains(t, got.err, "hunter2")
	got = s.run(t, "tool", "list", "--key", "tck_with space")
	require.Equal(t, cli.ExitInvalid, got.code)
	require.NotContains(t, got.err, "space\"")
	s.vars[cli.KeyVariable] = ""
	require.Contains(t, s.run(t, "tool", "list").err, "Say who you are with --key")
}

// With another tenant's key what is there looks like what is not.
func TestForeignKey(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.ok(
		t, "apply", "-f",
		s.write(
			t, "t.yaml",
			"slug: secretTool\nimplementation_type: internal\nversion: 1.0.0\npublish: true\n---\nkind: agent\nslug: "+
				"secretDesk\nmodel: scripted/x\n",
		),
	)
	s.vars[cli.KeyVariable] = s.Key(t, s.Tenant(t), "*")
	for _, c := range [][2][]string{
		{{"tool", "show", "secretTool"}, {"tool", "show", "absentTool"}},
		{{"tool", "diff", "secretTool"}, {"tool", "diff", "absentTool"}},
		{{"tool", "call", "secretTool", "--arg", "a=b"}, {"tool", "call", "absentTool", "--arg", "a=b"}},
		{{"tool", "versions", "secretTool"}, {"tool", "versions", "absentTool"}},
		{{"agent", "show", "secretDesk"}, {"agent", "show", "absentDesk"}},
		{{"run", "start", "secretDesk", "-i", "x"}, {"run", "start", "absentDesk", "-i", "x"}},
	} {
		theirs, none := s.run(t, c[0]...), s.run(t, c[1]...)
		require.Equal(t, cli.ExitNotFound, theirs.code, c[0])
		same := strings.NewReplacer("secretTool", "X", "absentTool", "X", "secretDesk", "X", "absentDesk", "X")
		require.Equal(t, same.Replace(none.err), same.Replace(theirs.err), c[0])
	}
	require.NotContains(t, s.run(t, "tool", "show", "secretTol").err, "secretTool")
	require.Contains(t, s.run(t, "run", "start", "secretDesk", "-i", "x").err, "toolcrib agent list shows")
}
