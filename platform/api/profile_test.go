package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/api"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// Profiles are changed under If-Match, and what would ask for less is refused at its path.
func TestProfiles(t *testing.T) {
	t.Parallel()
	b := setup(t)
	made := b.do(t, http.MethodPost, "/v1/profiles",
		`{"name":"careful","requires_approval":true,"rate":{"calls":10,"per":"minute"}}`)
	require.Equal(t, http.StatusCreated, made.status, string(made.body))
	require.Equal(t, "/v1/profiles/careful", made.header.Get("Location"))
	first := made.header.Get("ETag")
	require.Equal(t, http.StatusConflict, b.do(t, http.MethodPost, "/v1/profiles", `{"name":"careful"}`).status)
	change := func(match string) answer {
		return b.send(t, http.MethodPut, "/v1/profiles/careful", `{"denied":true}`, map[string]string{"If-Match": match})
	}
	second := change(first)
	require.Equal(t, http.StatusOK, second.status, string(second.body))
	require.Nil(t, as[v1.Profile](t, second, http.StatusOK).Rate, "it is replaced as a whole")
	require.Equal(t, http.StatusPreconditionFailed, change(first).status)
	stale := b.send(t, http.MethodDelete, "/v1/profiles/careful", "", map[string]string{"If-Match": first})
	require.Equal(t, http.StatusPreconditionFailed, stale.status)

	for path, body := range map[string]string{
		"/permission_policy": `{"permission_policy":"auto"}`,
		"/egress_class":      `{"egress_class":"none"}`,
		"/rate/calls":        `{"rate":{"calls":20000,"per":"second"}}`,
	} {
		refused := b.do(t, http.MethodPut, "/v1/profiles/careful", body)
		require.Equal(t, http.StatusUnprocessableEntity, refused.status, body)
		require.Contains(t, string(refused.body), path)
	}

	say := as[v1.SavedTool](t, b.do(t, http.MethodPost, "/v1/tools", draft("say")), http.StatusCreated)
	set := as[v1.Assignment](t, b.do(t, http.MethodPost, "/v1/assignments", `{"tool":"say","profile":"careful"}`),
		http.StatusCreated)
	require.Equal(t, []string{say.ID, "", "careful"}, []string{set.ToolID, set.Agent, set.Profile})
	require.Equal(t, http.StatusConflict, b.do(t, http.MethodDelete, "/v1/profiles/careful", "").status)
	explained := as[v1.Explanation](t, b.do(t, http.MethodGet, "/v1/tools/say/explain?mode=debug", ""), http.StatusOK)
	last := explained.Steps[len(explained.Steps)-1]
	require.Equal(t, "profile", last.Rule)
	require.False(t, last.Passed)
	require.Contains(t, last.Saw, `profile "careful": it denies calls of the tool`)
	require.Contains(t, explained.Detail, "careful")

	page := as[v1.Page[v1.Assignment]](t, b.do(t, http.MethodGet, "/v1/assignments?profile=careful", ""), http.StatusOK)
	require.Len(t, page.Items, 1)
	reader := b.Key(t, b.tenant, api.ProfilesRead, api.AssignmentsRead, api.ToolsRead)
	for _, path := range []string{"/v1/profiles", "/v1/profiles/careful", "/v1/assignments/" + set.ID} {
		require.Equal(t, http.StatusOK, b.do(t, http.MethodGet, path, "", reader).status, path)
		if path != "/v1/profiles" {
			require.Equal(t, http.StatusForbidden, b.do(t, http.MethodDelete, path, "", reader).status, path)
		}
	}
	require.Equal(t, http.StatusOK, b.do(t, http.MethodDelete, "/v1/assignments/"+set.ID, "").status)
	require.Equal(t, http.StatusOK, b.do(t, http.MethodDelete, "/v1/profiles/careful", "").status)
}
