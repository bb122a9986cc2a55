package api_test

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/graph"
	"github.com/toolcrib/toolcrib/graph/flow"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/platform/api"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

// lookUp is a graph of a call and a branch; it asks the tool findOrders.
const lookUp = `{"kind":"tool","slug":"lookUp","name":"Look up","description":"Looks up.","version":"1.0.0","publish":true,
	"implementation_type":"graph","implementation_config":{"nodes":[
	{"id":"find","kind":"tool","tool":"findOrders","arguments":{"text":{"$from":"/input/text"},"password":"hush-4f1c9e7a"}},
	{"id":"judge","kind":"branch","cases":[{"when":"nodes.find.result.state == 'open'","next":"open"}],"default":"closed"},
	{"id":"open","kind":"end","output":{"state":"open"}},{"id":"closed","kind":"end","output":{"state":"closed"}}]},
	"input_schema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}}`

// A configuration is checked with all its faults at once, and nothing is written.
func TestValidateGraph(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var got v1.ValidatedGraph
	b.do(t, http.MethodPost, "/v1/graphs/validate", `{"config":{"nodes":[{"id":"a","kind":"start"}]}}`).into(t, &got)
	require.True(t, got.Sound)
	b.do(t, http.MethodPost, "/v1/graphs/validate",
		`{"config":{"nodes":[{"id":"a","kind":"mop"},{"id":"a","kind":"end","next":"z"}]}}`).into(t, &got)
	require.False(t, got.Sound)
	require.GreaterOrEqual(t, len(got.Faults), 3)
	require.Equal(t, "/nodes/0/kind", got.Faults[0].Path)
}

// A graph is listed and drawn, with the statuses of a run where the key may see runs; versions are compared.
func TestShowGraph(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply(t, echo("findOrders"), lookUp)
	b.apply(t, strings.NewReplacer(`"1.0.0"`, `"1.1.0"`, `== 'open'`, `!= 'closed'`).Replace(lookUp))
	run, err := b.Store.CreateRun(t.Context(), agent.Run{
		Tenant: b.tenant, Kind: agent.RunKindToolCall, Mode: tool.Production, WorkflowID: "w",
	}, agent.Message{})
	require.NoError(t, err)
	first, last := "e-"+b.invoke(t, run, "lookUp", "c1", ""), "e-"+b.invoke(t, run, "lookUp", "c2", "")
	for effect, status := range map[string]graph.Status{
		first: graph.Completed, last: graph.Failed, "e-of-another-graph": graph.Skipped,
	} {
		require.NoError(t, b.Store.WriteNodes(t.Context(), graph.Run{Tenant: run.Tenant, RunID: run.ID, EffectID: effect},
			[]graph.Record{{Path: "find", Node: "find", Kind: flow.Tool, Status: status, EndedAt: time.Now()}}))
	}

	var shown v1.Graph
	b.do(t, http.MethodGet, "/v1/tools/lookUp/graph?version=1.0.0", "").into(t, &shown)
	require.Len(t, shown.Steps, 4)
	require.Equal(t, "judge", shown.Steps[0].Leads)
	require.Empty(t, shown.Steps[0].Status)
	require.Contains(t, shown.SVG, "<svg")
	require.Contains(t, shown.Mermaid, "flowchart")
	b.do(t, http.MethodGet, "/v1/tools/lookUp/graph?run="+run.ID, "").into(t, &shown)
	require.Equal(t, "failed", shown.Steps[0].Status, "the last call counts, and no other graph")
	var nodes v1.Page[v1.Node]
	b.do(t, http.MethodGet, "/v1/runs/"+run.ID+"/nodes", "").into(t, &nodes)
	graphs := map[string]graph.Status{}
	for _, n := range nodes.Items {
		graphs[n.GraphEffectID] = n.Status
	}
	require.Len(t, graphs, 3)
	require.Equal(t, graph.Completed, graphs[first])

	reader := b.Key(t, b.tenant, api.ToolsRead)
	p := b.do(t, http.MethodGet, "/v1/tools/lookUp/graph?run="+run.ID, "", reader).problem(t)
	require.Equal(t, tool.Denied, p.Code)
	stranger := b.Key(t, b.Tenant(t), "*")
	for _, path := range []string{"/graph", "/graph/diff", "/graph/export"} {
		p = b.do(t, http.MethodGet, "/v1/tools/lookUp"+path, "", stranger).problem(t)
		require.Equal(t, tool.NotFound, p.Code, path)
		p = b.do(t, http.MethodGet, "/v1/tools/findOrders"+path, "").problem(t)
		require.Contains(t, p.Detail, "is no graph")
	}
	other := b.Tenant(t)
	theirs, err := b.Store.CreateRun(t.Context(), agent.Run{
		Tenant: other, Kind: agent.RunKindToolCall, Mode: tool.Production, WorkflowID: "w2",
	}, agent.Message{})
	require.NoError(t, err)
	foreign := b.do(t, http.MethodGet, "/v1/tools/lookUp/graph?run="+theirs.ID, "").problem(t)
	require.Equal(t, tool.NotFound, foreign.Code)

	var d v1.GraphDiff
	b.do(t, http.MethodGet, "/v1/tools/lookUp/graph/diff?from=1.0.0&to=1.1.0", "").into(t, &d)
	require.Len(t, d.Changes, 1)
	require.Equal(t, "judge", d.Changes[0].Node)
}

