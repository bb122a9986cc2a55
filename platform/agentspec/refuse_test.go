package agentspec_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/agentspec"
	"github.com/toolcrib/toolcrib/tool"
)

// changed returns a sample in which texts are replaced.
func changed(t *testing.T, name string, pairs ...string) []byte {
	t.Helper()
	text := string(samples(t)[name])
	for i := 0; i < len(pairs); i += 2 {
		require.Contains(t, text, pairs[i])
	}
	return []byte(strings.NewReplacer(pairs...).Replace(text))
}

// A document that can't be imported is refused with all that is wrong with it, each with its place.
func TestRefused(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"a":`, 200) + "1" + strings.Repeat("}", 200)
	for name, c := range map[string]struct {
		raw  []byte
		says []string
	}{
		"nothing":           {[]byte("  \n"), []string{"it is empty"}},
		"no JSON":           {[]byte(`{"component_type": `), []string{"it is no JSON"}},
		"no YAML":           {[]byte("a: [1"), []string{"yaml"}},
		"a list":            {[]byte("- a"), []string{"want an object"}},
		"other JSON":        {[]byte(`{"nodes": []}`), []string{"no Agent Spec document"}},
		"another component": {[]byte(`{"component_type": "Swarm"}`), []string{`"Swarm" has no counterpart`}},
		"too large":         {[]byte(strings.Repeat(" ", agentspec.MaxDocument+1)), []string{"at most 4194304"}},
		"too deep":          {[]byte(deep), []string{"nested more than 100 deep"}},
		"an alias bomb": {
			[]byte("a: &a [1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\n" +
				"d: &d [*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e]\n"),
			[]string{"more than 200000 values"},
		},
		"several faults": {
			changed(t, "linear", `"component_type": "LlmNode"`, `"component_type": "PluginNode"`,
				`"source_output": "title"`, `"source_output": "heading"`, `"$component_ref": "digest_start"`, `"$component_ref": "gone"`),
			[]string{`/$referenced_components/sum/component_type: a node of type "PluginNode"`, `no component "gone"`, "faults: "},
		},
		"no such output": {
			changed(t, "linear", `"source_output": "title"`, `"source_output": "heading"`),
			[]string{`ToolNode "Read the page" has no output "heading"`},
		},
		"no way on": {
			changed(t, "linear", `"from_node": {
    "$component_ref": "read"`, `"from_node": {
    "$component_ref": "digest_start"`), []string{`another edge leads from the branch "next" of "start"`, "no edge leads on from ToolNode"},
		},
		"a branch without an edge": {
			changed(t, "branching", "invoice: bill", "invoice: billing"),
			[]string{`no edge leads on from the branch "billing"`},
		},
		"no model": {
			changed(t, "agent", `"model_id": "qwen3"`, `"model_id": ""`), []string{`the model "local" of type "VllmConfig"`, "--model"},
		},
		"a flow in itself": {
			[]byte(`{"component_type":"Flow","id":"f","name":"f","start_node":{"$component_ref":"s"},"nodes":[{"$component_ref":"s"},
				{"$component_ref":"n"}],"control_flow_connections":[],"$referenced_components":{"s":{"component_type":"StartNode","id":"s"},
				"n":{"component_type":"FlowNode","id":"n","subflow":{"$component_ref":"g"}},
				"g":{"component_type":"Flow","id":"g","name":"g","nodes":[{"$component_ref":"n"}]}}}`), []string{"contains itself"},
		},
		"references in a circle": {
			[]byte(`{"component_type":"Flow","id":"f","nodes":[{"$component_ref":"a"}],"$referenced_components":{"a":{"$component_ref":"b"},
				"b":{"$component_ref":"a"}}}`), []string{"references lead to references"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := agentspec.Import(c.raw, agentspec.Options{})
			require.Error(t, err)
			require.Equal(t, tool.Invalid, tool.KindOf(err))
			for _, says := range c.says {
				require.Contains(t, err.Error(), says)
			}
			_, ok := errors.AsType[agentspec.Faults](err)
			require.True(t, ok)
		})
	}
}

// A cycle that is entered in two places is refused, and its nodes are named.
func TestIrreducible(t *testing.T) {
	t.Parallel()
	var nodes []string
	for _, id := range []string{"a", "b"} {
		nodes = append(nodes, fmt.Sprintf(`{"component_type":"BranchingNode","id":%q,"name":"node %s","inputs":[{"title":"k","type":"string",
			"default":"x"}],"mapping":{"x":"on","y":"out"}}`, id, id))
	}
	edge := func(from, branch, to string) string {
		return fmt.Sprintf(`{"component_type":"ControlFlowEdge","from_node":{"$component_ref":%q},"from_branch":%s,
			"to_node":{"$component_ref":%q}}`, from, branch, to)
	}
	doc := fmt.Sprintf(`{"component_type":"Flow","id":"f","name":"f","nodes":[{"$component_ref":"s"},{"$component_ref":"c"},%s,%s,
		{"$component_ref":"e"}],"control_flow_connections":[%s],"$referenced_components":{
		"s":{"component_type":"StartNode","id":"s","name":"s"},"e":{"component_type":"EndNode","id":"e","name":"e"},
		"c":{"component_type":"BranchingNode","id":"c","name":"c","inputs":[{"title":"k","default":"x"}],"mapping":{"x":"on"}},
		"a":%s,"b":%s}}`, `{"$component_ref":"a"}`, `{"$component_ref":"b"}`, strings.Join([]string{
		edge("s", "null", "c"), edge("c", `"on"`, "a"), edge("c", "null", "b"), edge("a", `"on"`, "b"), edge("a", `"out"`, "e"),
		edge("b", `"on"`, "a"), edge("b", `"out"`, "e"),
	}, ","), nodes[0], nodes[1])
	_, err := agentspec.Import([]byte(doc), agentspec.Options{})
	require.ErrorContains(t, err, "is entered in several places")
	require.ErrorContains(t, err, "node a")
	require.ErrorContains(t, err, "node b")
}

// A node whose data edges were changed after its export takes what they say, and loses its own settings.
func TestChangedAfterExport(t *testing.T) {
	t.Parallel()
	src := source("inner", `{"nodes":[{"id":"one","kind":"tool","tool":"fetch","title":"Kept","arguments":{"who":{"$from":"/input/who"}}},
		{"id":"two","kind":"tool","tool":"fetch","timeout_s":5,"arguments":{"who":{"$from":"/nodes/one/result/n"}}}]}`, who)
	out, err := agentspec.Export(src, known)
	require.NoError(t, err)
	var doc map[string]any
	require.NoError(t, json.Unmarshal(out.Document, &doc))
	edges, _ := doc["data_flow_connections"].([]any)
	for _, e := range edges {
		edge, _ := e.(map[string]any)
		if edge["source_output"] == "n" {
			edge["source_node"], edge["source_output"] = doc["start_node"], "who"
		}
	}
	raw, err := json.Marshal(doc)
	require.NoError(t, err)
	in, err := agentspec.Import(raw, agentspec.Options{})
	require.NoError(t, err)
	g, _ := graphOf(t, in.Definitions, "inner")
	require.Equal(t, "Kept", g.Nodes[0].Title)
	require.JSONEq(t, `{"who":{"$from":"/input/who"}}`, string(g.Nodes[1].Arguments))
	require.Zero(t, g.Nodes[1].TimeoutSeconds)
	said := ""
	var saidSb144 strings.Builder
	for _, l := range in.Losses {
		saidSb144.WriteString(l.Reason + "\n")
	}
	said += saidSb144.String()
	require.Contains(t, said, "its own settings are not taken over")
}

// Options choose slug and model, and leave definitions unpublished.
func TestOptions(t *testing.T) {
	t.Parallel()
	in, err := agentspec.Import(samples(t)["linear"],
		agentspec.Options{Slug: "sumUp", Model: "scripted/clerk", Draft: true})
	require.NoError(t, err)
	require.Equal(t, "sumUp", in.Slug)
	all := string(in.Definitions[0]) + string(in.Definitions[1])
	require.Contains(t, all, `"model":"scripted/clerk"`)
	require.Contains(t, all, `"slug":"sumUp"`)
	require.NotContains(t, all, `"publish"`)
	_, err = agentspec.Import(samples(t)["linear"], agentspec.Options{Slug: "sum up"})
	require.ErrorContains(t, err, `slug "sum up"`)
}

// No document makes an import panic, and what is imported is exported again.
func FuzzImport(f *testing.F) {
	for _, raw := range samples(f) {
		f.Add(string(raw))
	}
	f.Fuzz(func(t *testing.T, text string) {
		in, err := agentspec.Import([]byte(text), agentspec.Options{})
		if err != nil {
			require.Equal(t, tool.Invalid, tool.KindOf(err))
			return
		}
		if len(in.Definitions) == 0 || !strings.Contains(string(in.Definitions[len(in.Definitions)-1]), `"graph"`) {
			return
		}
		src, known := sourceOf(t, in)
		if src.Config == nil {
			return
		}
		_, err = agentspec.Export(src, known)
		require.NoError(t, err)
	})
}
