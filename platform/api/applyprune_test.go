package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

// applied applies definitions to a set, and returns the answer, with what failed in it.
func (b *bundle) applied(t *testing.T, in v1.Apply, definitions ...string) v1.Applied {
	t.Helper()
	for _, d := range definitions {
		in.Definitions = append(in.Definitions, json.RawMessage(d))
	}
	raw, err := json.Marshal(in)
	require.NoError(t, err)
	var out v1.Applied
	answer := b.do(t, http.MethodPost, "/v1/apply", string(raw))
	require.Equal(t, http.StatusOK, answer.status, "%s", answer.body)
	answer.into(t, &out)
	return out
}

func (b *bundle) status(t *testing.T, kind, slug string) (status string, archived bool) {
	t.Helper()
	var out struct {
		Status     string  `json:"status"`
		ArchivedAt *string `json:"archived_at"`
	}
	b.do(t, http.MethodGet, "/v1/"+kind+"/"+slug, "").into(t, &out)
	return out.Status, out.ArchivedAt != nil
}

// What a set of definitions no longer has is listed, and with prune taken away, users first; what others use
// stays. A definition that comes back takes its object back.
func TestPrune(t *testing.T) {
	t.Parallel()
	b := setup(t)
	shop := v1.Apply{Set: "shop"}
	profile := `{"kind":"profile","name":"careful","requires_approval":true}`
	made := b.applied(t, shop, desk("desk", `["say"]`), echo("say"), echo("shout"), profile)
	require.Zero(t, made.Failed, "%+v", made.Items)
	require.Empty(t, made.Gone)
	b.applied(t, v1.Apply{Set: "other"}, desk("other", `["shout"]`))
	b.applied(t, v1.Apply{}, echo("loose"))

	left := b.applied(t, shop, profile)
	require.Len(t, left.Gone, 3)
	for _, g := range left.Gone {
		require.Equal(t, v1.Left, g.Action)
	}
	shop.Prune, shop.DryRun = true, true
	would := b.applied(t, shop, profile)
	require.Equal(t, v1.Disabled, would.Gone[0].Action)
	status, _ := b.status(t, "agents", "desk")
	require.Equal(t, "published", status, "a dry run changes nothing")

	shop.DryRun = false
	pruned := b.applied(t, shop, profile)
	require.Equal(t, 1, pruned.Failed)
	actions := make(map[string]v1.GoneItem)
	for _, g := range pruned.Gone {
		actions[g.Slug] = g
	}
	require.Equal(t, v1.Disabled, actions["desk"].Action)
	require.Equal(t, v1.Archived, actions["say"].Action, "its only user went first")
	require.Equal(t, v1.Kept, actions["shout"].Action)
	require.Equal(t, tool.Conflict, actions["shout"].Error.Code)
	require.Contains(t, actions["shout"].Error.Detail, "other")
	status, _ = b.status(t, "agents", "desk")
	require.Equal(t, "disabled", status)
	_, archived := b.status(t, "tools", "say")
	require.True(t, archived)
	for _, slug := range []string{"loose", "shout"} {
		status, archived = b.status(t, "tools", slug)
		require.Equal(t, "published", status)
		require.False(t, archived)
	}
	again := b.applied(t, shop, profile)
	require.Len(t, again.Gone, 1, "what is gone is not listed again")

	back := b.applied(t, shop, desk("desk", `["say"]`), echo("say"), echo("shout"), profile)
	require.Zero(t, back.Failed, "%+v", back.Items)
	require.Empty(t, back.Gone)
	status, _ = b.status(t, "agents", "desk")
	require.Equal(t, "published", status)
	status, archived = b.status(t, "tools", "say")
	require.Equal(t, "published", status)
	require.False(t, archived)
}

// A set that takes something from another one says so, and the other one touches it no longer.
func TestAnObjectBelongsToOneSet(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.applied(t, v1.Apply{Set: "one"}, echo("say"), echo("shout"))
	moved := b.applied(t, v1.Apply{Set: "two"}, echo("say"))
	require.Contains(t, strings.Join(moved.Items[0].Warnings, "\n"), `the set "one"`)
	pruned := b.applied(t, v1.Apply{Set: "one", Prune: true}, echo("shout"))
	require.Empty(t, pruned.Gone)
	status, _ := b.status(t, "tools", "say")
	require.Equal(t, "published", status)
}

// Nothing is taken away where a definition is wrong, without the name of a set, or without the permission.
func TestPruneRefuses(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.applied(t, v1.Apply{Set: "shop"}, echo("say"), desk("desk", `["say"]`))

	wrong := b.applied(t, v1.Apply{Set: "shop", Prune: true}, `{"kind":"tool","slug":"no slug"}`)
	require.Positive(t, wrong.Failed)
	require.Empty(t, wrong.Gone)

	unnamed := b.do(t, http.MethodPost, "/v1/apply", `{"prune":true,"definitions":[`+echo("shout")+`]}`)
	require.Equal(t, "/prune", unnamed.problem(t).Path)

	builder := b.Key(t, b.tenant, "tools.read", "tools.write")
	var out v1.Applied
	b.do(t, http.MethodPost, "/v1/apply", `{"set":"shop","prune":true,"definitions":[`+echo("shout")+`]}`, builder).into(t, &out)
	actions := make(map[string]v1.GoneAction)
	for _, g := range out.Gone {
		actions[g.Slug] = g.Action
	}
	require.Equal(t, map[string]v1.GoneAction{"desk": v1.Kept, "say": v1.Kept}, actions)
	status, _ := b.status(t, "agents", "desk")
	require.Equal(t, "published", status)
}

// A strict apply changes nothing where a published tool has findings.
func TestStrictApply(t *testing.T) {
	t.Parallel()
	b := setup(t)
	weak := `{"kind":"tool","slug":"do_it","description":"Does it.","publish":true,"version":"1.0.0",
		"implementation_type":"internal"}`
	strict := b.applied(t, v1.Apply{Strict: true}, weak)
	require.Equal(t, 1, strict.Failed)
	require.Contains(t, strict.Items[0].Error.Detail, "strict")
	require.Equal(t, http.StatusNotFound, b.do(t, http.MethodGet, "/v1/tools/do_it", "").status)
	require.Zero(t, b.applied(t, v1.Apply{}, weak).Failed)
}