// A composition is checked, drawn, compared and exported as a graph. Statuses of steps are their calls'.
func TestShowComposition(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const twice = `{"kind":"tool","slug":"twice","name":"Twice","description":"Looks twice.","version":"1.0.0","publish":true,
		"implementation_type":"composition","implementation_config":{"steps":[
		{"id":"one","tool":"findOrders","arguments":{"text":"a"}},
		{"id":"two","tool":"findOrders","arguments":{"text":{"$from":"/steps/one/text"}}}]}}`
	b.apply(t, echo("findOrders"), twice)
	b.apply(t, strings.NewReplacer(`"1.0.0"`, `"1.1.0"`, `:"a"`, `:"b"`).Replace(twice))
	var checked v1.ValidatedGraph
	b.do(t, http.MethodPost, "/v1/graphs/validate", `{"config":{"steps":[{"id":"one"}]}}`).into(t, &checked)
	require.Equal(t, "/steps/0/tool", checked.Faults[0].Path)

	run, err := b.Store.CreateRun(t.Context(), agent.Run{
		Tenant: b.tenant, Kind: agent.RunKindToolCall, Mode: tool.Production, WorkflowID: "w",
	}, agent.Message{})
	require.NoError(t, err)
	var shown v1.Graph
	b.do(t, http.MethodGet, "/v1/tools/twice/graph?run="+run.ID, "").into(t, &shown)
	require.Len(t, shown.Steps, 2)
	require.Empty(t, shown.Steps[0].Status, "it was not called")
	whole := b.invoke(t, run, "twice", "c", "")
	b.invoke(t, run, "findOrders", "c/one", whole)
	b.do(t, http.MethodGet, "/v1/tools/twice/graph?version=1.0.0&run="+run.ID, "").into(t, &shown)
	require.Equal(t, "two", shown.Steps[0].Leads)
	require.Equal(t, "completed", shown.Steps[0].Status)
	require.Empty(t, shown.Steps[1].Status)
	require.Contains(t, shown.SVG, "<svg")

	var d v1.GraphDiff
	b.do(t, http.MethodGet, "/v1/tools/twice/graph/diff?from=1.0.0&to=1.1.0", "").into(t, &d)
	require.Len(t, d.Changes, 1)
	require.Equal(t, "one", d.Changes[0].Node)
	var exported v1.ExportedGraph
	b.do(t, http.MethodGet, "/v1/tools/twice/graph/export", "").into(t, &exported)
	require.Contains(t, string(exported.Document), "ToolNode")
}

// A graph is exported without its secrets, and what is exported makes definitions again.
func TestExportAndImportGraph(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply(t, echo("findOrders"), lookUp)
	got := b.do(t, http.MethodGet, "/v1/tools/lookUp/graph/export?version=1.0.0", "")
	require.Equal(t, http.StatusOK, got.status, string(got.body))
	require.NotContains(t, string(got.body), "hush-4f1c9e7a")
	require.NotContains(t, string(b.do(t, http.MethodGet, "/v1/tools/lookUp/graph", "").body), "hush-4f1c9e7a")
	var out v1.ExportedGraph
	got.into(t, &out)
	require.Contains(t, string(out.Document), `"BranchingNode"`)

	body, err := json.Marshal(v1.ImportGraph{Document: out.Document, Slug: "lookAgain"})
	require.NoError(t, err)
	var in v1.ImportedGraph
	b.do(t, http.MethodPost, "/v1/graphs/import", string(body)).into(t, &in)
	require.Equal(t, "lookAgain", in.Slug)
	require.Len(t, in.Definitions, 1)
	require.NotEmpty(t, in.Losses)
	said, err := json.Marshal(out.Losses)
	require.NoError(t, err)
	require.Contains(t, string(said), "values that look like secrets are not shown")
	b.apply(t, strings.ReplaceAll(string(in.Definitions[0]), tool.Redacted, "set-again"))

	yaml, err := os.ReadFile("../agentspec/testdata/messages.yaml")
	require.NoError(t, err)
	text, err := json.Marshal(string(yaml))
	require.NoError(t, err)
	b.do(t, http.MethodPost, "/v1/graphs/import", `{"document":`+string(text)+`}`).into(t, &in)
	require.Equal(t, "Survey", in.Slug)
	p := b.do(t, http.MethodPost, "/v1/graphs/import", `{"document":{"component_type":"Swarm"}}`).problem(t)
	require.Equal(t, tool.Invalid, p.Code)
	require.Contains(t, p.Detail, "Swarm")
}

// invoke records a call that was completed, and returns its id.
func (b *bundle) invoke(t *testing.T, run agent.Run, slug, callID, parent string) string {
	t.Helper()
	id := uuid.Must(uuid.NewV7()).String()
	_, err := b.Store.Settle(t.Context(), ledger.Settlement{
		Entry: ledger.Entry{
			CallIdentity: tool.CallIdentity{
				Principal: tool.Principal{Tenant: b.tenant, Subject: "user:ada"}, Mode: tool.Production, RunID: run.ID,
				CallID: callID, InvocationID: id, ParentID: parent, EffectID: "e-" + id,
			},
			VersionIdentity: tool.VersionIdentity{Slug: slug, Version: "1.0.0"},
		},
		Status: tool.StatusCompleted, Result: &tool.Result{Content: []tool.Content{tool.Text("found")}},
	})
	require.NoError(t, err)
	return id
}
