package modeltest

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/platform/models/remote"
	"github.com/toolcrib/toolcrib/tool"
)

func contains(s, part string) bool { return strings.Contains(s, part) }

// Resolve implements [secret.Resolver].
func (v *vault) Resolve(_ context.Context, tenant tool.TenantID, ref string) (secret.Value, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if tenant == "broken" {
		return secret.Value{}, &tool.Error{Kind: tool.Unavailable, Op: "vault", Msg: "the vault is closed"}
	}
	if key, ok := v.keys[string(tenant)]; ok && ref == "model-testing" {
		return key, nil
	}
	return secret.Value{}, &tool.Error{Kind: tool.NotFound, Op: "vault", Msg: "no such credential"}
}

// keys: whose key is sent, and where to.
func (p Provider) keys(t *testing.T) {
	t.Parallel()
	t.Run("OwnBeforeTheOperators", p.ownKey)
	t.Run("Missing", p.missingKey)
	t.Run("Unusable", p.unusableKey)
	t.Run("Redirect", p.redirect)
	t.Run("BoundElsewhere", p.boundElsewhere)
	t.Run("BaseURL", p.baseURL)
}

// A tenant's own key comes first, is read each time, and is no other's.
func (p Provider) ownKey(t *testing.T) {
	t.Parallel()

	server := Serve(t, Answer(Load(t, "text").Whole))
	v := &vault{keys: make(map[string]secret.Value)}
	m := p.open(t, server.URL, func(c *remote.Config) { c.Keys.Secrets = v })
	ask := func(tenant tool.TenantID) string {
		req := simple()
		req.Tenant = tenant
		_, err := m.Generate(t.Context(), req)
		require.NoError(t, err)
		all := server.Requests()
		return p.Key(all[len(all)-1])
	}
	require.Equal(t, theKey, ask("a"))
	v.set("a", "key-of-a")
	require.Equal(t, "key-of-a", ask("a"))
	require.Equal(t, theKey, ask("b"))
	v.set("a", "rotated-key-of-a")
	require.Equal(t, "rotated-key-of-a", ask("a"))

	req := simple()
	req.Tenant = "broken"
	_, err := m.Generate(t.Context(), req)
	require.Equal(t, tool.Unavailable, tool.KindOf(err), "no other key answers for a vault that is closed")
}

func (p Provider) missingKey(t *testing.T) {
	t.Parallel()

	server := Serve(t, Answer(Load(t, "text").Whole))
	none := func(c *remote.Config) { c.Keys.Lookup = variables(nil) }
	_, err := p.open(t, server.URL, none).Generate(t.Context(), simple())
	require.Equal(t, tool.Denied, tool.KindOf(err))
	require.ErrorContains(t, err, "set TESTING_API_KEY")
	require.Empty(t, server.Requests())

	_, err = p.open(t, server.URL, none, func(c *remote.Config) { c.Keys.Optional = true }).Generate(t.Context(), simple())
	require.NoError(t, err)
	require.Empty(t, p.Key(server.One(t)))
}

func (p Provider) unusableKey(t *testing.T) {
	t.Parallel()

	m := p.open(t, "http://127.0.0.1:1", func(c *remote.Config) {
		c.Keys.Lookup = variables(map[string]string{"TESTING_API_KEY": "two\nlines"})
	})
	_, err := m.Generate(t.Context(), simple())
	require.Equal(t, tool.Denied, tool.KindOf(err))
	require.NotContains(t, err.Error(), "two")
}

// A key follows a redirect to no other host, and nothing of the request does.
func (p Provider) redirect(t *testing.T) {
	t.Parallel()

	other := Serve(t, Answer(Load(t, "text").Whole))
	for _, status := range []int{http.StatusFound, http.StatusTemporaryRedirect} {
		server := Serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL+r.URL.Path, status) })
		_, err := p.open(t, server.URL).Generate(t.Context(), simple())
		require.Error(t, err)
		require.NotContains(t, err.Error(), theKey)
	}
	require.Empty(t, other.Requests())
}

// A key that is bound to other hosts stays away from this one.
func (p Provider) boundElsewhere(t *testing.T) {
	t.Parallel()

	server := Serve(t, Answer(Load(t, "text").Whole))
	v := &vault{keys: make(map[string]secret.Value)}
	v.set("tenant-1", "key-for-elsewhere", "models.example.com")
	_, err := p.open(t, server.URL, func(c *remote.Config) { c.Keys.Secrets = v }).Generate(t.Context(), simple())
	require.Equal(t, tool.Denied, tool.KindOf(err))
	require.Empty(t, server.Requests())
}

// A malformed URL is refused when the worker starts, and is not repeated in the
// error.
func (p Provider) baseURL(t *testing.T) {
	t.Parallel()

	for _, bad := range []string{
		"ftp://models.example.com", "http://me:hidden@models.example.com", "http://x.example.com/?q=hidden", "://hidden",
		"models",
	} {
		_, err := p.New(remote.Config{Provider: "testing", BaseURL: bad})
		require.Equal(t, tool.Invalid, tool.KindOf(err), bad)
		require.NotContains(t, err.Error(), "hidden")
	}
	server := Serve(t, Answer(Load(t, "text").Whole))
	u, err := url.Parse(server.URL)
	require.NoError(t, err)
	u.Path = "/gateway/"
	_, err = p.open(t, u.String()).Generate(t.Context(), simple())
	require.NoError(t, err)
	require.Equal(t, "/gateway"+p.Path, server.One(t).Path)
}
