package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

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

// Pruning takes away what the set made, and nothing that another made later under the same name.
func TestPruneLeavesANamesake(t *testing.T) {
	t.Parallel()
	b := setup(t)
	profile := `{"kind":"profile","name":"careful","requires_approval":true}`
	b.applied(t, v1.Apply{Set: "shop"}, echo("say"), profile)
	require.Less(t, b.do(t, http.MethodDelete, "/v1/profiles/careful", "").status, 300)
	theirs := b.do(t, http.MethodPost, "/v1/profiles", `{"name":"careful","requires_approval":true}`)
	require.Equal(t, http.StatusCreated, theirs.status, "%s", theirs.body)

	pruned := b.applied(t, v1.Apply{Set: "shop", Prune: true}, echo("say"))
	require.Zero(t, pruned.Failed)
	require.Len(t, pruned.Gone, 1)
	require.Equal(t, v1.Deleted, pruned.Gone[0].Action, "it was deleted by hand")
	require.Equal(t, http.StatusOK, b.do(t, http.MethodGet, "/v1/profiles/careful", "").status)
	require.Empty(t, b.applied(t, v1.Apply{Set: "shop", Prune: true}, echo("say")).Gone)
}

// What a person disabled stays disabled, whether its set takes it away or has it again.
func TestPruneKeepsWhatIsDisabled(t *testing.T) {
	t.Parallel()
	b := setup(t)
	shop := v1.Apply{Set: "shop", Prune: true}
	program := `{"kind":"artifact","slug":"add","language":"javascript","source":"export default ({a}) => a;",
		"inputs":[{"name":"a","type":"number","required":true}]}`
	all := []string{echo("rest"), echo("say"), desk("desk", `["rest"]`), program}
	require.Zero(t, b.applied(t, shop, all...).Failed)
	for _, path := range []string{"tools/say", "agents/desk", "artifacts/add"} {
		require.Equal(t, http.StatusOK, b.do(t, http.MethodPost, "/v1/"+path+"/disable", "").status, path)
	}
	pruned := b.applied(t, shop, echo("rest"))
	require.Zero(t, pruned.Failed, "%+v", pruned.Gone)
	require.Len(t, pruned.Gone, 3)
	status, _ := b.status(t, "artifacts", "add")
	require.Equal(t, "disabled", status, "deprecated programs run")

	back := b.applied(t, shop, all...)
	for _, i := range back.Items {
		require.Equal(t, i.Slug == "say" || i.Slug == "desk", i.Error != nil, "%+v", i)
	}
	for _, kind := range []string{"tools/say", "agents/desk", "artifacts/add"} {
		at, slug, _ := strings.Cut(kind, "/")
		status, _ := b.status(t, at, slug)
		require.Equal(t, "disabled", status, kind)
	}
}

// An artifact that was deprecated with its set, and then disabled by a person, is not switched on.
func TestADisabledArtifactIsNotRevived(t *testing.T) {
	t.Parallel()
	b := setup(t)
	shop := v1.Apply{Set: "shop", Prune: true}
	program := `{"kind":"artifact","slug":"add","language":"javascript","source":"export default ({a}) => a;",
		"inputs":[{"name":"a","type":"number","required":true}]}`
	b.applied(t, shop, program, echo("rest"))
	b.applied(t, shop, echo("rest"))
	status, _ := b.status(t, "artifacts", "add")
	require.Equal(t, "deprecated", status)
	require.Equal(t, http.StatusOK, b.do(t, http.MethodPost, "/v1/artifacts/add/disable", "").status)
	require.Zero(t, b.applied(t, shop, program, echo("rest")).Failed)
	status, _ = b.status(t, "artifacts", "add")
	require.Equal(t, "disabled", status)

	require.Equal(t, http.StatusOK, b.do(t, http.MethodPost, "/v1/artifacts/add/enable", "").status)
	b.applied(t, shop, echo("rest"))
	require.Zero(t, b.applied(t, shop, program, echo("rest")).Failed)
	status, _ = b.status(t, "artifacts", "add")
	require.Equal(t, "active", status, "it is taken back")
}

