package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

// Tools are applied before the agents that use them, whatever the order, and
// applying the same definitions again changes nothing.
func TestApply(t *testing.T) {
	t.Parallel()
	b := setup(t)
	definitions := []string{desk("desk", `["say"]`), echo("say")}
	made := b.apply(t, definitions...)
	require.Len(t, made.Items, 2)
	for i, slug := range []string{"desk", "say"} {
		require.Equal(t, i, made.Items[i].Index)
		require.Equal(t, slug, made.Items[i].Slug)
		require.Equal(t, v1.Created, made.Items[i].Action)
		require.True(t, made.Items[i].Published)
	}
	for _, item := range b.apply(t, definitions...).Items {
		require.Equal(t, v1.Unchanged, item.Action)
		require.False(t, item.Published)
	}
}

// Tools that are made of agents are applied after them, and agents after their
// tools, whatever the order. A way that leads back leaves everything as it was,
// wherever it runs.
func TestApplyOrdersByWhatIsMadeOfWhat(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ask := func(slug, agent string) string {
		return `{"kind":"tool","slug":"` + slug +
			`","publish":true,"implementation_type":"agent_call","implementation_config":{"agent":"` + agent + `"}}`
	}
	made := b.apply(t, desk("lead", `["askClerk"]`), ask("askClerk", "clerk"), desk("clerk", `["say"]`), echo("say"))
	for _, item := range made.Items {
		require.True(t, item.Published, item.Slug)
	}
	for name, definitions := range map[string][]string{
		"within the batch": {
			desk("one", `["askTwo"]`), ask("askTwo", "two"), desk("two", `["askOne"]`), ask("askOne", "one"),
		},
		"over what is there":   {ask("askLead", "lead"), desk("clerk", `["askLead"]`)},
		"to what is not there": {ask("askOne", "nobody"), echo("other")},
	} {
		var out v1.Applied
		b.do(t, http.MethodPost, "/v1/apply", batch(t, false, definitions...)).into(t, &out)
		require.Positive(t, out.Failed, name)
		for _, item := range out.Items {
			require.Contains(t, []v1.Action{v1.Failed, v1.Skipped}, item.Action, "%s: %s", name, item.Slug)
		}
	}
	for _, path := range []string{"/v1/tools/askLead", "/v1/tools/askOne", "/v1/agents/one"} {
		require.Equal(t, http.StatusNotFound, b.do(t, http.MethodGet, path, "").status, path)
	}
}

// One definition that is wrong leaves everything as it was, and says where.
func TestApplyAllOrNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	bad := `{"kind":"tool","slug":"bad","implementation_type":"internal","execution":{"timeout_seconds":3}}`
	got := b.do(t, http.MethodPost, "/v1/apply", batch(t, false, echo("good"), bad, echo("good"), `"text"`))
	require.Equal(t, http.StatusOK, got.status)
	var out v1.Applied
	got.into(t, &out)
	require.Equal(t, 3, out.Failed)
	require.Equal(t, v1.Skipped, out.Items[0].Action)
	require.Equal(t, v1.Failed, out.Items[1].Action)
	require.Equal(t, "/execution/timeout_seconds", out.Items[1].Error.Path)
	require.Contains(t, out.Items[1].Error.Detail, "timeout_s")
	require.Equal(t, "/slug", out.Items[2].Error.Path)
	require.Contains(t, out.Items[2].Error.Detail, "defined twice")
	require.Equal(t, tool.Invalid, out.Items[3].Error.Code)
	require.Equal(t, http.StatusNotFound, b.do(t, http.MethodGet, "/v1/tools/good", "").status)
}

