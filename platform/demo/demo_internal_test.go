package demo

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/examples/support-desk/desk"
	"github.com/toolcrib/toolcrib/examples/support-desk/shop"
	"github.com/toolcrib/toolcrib/executors/function"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/models/scripted"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/tool"
)

var folder = filepath.Join("..", "..", "examples", "support-desk")

// exampleSpecs reads the example's definitions as the registry does.
func exampleSpecs(t *testing.T) (tools map[string]*definition.ToolSpec, agents []*definition.AgentSpec) {
	t.Helper()
	defs, err := definitions(folder, shop.Address, scriptedModel)
	require.NoError(t, err)
	tools = make(map[string]*definition.ToolSpec)
	for _, raw := range defs {
		d, err := definition.Parse(raw)
		require.NoError(t, err, "%s", raw)
		if d.Agent != nil {
			agents = append(agents, d.Agent)
			continue
		}
		tools[d.Tool.Slug] = d.Tool
	}
	return tools, agents
}

// The example claims no more about its tools than is so.
func TestExampleIsHonest(t *testing.T) {
	t.Parallel()

	tools, agents := exampleSpecs(t)
	require.Len(t, agents, 4)
	builtIn := []string{"datetime_utils", "json_transform", "request_input", "web_fetch"}
	for _, a := range agents {
		for _, ref := range a.Tools {
			require.True(t, tools[ref.Slug] != nil || slices.Contains(builtIn, ref.Slug), "%s is not there", ref)
		}
	}
	for slug, s := range tools {
		require.True(t, s.Publish, slug)
		if slug == "refundOrder" {
			require.Equal(t, tool.EgressWrite, s.EgressClass)
			require.False(t, s.Execution.Pure)
			continue
		}
		require.NotEqual(t, tool.EgressWrite, s.EgressClass, slug)
		outward := s.Implementation == tool.HTTP || s.Implementation == tool.MCP
		require.Equal(t, outward, s.EgressClass == tool.EgressReadOnly, slug)
		if s.Implementation == tool.HTTP {
			require.True(t, s.Execution.Pure, slug)
			require.Equal(t, parallelReads, s.Execution.Limit(), slug)
		}
	}
}

// The schemas that a model gets for a function match the function's argument
// and result types.
func TestFunctionSchemas(t *testing.T) {
	t.Parallel()

	functions := function.NewRegistry()
	require.NoError(t, desk.Define(functions, &desk.Notebook{}))
	tools, _ := exampleSpecs(t)
	for _, name := range functions.Names() {
		derived, _ := functions.Tool(name)
		require.Equal(t, members(t, derived.Definition.InputSchema), members(t, tools[name].InputSchema), name)
		require.Equal(t, members(t, derived.Definition.OutputSchema), members(t, tools[name].OutputSchema), name)
		require.Equal(t, derived.Definition.Execution.Pure, tools[name].Execution.Pure, name)
	}
}

// members lists a schema's properties, the required ones marked.
func members(t *testing.T, raw json.RawMessage) []string {
	t.Helper()
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	require.NoError(t, json.Unmarshal(raw, &s))
	names := slices.Sorted(maps.Keys(s.Properties))
	for i, name := range names {
		if slices.Contains(s.Required, name) {
			names[i] = name + "!"
		}
	}
	return names
}

// Every call of the transcripts is expected to end somehow, in its order.
func TestEveryCallIsExpected(t *testing.T) {
	t.Parallel()

	var wholly, within []string
	for _, o := range expected() {
		if id, ok := strings.CutPrefix(o.call, "clerk/"); ok {
			within = append(within, id)
		} else if !strings.Contains(o.call, "/") { // Steps are no model's calls.
			wholly = append(wholly, o.call)
		}
	}
	require.Equal(t, callsOf(t, "support-desk"), wholly)
	require.Equal(t, callsOf(t, "carrier-clerk"), within)
}

// callsOf lists the ids of the calls that a transcript makes.
func callsOf(t *testing.T, name string) []string {
	t.Helper()
	transcript, err := scripted.Load(filepath.Join(folder, "..", "transcripts", name+".yaml"))
	require.NoError(t, err)
	var made []string
	for _, turn := range transcript.Turns {
		for _, c := range turn.Call {
			made = append(made, c.ID)
		}
	}
	return made
}