// A tool of the name of one that was taken away, with another id, is not the set's to take out of the archive.
func TestANamesakeIsNotRevived(t *testing.T) {
	t.Parallel()
	b := setup(t)
	shop := v1.Apply{Set: "shop", Prune: true}
	b.applied(t, shop, echo("say"), echo("rest"))
	b.applied(t, shop, echo("rest"))
	require.Less(t, b.do(t, http.MethodDelete, "/v1/tools/say", "").status, 300)
	b.applied(t, v1.Apply{}, echo("say"))
	require.Equal(t, http.StatusOK, b.do(t, http.MethodPost, "/v1/tools/say/archive", "").status)

	back := b.applied(t, shop, echo("say"), echo("rest"))
	require.Equal(t, 1, back.Failed, "%+v", back.Items)
	_, archived := b.status(t, "tools", "say")
	require.True(t, archived)
}

// What an apply wrote belongs to its set, though others of it failed: it is taken away when it is no longer there.
func TestWhatIsWrittenBelongsToItsSet(t *testing.T) {
	t.Parallel()
	b := setup(t)
	shop := v1.Apply{Set: "shop"}
	b.applied(t, shop, echo("say"))
	conn, observer := b.Conn(t), b.Conn(t)
	tx, err := conn.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(),
		"update tool_registry set revision = revision + 1 where tenant_id = $1 and slug = 'say'", b.tenant)
	require.NoError(t, err)
	changed := strings.Replace(echo("say"), `1.0.0"`, `1.0.1"`, 1)
	done := make(chan v1.Applied, 1)
	go func() { done <- b.applied(t, shop, echo("fresh"), changed) }() //nolint:testifylint // It is awaited.
	require.Eventually(t, func() bool {
		var waiting bool
		err := observer.QueryRow(t.Context(), `select exists (select from pg_stat_activity
			where $1 = any (pg_blocking_pids(pid)))`, conn.PgConn().PID()).Scan(&waiting)
		return err == nil && waiting
	}, 30*time.Second, 5*time.Millisecond)
	require.NoError(t, tx.Commit(t.Context()))
	half := <-done
	require.Equal(t, 1, half.Failed, "%+v", half.Items)
	require.Equal(t, v1.Created, half.Items[0].Action)
	require.Empty(t, half.Gone)

	left := b.applied(t, shop, echo("say"))
	require.Len(t, left.Gone, 1)
	require.Equal(t, "fresh", left.Gone[0].Slug)
}

// What another apply took over, or applied again, while this one ran is not taken away by it.
func TestPruneBesideAnotherApply(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.applied(t, v1.Apply{Set: "shop"}, echo("say"), echo("shout"), echo("whisper"))
	conn := b.Conn(t)
	tx, err := conn.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), "select from tool_registry where tenant_id = $1 and slug = 'say' for update", b.tenant)
	require.NoError(t, err)
	changed := strings.Replace(echo("say"), "Echoes.", "Echoes what it hears.", 1)
	changed = strings.Replace(changed, "1.0.0", "1.0.1", 1)
	done := make(chan v1.Applied, 1)
	go func() { done <- b.applied(t, v1.Apply{Set: "shop", Prune: true}, changed) }() //nolint:testifylint // It is awaited.
	observer := b.Conn(t)
	require.Eventually(t, func() bool {
		var waiting bool
		err := observer.QueryRow(t.Context(), `select exists (select from pg_stat_activity
			where $1 = any (pg_blocking_pids(pid)))`, conn.PgConn().PID()).Scan(&waiting)
		return err == nil && waiting
	}, 30*time.Second, 5*time.Millisecond)
	b.applied(t, v1.Apply{Set: "other"}, echo("shout"))
	b.applied(t, v1.Apply{Set: "shop"}, echo("whisper"))
	require.NoError(t, tx.Commit(t.Context()))

	pruned := <-done
	require.Equal(t, 1, pruned.Failed, "%+v", pruned)
	require.Len(t, pruned.Gone, 1, "the other set has the other one")
	require.Equal(t, v1.Kept, pruned.Gone[0].Action)
	require.Equal(t, "whisper", pruned.Gone[0].Slug)
	require.Contains(t, pruned.Gone[0].Error.Detail, "meanwhile")
	for _, slug := range []string{"shout", "whisper"} {
		_, archived := b.status(t, "tools", slug)
		require.False(t, archived, slug)
	}
}