// What the database would refuse to write is refused before anything is written,
// by the dry run in the same words: names that other tools have or are given in the
// same batch, agents that are disabled, versions that the batch does not bring.
func TestApplyRefusesBeforeItWrites(t *testing.T) {
	t.Parallel()
	b := setup(t)
	named := func(slug, interaction string) string {
		return strings.Replace(echo(slug), "{", `{"interaction":`+interaction+`,`, 1)
	}
	b.apply(t, echo("sayOnce"), named("sayLoud", `{"aliases":["shout"],"former_names":{"cry":"2099-06-30"}}`),
		desk("idle", `["sayOnce"]`))
	b.do(t, http.MethodPost, "/v1/tools/sayOnce/rename", `{"slug":"sayTwice","keep_until":"2099-06-30"}`)
	b.do(t, http.MethodPost, "/v1/agents/idle/disable", "")

	for name, tt := range map[string]struct {
		definitions []string
		says        string
	}{
		"a former slug": {
			[]string{echo("sayOnce")},
			`"sayOnce" is the former name of tool "sayTwice" until 2099-06-30: choose another slug, or end the former names ` +
				`of that tool with toolcrib tool rename sayTwice sayTwice --drop-former`,
		},
		"a former name": {[]string{echo("cry")}, `"cry" is the former name of tool "sayLoud" until 2099-06-30`},
		"an alias of another tool": {
			[]string{named("sayLow", `{"aliases":["shout"]}`)}, `the name "shout" belongs to another tool already`,
		},
		"an alias of another definition": {
			[]string{named("sayLow", `{"aliases":["hush"]}`), named("sayLower", `{"aliases":["hush"]}`)},
			`the name "hush" stands in the definition of tool`,
		},
		"the slug of another definition": {
			[]string{named("sayLow", `{"aliases":["sayLower"]}`), echo("sayLower")}, `"sayLower" is the slug of another definition`,
		},
		"an agent that is disabled": {[]string{desk("idle", `["sayOnce"]`)}, `agent "idle" is disabled`},
		"a version that is not brought": {
			[]string{echo("sayLow"), desk("lead", `["sayLow@^7"]`)}, `no version of tool "sayLow" fits "^7"`,
		},
	} {
		var dry, applied v1.Applied
		all := append([]string{echo("other")}, tt.definitions...)
		b.do(t, http.MethodPost, "/v1/apply", batch(t, true, all...)).into(t, &dry)
		b.do(t, http.MethodPost, "/v1/apply", batch(t, false, all...)).into(t, &applied)
		for _, out := range []v1.Applied{dry, applied} {
			require.Positive(t, out.Failed, name)
			var said strings.Builder
			for _, item := range out.Items {
				require.Contains(t, []v1.Action{v1.Failed, v1.Skipped}, item.Action, "%s: %s", name, item.Slug)
				if item.Error != nil {
					said.WriteString(item.Error.Detail)
				}
			}
			require.Contains(t, said.String(), tt.says, name)
		}
		require.Equal(t, http.StatusNotFound, b.do(t, http.MethodGet, "/v1/tools/other", "").status, name)
	}
}

func TestApplyDryRun(t *testing.T) {
	t.Parallel()
	b := setup(t)
	got := b.do(t, http.MethodPost, "/v1/apply", batch(t, true, echo("say")))
	var out v1.Applied
	got.into(t, &out)
	require.Equal(t, v1.Created, out.Items[0].Action)
	require.Equal(t, http.StatusNotFound, b.do(t, http.MethodGet, "/v1/tools/say", "").status)
}

// A key for tools alone applies tools, and is refused an agent.
func TestApplyPermissions(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tools := b.Key(t, b.tenant, "tools.write")
	got := b.do(t, http.MethodPost, "/v1/apply", batch(t, false, echo("say")), tools)
	require.Equal(t, http.StatusOK, got.status)
	var out v1.Applied
	b.do(t, http.MethodPost, "/v1/apply", batch(t, false, desk("desk", `["say"]`)), tools).into(t, &out)
	require.Equal(t, 1, out.Failed)
	require.Equal(t, tool.Denied, out.Items[0].Error.Code)
}

