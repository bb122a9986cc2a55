package agentspec_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/toolcrib/toolcrib/graph"
	"github.com/toolcrib/toolcrib/platform/agentspec"
)

// everything has a node of every kind, and every setting.
const everything = `{"type":"graph","state":{"n":1,"who":{"$from":"/input/who","$default":"x"}},"state_schema":{"type":"object"},
	"limits":{"steps":500},"on_error":"sorry","nodes":[
	{"id":"begin","kind":"start","set":{"n":2}},
	{"id":"call","kind":"tool","title":"A call","tool":"fetch@^1.0","arguments":{"who":{"$from":"/input/who"},"n":{"$from":"/state/n"},
		"deep":[1,{"$from":"/input/who"}],"raw":{"$literal":{"$from":1}}},"retry":{"attempts":3,"delay_s":1},"timeout_s":5,
		"when":"input.who != ''","set":{"got":{"$from":"/nodes/call/result/a/b"}},"output_schema":{"type":"object"},"on_error":"handle"},
	{"id":"judge","kind":"branch","cases":[{"when":"nodes.call.result.level == 'high'","next":"fan"},
		{"when":"nodes.call.result.level == 'low'","next":"each"}],"default":"again"},
	{"id":"handle","kind":"tool","tool":"note","arguments":{"why":{"$from":"/nodes/call/error/message"}},"next":"again"},
	{"id":"fan","kind":"parallel","concurrency":2,"branches":[
		{"id":"left","nodes":[{"id":"l","kind":"tool","tool":"fetch","arguments":{"who":{"$from":"/input/who"}}}]},
		{"id":"right","nodes":[{"id":"r1","kind":"tool","tool":"fetch","on_error":"continue"},
			{"id":"r2","kind":"branch","cases":[{"when":"nodes.r1.is_error","next":"r4"}],"default":"r3"},
			{"id":"r3","kind":"end","output":{"ok":{"$from":"/nodes/r1/result"}}},{"id":"r4","kind":"end","output":null}]},
		{"id":"third","nodes":[{"id":"w","kind":"wait","seconds":1}],"output":{"$from":"/nodes/call/text"}}],"next":"again"},
	{"id":"each","kind":"map","over":{"$from":"/nodes/call/result/items"},"concurrency":5,"tolerate":1,"failed_items":"null","nodes":[
		{"id":"inner","kind":"map","over":{"$from":"/item/parts"},"concurrency":1,"nodes":[
			{"id":"part","kind":"tool","tool":"fetch","arguments":{"who":{"$from":"/item"},"all":{"$from":"/nodes/call/result"}}}],
			"output":{"$from":"/nodes/part/result/n"},"reduce":"sum"}],"output":{"sum":{"$from":"/nodes/inner/result"}},
		"set":{"n":3},"on_error":"again"},
	{"id":"again","kind":"loop","while":"iteration < 3 && state.n > 0","max":9,"nodes":[
		{"id":"more","kind":"loop","while":"iteration < 2","max":2,"nodes":[{"id":"deep","kind":"tool","tool":"fetch",
			"arguments":{"who":{"$from":"/last","$default":"x"}}}]},
		{"id":"write","kind":"agent","agent":"desk@^1.0","message":{"about":{"$from":"/input/who"},"n":{"$from":"/iteration"}}}],
		"output":{"$from":"/nodes/write/text"}},
	{"id":"ask","kind":"human","form":{"title":"Fine?","approve":{}}},
	{"id":"nudge","kind":"wait","signal":"go","timeout_s":600,"on_error":"continue"},
	{"id":"later","kind":"wait","until":{"$from":"/nodes/ask/result/answer/day"}},
	{"id":"sub","kind":"graph","tool":"inner@^1.0","arguments":{"who":{"$from":"/input/who"}}},
	{"id":"help","kind":"call_agent","tool":"askDesk","arguments":{"prompt":{"$from":"/nodes/sub/text"}},"next":"done"},
	{"id":"sorry","kind":"tool","tool":"note","arguments":{"why":{"$from":"/error/message"},"last":{"$from":"/nodes/call/text","$default":""}},
		"next":"failed"},
	{"id":"failed","kind":"end","output":{"ok":false}},
	{"id":"done","kind":"end","output":{"sub":{"$from":"/nodes/sub/result/x"},"loop":{"$from":"/nodes/again/result"},
		"each":{"$from":"/tool_outputs/each","$default":[]},"fan":{"$from":"/nodes/fan/result/left/n","$default":0}}}]}`

