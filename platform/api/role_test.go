package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/access"
	"github.com/toolcrib/toolcrib/audit"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// makeKey creates a key as another one, and returns its text.
func (b *bundle) makeKey(t *testing.T, body string, by ...string) string {
	t.Helper()
	got := b.do(t, http.MethodPost, "/v1/keys", body, by...)
	require.Equal(t, http.StatusCreated, got.status, string(got.body))
	var made v1.CreatedKey
	got.into(t, &made)
	return made.Secret
}

// A role changes what keys may do from their next request on.
func TestRoles(t *testing.T) {
	t.Parallel()
	b := setup(t)
	got := b.do(t, http.MethodPost, "/v1/roles", `{"name":"support","permissions":["runs.read","runs.read"]}`)
	require.Equal(t, http.StatusCreated, got.status, string(got.body))
	var role v1.Role
	got.into(t, &role)
	require.Equal(t, []string{"runs.read"}, role.Permissions)
	require.Equal(t, int64(1), role.Revision)
	tag := got.header.Get("ETag")
	require.NotEmpty(t, tag)

	key := b.makeKey(t, `{"name":"desk","roles":["support","support"],"owner":"team-desk"}`)
	may := func(path string) int { return b.do(t, http.MethodGet, path, "", key).status }
	require.Equal(t, http.StatusOK, may("/v1/runs"))
	require.Equal(t, http.StatusForbidden, may("/v1/tools"))
	changed := b.send(t, http.MethodPut, "/v1/roles/support", `{"permissions":["tools.read"]}`, map[string]string{"If-Match": tag})
	require.Equal(t, http.StatusOK, changed.status, string(changed.body))
	require.Equal(t, http.StatusForbidden, may("/v1/runs"))
	require.Equal(t, http.StatusOK, may("/v1/tools"))
	stale := b.send(t, http.MethodPut, "/v1/roles/support", `{"permissions":["runs.read"]}`, map[string]string{"If-Match": tag})
	require.Equal(t, http.StatusPreconditionFailed, stale.status)
	require.Equal(t, http.StatusNotModified, b.send(t, http.MethodGet, "/v1/roles/support", "",
		map[string]string{"If-None-Match": changed.header.Get("ETag")}).status)

	var list v1.Page[v1.Role]
	b.do(t, http.MethodGet, "/v1/roles", "").into(t, &list)
	require.Len(t, list.Items, len(access.Builtin())+1)
	require.Equal(t, "support", list.Items[len(access.Builtin())].Name)

	inUse := b.do(t, http.MethodDelete, "/v1/roles/support", "")
	require.Equal(t, http.StatusConflict, inUse.status)
	require.Contains(t, inUse.problem(t).Detail, "desk")
	for _, builtin := range access.Builtin() {
		path := "/v1/roles/" + builtin.Name
		require.Equal(t, http.StatusOK, b.do(t, http.MethodGet, path, "").status)
		require.Equal(t, http.StatusConflict, b.do(t, http.MethodPut, path, `{"permissions":["runs.read"]}`).status)
		require.Equal(t, http.StatusConflict, b.do(t, http.MethodDelete, path, "").status)
		taken := b.do(t, http.MethodPost, "/v1/roles", `{"name":"`+builtin.Name+`","permissions":["runs.read"]}`)
		require.Equal(t, http.StatusUnprocessableEntity, taken.status)
	}
	unknown := b.do(t, http.MethodPost, "/v1/keys", `{"name":"x","roles":["viewer","cooks"]}`)
	require.Equal(t, http.StatusUnprocessableEntity, unknown.status)
	require.Equal(t, "/roles/1", unknown.problem(t).Path)

	entries, err := b.Store.ListAudit(t.Context(), b.tenant, audit.Query{Limit: 20})
	require.NoError(t, err)
	var said []string
	for _, e := range entries {
		if e.Object.Kind == "role" {
			said = append(said, string(e.Action)+" "+e.Object.Name)
		}
	}
	require.Equal(t, []string{"role.changed support", "role.created support"}, said)
}