func TestAgents(t *testing.T) {
	t.Parallel()
	b := setup(t)
	draft := `{"kind":"agent","slug":"later","instructions":"x","model":"scripted/x","tools":["say"]}`
	b.apply(t, echo("say"), desk("desk", `["say@^1.0"]`), draft)

	var list v1.Page[v1.Agent]
	b.do(t, http.MethodGet, "/v1/agents?limit=1", "").into(t, &list)
	require.Len(t, list.Items, 1)
	require.Equal(t, []string{"say@^1.0"}, list.Items[0].Tools)
	b.do(t, http.MethodGet, "/v1/agents?limit=1&cursor="+list.Next, "").into(t, &list)
	require.Equal(t, "later", list.Items[0].Slug)
	require.Equal(t, tool.Draft, list.Items[0].Status)

	var published v1.PublishedAgent
	b.do(t, http.MethodPost, "/v1/agents/later/publish", "").into(t, &published)
	require.Equal(t, tool.Published, published.Agent.Status)
	require.True(t, published.Version.Published)

	var versions v1.Page[v1.AgentVersion]
	b.do(t, http.MethodGet, "/v1/agents/later/versions", "").into(t, &versions)
	require.Len(t, versions.Items, 1)

	b.apply(t, `{"kind":"agent","slug":"broken","instructions":"x","model":"scripted/x","tools":["missing"]}`)
	got := b.do(t, http.MethodPost, "/v1/agents/broken/publish", "")
	p := got.problem(t)
	require.Contains(t, p.Detail, "missing")
	require.Equal(t, "/tools", p.Path)
}

// Agents are found by a part of what they are called or do, whatever its case, and by status; pages go on behind what
// is left out.
func TestAgentsAreFiltered(t *testing.T) {
	t.Parallel()
	b := setup(t)
	draft := func(slug, more string) string {
		return `{"kind":"agent","slug":"` + slug + `","instructions":"x","model":"scripted/x"` + more + `}`
	}
	b.apply(t, draft("aDesk", `,"description":"Pays Refunds"`), draft("bDesk", ""), draft("cDesk", ""),
		draft("dDesk", `,"name":"Refund desk"`), desk("eRefund", `[]`))
	slugs := func(query string) (found []string) {
		for cursor := ""; ; {
			var list v1.Page[v1.Agent]
			b.do(t, http.MethodGet, "/v1/agents?limit=2&"+query+"&cursor="+cursor, "").into(t, &list)
			for _, a := range list.Items {
				found = append(found, a.Slug)
			}
			if cursor = list.Next; cursor == "" {
				return found
			}
		}
	}
	require.Equal(t, []string{"aDesk", "dDesk", "eRefund"}, slugs("search=REFUND"))
	require.Equal(t, []string{"eRefund"}, slugs("search=refund&status=published"))
	require.Equal(t, []string{"aDesk", "bDesk", "cDesk", "dDesk"}, slugs("status=draft"))
	require.Empty(t, slugs("search=missing"))
	require.Equal(t, http.StatusUnprocessableEntity, b.do(t, http.MethodGet, "/v1/agents?status=odd", "").status)
}

