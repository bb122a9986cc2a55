package api_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// Every invalid key is answered with 401, in words that do not disclose which
// tenants and keys exist.
func TestKeysThatOpenNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	expired := time.Now().Add(-time.Hour)
	_, old, err := b.Store.CreateKey(t.Context(), store.Key{
		Tenant: b.tenant, Name: "old", Permissions: []string{"*"}, ExpiresAt: &expired,
	})
	require.NoError(t, err)
	k, revoked, err := b.Store.CreateKey(t.Context(), store.Key{
		Tenant: b.tenant, Name: "gone", Permissions: []string{"*"},
	})
	require.NoError(t, err)
	_, err = b.Store.RevokeKey(t.Context(), b.tenant, k.ID)
	require.NoError(t, err)

	for name, key := range map[string]string{
		"none": "", "no key": "hello", "malformed": "tck_zzzz", "expired": old, "revoked": revoked,
		"of nobody": b.key[:len(b.key)-4] + "aaaa",
	} {
		got := b.do(t, http.MethodGet, "/v1/tools", "", key)
		require.Equal(t, http.StatusUnauthorized, got.status, name)
		p := got.problem(t)
		require.Equal(t, tool.Denied, p.Code, name)
		require.Contains(t, got.header.Get("WWW-Authenticate"), "Bearer", name)
		if key != "" {
			require.Equal(t, "the API key is not valid", p.Detail, name)
		}
	}
}

// A key is checked before its request is read.
func TestKeyComesFirst(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.Equal(t, http.StatusUnauthorized, b.do(t, http.MethodPost, "/v1/runs", `{"nonsense":`, "").status)
	reader := b.Key(t, b.tenant, "runs.read")
	require.Equal(t, http.StatusForbidden, b.do(t, http.MethodPost, "/v1/runs", `{"nonsense":`, reader).status)
}

func TestPermissions(t *testing.T) {
	t.Parallel()
	b := setup(t)
	reader := b.Key(t, b.tenant, "tools.read")
	require.Equal(t, http.StatusOK, b.do(t, http.MethodGet, "/v1/tools", "", reader).status)
	got := b.do(t, http.MethodGet, "/v1/runs", "", reader)
	require.Equal(t, http.StatusForbidden, got.status)
	require.Contains(t, got.problem(t).Detail, "runs.read")
}

// A scope takes from a key what it does not name, for tools as for endpoints.
func TestScopesNarrow(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, scoped, err := b.Store.CreateKey(t.Context(), store.Key{
		Tenant: b.tenant, Name: "scoped", Permissions: []string{"*"}, Scopes: []string{"tools.read", "keys.write"},
	})
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, b.do(t, http.MethodGet, "/v1/tools", "", scoped).status)
	require.Equal(t, http.StatusForbidden, b.do(t, http.MethodGet, "/v1/runs", "", scoped).status)

	wide := b.do(t, http.MethodPost, "/v1/keys", `{"name":"wide","permissions":["runs.write"]}`, scoped)
	require.Equal(t, http.StatusForbidden, wide.status, "a narrowed key must not make a wider one")
	require.Equal(t, "/permissions/0", wide.problem(t).Path)
}

func TestKeys(t *testing.T) {
	t.Parallel()
	b := setup(t)
	got := b.do(t, http.MethodPost, "/v1/keys", `{"name":"ci","permissions":["tools.read"]}`)
	require.Equal(t, http.StatusCreated, got.status)
	var made v1.CreatedKey
	got.into(t, &made)
	require.Equal(t, http.StatusOK, b.do(t, http.MethodGet, "/v1/tools", "", made.Secret).status)

	var list v1.Page[v1.Key]
	listed := b.do(t, http.MethodGet, "/v1/keys", "")
	listed.into(t, &list)
	require.Len(t, list.Items, 2)
	require.NotContains(t, string(listed.body), made.Secret)

	require.Equal(t, http.StatusOK, b.do(t, http.MethodPost, "/v1/keys/"+made.ID+"/revoke", "").status)
	require.Equal(t, http.StatusUnauthorized, b.do(t, http.MethodGet, "/v1/tools", "", made.Secret).status)

	past := b.do(
		t, http.MethodPost, "/v1/keys", `{"name":"ci","permissions":["tools.read"],"expires_at":"2020-01-01T00:00:00Z"}`,
	)
	require.Equal(t, "/expires_at", past.problem(t).Path)
}

// A key that ends makes no key that lasts longer.
func TestKeyCannotOutliveItsMaker(t *testing.T) {
	t.Parallel()
	b := setup(t)
	soon := time.Now().Add(time.Hour).UTC()
	_, brief, err := b.Store.CreateKey(t.Context(), store.Key{
		Tenant: b.tenant, Name: "brief", Permissions: []string{"*"}, ExpiresAt: &soon,
	})
	require.NoError(t, err)

	forever := b.do(t, http.MethodPost, "/v1/keys", `{"name":"x","permissions":["tools.read"]}`, brief)
	require.Equal(t, http.StatusForbidden, forever.status)
	require.Equal(t, "/expires_at", forever.problem(t).Path)
	later := soon.Add(time.Hour).Format(time.RFC3339)
	require.Equal(
		t, http.StatusForbidden,
		b.do(t, http.MethodPost, "/v1/keys", `{"name":"x","permissions":["tools.read"],"expires_at":"`+later+`"}`,
			brief).status,
	)
	sooner := soon.Add(-time.Minute).Format(time.RFC3339)
	require.Equal(
		t, http.StatusCreated,
		b.do(t, http.MethodPost, "/v1/keys", `{"name":"x","permissions":["tools.read"],"expires_at":"`+sooner+`"}`,
			brief).status,
	)
}