// Who makes keys and roles gives away nothing that they do not hold, by whatever way.
func TestNoStrongerKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	maker := b.Key(t, b.tenant, "keys.write", "roles.write", "runs.read", "approvals.read")
	for what, c := range map[string]struct{ method, path, body, at string }{
		"a built-in role": {http.MethodPost, "/v1/keys", `{"name":"x","roles":["approver"]}`, "/roles/0"},
		"admin":           {http.MethodPost, "/v1/keys", `{"name":"x","roles":["admin"]}`, "/roles/0"},
		"a permission":    {http.MethodPost, "/v1/keys", `{"name":"x","permissions":["runs.read","runs.write"]}`, "/permissions/1"},
		"a role of one's own": {
			http.MethodPost, "/v1/roles", `{"name":"mine","permissions":["runs.read","approvals.decide"]}`, "/permissions/1",
		},
		"everything": {http.MethodPost, "/v1/roles", `{"name":"mine","permissions":["*"]}`, "/permissions/0"},
	} {
		got := b.do(t, c.method, c.path, c.body, maker)
		require.Equal(t, http.StatusForbidden, got.status, what+string(got.body))
		require.Equal(t, c.at, got.problem(t).Path, what)
	}

	// A key that one has already must not be made stronger by its role.
	made := b.do(t, http.MethodPost, "/v1/roles", `{"name":"mine","permissions":["runs.read"]}`, maker)
	require.Equal(t, http.StatusCreated, made.status, string(made.body))
	key := b.makeKey(t, `{"name":"x","roles":["mine"]}`, maker)
	wider := b.do(t, http.MethodPut, "/v1/roles/mine", `{"permissions":["runs.read","tools.read"]}`, maker)
	require.Equal(t, http.StatusForbidden, wider.status)
	require.Equal(t, "/permissions/1", wider.problem(t).Path)
	require.Equal(t, http.StatusForbidden, b.do(t, http.MethodGet, "/v1/tools", "", key).status)
	require.Equal(t, http.StatusOK, b.do(t, http.MethodPut, "/v1/roles/mine",
		`{"permissions":["runs.read","tools.read"]}`).status, "who holds it may")
	kept := b.do(t, http.MethodPut, "/v1/roles/mine", `{"permissions":["tools.read","approvals.read"]}`, maker)
	require.Equal(t, http.StatusOK, kept.status, "what a role permits already may stay, and what one holds be added")
	own := b.do(t, http.MethodPost, "/v1/keys", `{"name":"y","roles":["mine"]}`, maker)
	require.Equal(t, http.StatusForbidden, own.status, "the role permits more now than its maker may")

	refusals, err := b.Store.ListAudit(t.Context(), b.tenant, audit.Query{Limit: 50, Outcome: audit.Refused})
	require.NoError(t, err)
	var said []string
	for _, e := range refusals {
		said = append(said, string(e.Action))
	}
	slices.Sort(said) // Those that are repeated within a while are one; rows of one moment have no order.
	require.Equal(t, []string{"key.created", "role.changed", "role.created"}, slices.Compact(said))
}

// A key sends no more than its maker may.
func TestNoKeyThatSendsMore(t *testing.T) {
	t.Parallel()
	b := setup(t)
	maker := b.makeKey(t, `{"name":"maker","permissions":["keys.write","keys.read","tools.read"],
		"limits":{"requests_per_second":100,"burst":50,"bytes_per_minute":1000000}}`)
	for field, limits := range map[string]string{
		"requests_per_second": `{"requests_per_second":101}`,
		"burst":               `{"requests_per_second":100,"burst":51}`,
		"bytes_per_minute":    `{"bytes_per_minute":1000001}`,
	} {
		got := b.do(t, http.MethodPost, "/v1/keys", fmt.Sprintf(`{"name":"x","permissions":["tools.read"],"limits":%s}`, limits), maker)
		require.Equal(t, http.StatusForbidden, got.status, field)
		require.Equal(t, "/limits/"+field, got.problem(t).Path)
	}
	got := b.do(t, http.MethodPost, "/v1/keys", `{"name":"x","permissions":["tools.read"]}`, maker)
	require.Equal(t, http.StatusCreated, got.status, string(got.body))
	var child v1.CreatedKey
	got.into(t, &child)
	require.Equal(t, &v1.KeyLimits{RequestsPerSecond: 100, Burst: 50, BytesPerMinute: 1000000}, child.Limits,
		"a limit that is not named is that of the maker")
	alone := b.do(t, http.MethodPost, "/v1/keys", `{"name":"x","permissions":["tools.read"],"limits":{"burst":5}}`)
	require.Equal(t, "/limits/burst", alone.problem(t).Path)
}

// Service accounts are found by their owner, and keys that nothing uses by their time.
func TestKeysThatNothingUses(t *testing.T) {
	t.Parallel()
	b := setup(t)
	used := b.makeKey(t, `{"name":"used","permissions":["tools.read"],"owner":"team-desk"}`)
	b.makeKey(t, `{"name":"idle","permissions":["tools.read"],"owner":"team-desk"}`)
	b.makeKey(t, `{"name":"young","permissions":["tools.read"]}`)
	b.makeKey(t, `{"name":"ended","permissions":["tools.read"],"expires_at":"2099-01-01T00:00:00Z"}`)
	require.Equal(t, http.StatusOK, b.do(t, http.MethodGet, "/v1/tools", "", used).status)
	_, err := b.Conn(t).Exec(t.Context(), `update api_keys set created_at = now() - interval '40 days' where name <> 'young'`)
	require.NoError(t, err)
	_, err = b.Conn(t).Exec(t.Context(), `update api_keys set expires_at = now() - interval '1 day' where name = 'ended'`)
	require.NoError(t, err)
	named := func(query string) (names []string) {
		var list v1.Page[v1.Key]
		got := b.do(t, http.MethodGet, "/v1/keys"+query, "")
		require.Equal(t, http.StatusOK, got.status, string(got.body))
		got.into(t, &list)
		for _, k := range list.Items {
			names = append(names, k.Name)
		}
		return names
	}
	require.Equal(t, []string{"idle"}, named("?unused_for_s=2592000"))
	require.Equal(t, []string{"used", "idle"}, named("?owner=team-desk"))
	require.Empty(t, named("?unused_for_s=5184000"))
	require.Len(t, named(""), 5)
}