// A pipeline and the tool that searches it come in one batch, in any order; the
// same again changes nothing.
func TestApplyPipelines(t *testing.T) {
	t.Parallel()
	hire, clerk := withClerk(t)
	b := setup(t, hire)
	const pipeline = `{"kind":"pipeline","slug":"handbook","description":"Ours.","chunking":{"maxChars":800}}`
	const searching = `{"kind":"tool","slug":"askHandbook","description":"Asks.","version":"1.0.0","publish":true,"implementation_type":"rag_retrieval","implementation_config":{"pipeline_id":"handbook"},"execution":{"is_pure":true}}`
	apply := func(dry bool, definitions ...string) v1.Applied {
		t.Helper()
		body := fmt.Sprintf(`{"dry_run":%t,"definitions":[%s]}`, dry, strings.Join(definitions, ","))
		return as[v1.Applied](t, b.do(t, http.MethodPost, "/v1/apply", body), http.StatusOK)
	}
	failed := apply(false, searching)
	require.Equal(t, 1, failed.Failed)
	require.Contains(t, failed.Items[0].Error.Detail, `pipeline "handbook" not found`)

	for _, dry := range []bool{true, false} {
		done := apply(dry, searching, pipeline)
		require.Zero(t, done.Failed, "%+v", done.Items)
		require.Equal(t, []v1.Action{v1.Created, v1.Created}, []v1.Action{done.Items[0].Action, done.Items[1].Action})
		require.Equal(t, "pipeline", done.Items[1].Kind)
	}
	p := as[v1.Pipeline](t, b.do(t, http.MethodGet, "/v1/pipelines/handbook", ""), http.StatusOK)
	require.Equal(t, "Ours.", p.Description)
	require.Equal(t, 800, p.Chunking.MaxChars)
	again := apply(false, searching, pipeline)
	require.Equal(t, []v1.Action{v1.Unchanged, v1.Unchanged}, []v1.Action{again.Items[0].Action, again.Items[1].Action})

	changed := apply(false, `{"kind":"pipeline","slug":"handbook","name":"Staff handbook","disabled":true}`)
	require.Equal(t, v1.Updated, changed.Items[0].Action)
	p = as[v1.Pipeline](t, b.do(t, http.MethodGet, "/v1/pipelines/handbook", ""), http.StatusOK)
	require.Equal(t, []any{
		"Staff handbook", "", true, 1600,
	}, []any{p.Name, p.Description, p.Disabled, p.Chunking.MaxChars})

	apply(false, `{"kind":"pipeline","slug":"handbook","name":"Handbook"}`)
	p = as[v1.Pipeline](t, b.do(t, http.MethodGet, "/v1/pipelines/handbook", ""), http.StatusOK)
	require.True(t, p.Disabled, "it is left as it is")
	apply(false, `{"kind":"pipeline","slug":"handbook","disabled":false}`)
	p = as[v1.Pipeline](t, b.do(t, http.MethodGet, "/v1/pipelines/handbook", ""), http.StatusOK)
	require.False(t, p.Disabled)

	// A toolset that a person has disabled stays so.
	const office = `{"kind":"toolset","slug":"office","name":"Office"%s}`
	toolset := func(more string) string {
		done := apply(false, fmt.Sprintf(office, more))
		require.Zero(t, done.Failed, "%+v", done.Items)
		return string(as[v1.Toolset](t, b.do(t, http.MethodGet, "/v1/toolsets/office", ""), http.StatusOK).Status)
	}
	require.Equal(t, "active", toolset(""))
	require.Equal(t, "disabled", toolset(`,"status":"disabled"`))
	require.Equal(t, "disabled", toolset(""))
	require.Equal(t, "disabled", toolset(`,"instructions":"Be brief."`))
	require.Equal(t, "active", toolset(`,"status":"active"`))

	// Another model is embedded by, once.
	const embedded = `{"kind":"pipeline","slug":"handbook","embedding":{"url":"https://ai.example/v1","model":"m","dimensions":3}}`
	reembedding := apply(false, embedded)
	require.Equal(t, v1.Updated, reembedding.Items[0].Action, "%+v", reembedding.Items[0].Error)
	require.Contains(t, reembedding.Items[0].Warnings[0], "being embedded by m")
	require.Len(t, clerk().Started(), 1)

	as[v1.Document](
		t, b.do(t, http.MethodPost, "/v1/pipelines/handbook/documents", newDocument(t, "leave.md", leave, nil)),
		http.StatusAccepted,
	)
	for definition, path := range map[string]string{
		`{"kind":"pipeline","slug":"handbook","language":"german"}`:                               "/language",
		`{"kind":"pipeline","slug":"9"}`:                                                          "/slug",
		`{"kind":"pipeline","slug":"x","search":"vector"}`:                                        "/embedding",
		`{"kind":"pipeline","slug":"x","chunking":{"size":5}}`:                                    "/chunking",
		`{"kind":"pipeline","slug":"x","embedding":{"url":"ftp://x","model":"m","dimensions":3}}`: "/embedding/url",
		`{"kind":"pipeline","slug":"x","serach":"vector"}`:                                        "/serach",
	} {
		refused := apply(false, definition)
		require.Equal(t, 1, refused.Failed, definition)
		require.Contains(t, refused.Items[0].Error.Path, path, definition)
	}
	for permission, want := range map[string]int{"tools.write": 1, "pipelines.write": 0} {
		body := `{"definitions":[{"kind":"pipeline","slug":"other"}]}`
		done := as[v1.Applied](t, b.do(t, http.MethodPost, "/v1/apply", body, b.Key(t, b.Tenant(t), permission)),
			http.StatusOK)
		require.Equal(t, want, done.Failed, permission)
	}
}