// The verdict names each kind of difference.
func TestCheck(t *testing.T) {
	t.Parallel()

	want := []outcome{{call: "a", tool: "x@1.0.0", status: tool.StatusCompleted, attempts: 1}}
	good := v1.Invocation{CallID: "a", Tool: "x", Version: "1.0.0", Status: tool.StatusCompleted, Attempt: 1}
	require.NoError(t, check([]v1.Invocation{good}, want))
	require.ErrorContains(t, check(nil, want), "was not made")
	require.ErrorContains(t, check([]v1.Invocation{good, good}, want), "was not expected")
	for name, change := range map[string]func(*v1.Invocation){
		"x@1.0.1":          func(i *v1.Invocation) { i.Version = "1.0.1" },
		"failed":           func(i *v1.Invocation) { i.Status = tool.StatusFailed },
		"after 2 attempts": func(i *v1.Invocation) { i.Attempt = 2 },
		`answering "no"`:   func(i *v1.Invocation) { i.IsError = true },
		"denied":           func(i *v1.Invocation) { i.ErrorKind = tool.Denied },
		"coerced":          func(i *v1.Invocation) { i.Receipt = json.RawMessage(`[]`) },
	} {
		other := good
		change(&other)
		require.ErrorContains(t, check([]v1.Invocation{other}, want), name)
	}
}

// What a call is made of stands further in.
func TestCallsStandBelowWhatTheyArePartOf(t *testing.T) {
	t.Parallel()

	for id, want := range map[string]string{"again": "again", "again/order": "  order", "clerk/again/order": "    order"} {
		require.Equal(t, want, name(id))
	}
}

// A key makes the demo use a live model, and a name any.
func TestPickModel(t *testing.T) {
	t.Parallel()

	for want, environ := range map[string][]string{
		scriptedModel:  {"OPENAI_API_KEY="},
		openaiModel:    {"OPENAI_API_KEY=k", "ANTHROPIC_API_KEY=k"},
		anthropicModel: {"ANTHROPIC_API_KEY=k"},
		"ollama/qwen3": {"TOOLCRIB_DEMO_MODEL=ollama/qwen3", "OPENAI_API_KEY=k"},
	} {
		got := pickModel(environ)
		require.Equal(t, want, got.name)
		require.Equal(t, want != scriptedModel, got.live)
		require.Contains(t, got.describe(), want)
	}
	require.False(t, pickModel([]string{"TOOLCRIB_DEMO_MODEL=scripted", "OPENAI_API_KEY=k"}).live)
	require.NotEqual(t, tenantSlug(shop.Address, pickedModel{name: "a/b", live: true}),
		tenantSlug(shop.Address, pickedModel{name: "a/c", live: true}))
	require.Equal(t, "demo", tenantSlug(shop.Address, pickedModel{}))
}

// What a live model may do, and what the platform may not.
func TestSoundEnd(t *testing.T) {
	t.Parallel()

	good := v1.Invocation{Tool: "x", Version: "1.0.0", Status: tool.StatusCompleted}
	require.NoError(t, soundEnd(good))
	for _, kind := range ofModels {
		require.NoError(t, soundEnd(v1.Invocation{Tool: "x", Status: tool.StatusFailed, ErrorKind: kind}))
	}
	for want, inv := range map[string]v1.Invocation{
		"internal":    {Tool: "x", Status: tool.StatusFailed, ErrorKind: tool.InternalError},
		"unavailable": {Tool: "x", Status: tool.StatusFailed, ErrorKind: tool.Unavailable},
		"unknown":     {Tool: "x", Status: tool.StatusUnknown},
		"running":     {Tool: "x", Status: tool.StatusRunning},
		"was run":     {Tool: "refundOrder", Version: "1.0.0", Status: tool.StatusCompleted},
		"x was run":   {Tool: "x", Status: tool.StatusCompleted},
	} {
		require.ErrorContains(t, soundEnd(inv), want)
	}
}