const inner = `{"nodes":[{"id":"one","kind":"tool","tool":"fetch","arguments":{"who":{"$from":"/input/who"}}}],
	"output":{"x":{"$from":"/nodes/one/result/n"}}}`

const who = `{"type":"object","properties":{"who":{"type":"string","description":"Whom?"}},"required":["who"],"additionalProperties":false}`

func source(slug, config, input string) agentspec.Source {
	return agentspec.Source{
		Slug: slug, Name: "Of " + slug, Description: "A graph.", Config: json.RawMessage(config),
		InputSchema: json.RawMessage(input),
	}
}

var known = agentspec.Known{
	Tools: map[string]agentspec.Source{
		"fetch": {
			Slug: "fetch", Description: "Fetches.",
			InputSchema:  json.RawMessage(`{"type":"object","properties":{"who":{"type":"string"}}}`),
			OutputSchema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"},"items":{"type":"array"}}}`),
		},
		"inner": source("inner", inner, who),
	},
	Agents: map[string]agentspec.Agent{
		"desk": {Name: "Desk", Instructions: "Help.", Model: "scripted/desk", Tools: []string{"fetch@^1.0"}},
	},
}

// graphOf returns a graph among definitions.
func graphOf(t *testing.T, definitions []json.RawMessage, slug string) (*graph.Definition, map[string]json.RawMessage) {
	t.Helper()
	for _, raw := range definitions {
		var d map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(raw, &d))
		if string(d["slug"]) != `"`+slug+`"` {
			continue
		}
		g, err := graph.Parse(d["implementation_config"], d["input_schema"])
		require.NoError(t, err)
		return &g.Definition, d
	}
	require.Fail(t, "no graph "+slug)
	return nil, nil
}

// examples returns the graphs of the repository's examples and documentation.
func examples(t *testing.T) map[string]agentspec.Source {
	t.Helper()
	out := map[string]agentspec.Source{
		"everything": source("everything", everything, who), "inner": source("inner", inner, who),
	}
	take := func(name string, text []byte) {
		dec := yaml.NewDecoder(bytes.NewReader(text))
		for {
			var d map[string]any
			if dec.Decode(&d) != nil {
				return
			}
			if d["implementation_type"] != "graph" || strings.Contains(name, "badGraph") {
				continue
			}
			text := func(key string) string { s, _ := d[key].(string); return s }
			raw := func(key string) json.RawMessage {
				if d[key] == nil {
					return nil
				}
				b, err := json.Marshal(d[key])
				require.NoError(t, err)
				return b
			}
			out[name+" "+text("slug")] = agentspec.Source{
				Slug: text("slug"), Name: text("name"), Description: text("description"), Config: raw("implementation_config"),
				InputSchema: raw("input_schema"), OutputSchema: raw("output_schema"), Execution: raw("execution"),
			}
		}
	}
	block := regexp.MustCompile("(?s)```yaml\n# ([^\n]*)\n(.*?)```")
	for _, pattern := range []string{
		"../../examples/*/*/*.yaml", "../../examples/*/*.yaml", "../../docs/*.md", "../../docs/tools/*.md",
	} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			if filepath.Ext(file) == ".yaml" {
				take(filepath.Base(file), text)
				continue
			}
			for _, m := range block.FindAllSubmatch(text, -1) {
				take(filepath.Base(file)+" "+string(m[1]), m[2])
			}
		}
	}
	require.Greater(t, len(out), 3)
	return out
}

// Every graph comes back from a document as it was, and its document is the same a second time.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for name, src := range examples(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := agentspec.Export(src, known)
			require.NoError(t, err)
			in, err := agentspec.Import(out.Document, agentspec.Options{})
			require.NoError(t, err, string(out.Document))
			require.Equal(t, src.Slug, in.Slug)
			got, d := graphOf(t, in.Definitions, src.Slug)
			before, err := graph.Parse(src.Config, src.InputSchema)
			require.NoError(t, err)
			require.Empty(t, graph.Diff(&before.Definition, got))
			after, err := graph.Parse(d["implementation_config"], d["input_schema"])
			require.NoError(t, err)
			require.ElementsMatch(t, before.Shape().Nodes, after.Shape().Nodes, "the compiled form")
			require.Equal(t, before.Shape().First, after.Shape().First)
			require.Equal(t, before.Shape().OnError, after.Shape().OnError)
			require.JSONEq(t, string(src.InputSchema), string(d["input_schema"]))
			if src.Execution != nil {
				require.JSONEq(t, string(src.Execution), string(d["execution"]))
			}
		})
	}
}
