package agentspec

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib/graph"
	"github.com/toolcrib/toolcrib/graph/flow"
)

// node writes a node: its component, its data edges, and where it leads.
func (w *flowWriter) node(i int, begun bool) {
	n := w.nodes[i]
	path := fmt.Sprintf("%s/%d", w.path, i)
	if w.alone {
		path = w.path
	}
	id := w.first[n.ID]
	switch {
	case begun:
		w.edge(id, "", w.next(i))
		return
	case n.Kind == flow.End:
		w.endOf(n, id, path)
		return
	case n.Kind == flow.Branch:
		w.branch(n, id, path)
		return
	case catches(&n):
		w.catch(i, id, path)
		return
	}
	w.settings(n, path)
	switch n.Kind { //nolint:exhaustive // Others are above.
	case flow.Agent:
		w.agent(n, id, path)
	case flow.Human:
		w.human(n, id, path)
	case flow.Map, flow.Parallel:
		w.bodies(n, id, path)
	case flow.Loop:
		w.loop(i, id, path)
		return
	case flow.Start, flow.Wait:
		w.lose(path, Changed, "a node of kind %s is kept as metadata: others see a flow that does nothing", n.Kind)
		sub := w.nothing(id)
		w.put(flowNode, id, n, map[string]any{"subflow": ref(sub)}, nil)
	default:
		w.tool(n, id, path)
	}
	w.edge(id, "", w.next(i))
}

// put adds the component of a node.
func (w *flowWriter) put(kind, id string, n graph.Node, fields, more map[string]any) {
	own := w.own(n, more)
	own["inputs"] = w.fingerprint(id)
	fields[keyType], fields["id"], fields["name"], fields["description"] = kind, id, n.ID, nil
	fields[keyMetadata] = map[string]any{keyOwn: own}
	if fields["branches"] == nil {
		fields["branches"] = []any{nextBranch}
	}
	w.all[id] = fields
}

// settings lists the settings of a node that are kept as metadata alone.
func (w *flowWriter) settings(n graph.Node, path string) {
	for _, s := range []struct {
		name  string
		given bool
	}{
		{"when", n.When != ""},
		{"set", len(n.Set) > 0},
		{"retry", n.Retry != nil},
		{"timeout_s", n.TimeoutSeconds != 0},
		{"output_schema", len(n.OutputSchema) > 0},
		{"tolerate", n.Tolerate != 0},
		{"failed_items", n.Failed != ""},
	} {
		if s.given {
			w.lose(path+"/"+s.name, Changed, "kept as metadata: others do without it")
		}
	}
}

// inputs binds the members of an object of bindings.
func (w *flowWriter) members(id string, raw []byte, path string) {
	o, _ := decoded(raw).(map[string]any)
	if o[keyFrom] != nil || o[keyLiteral] != nil {
		o = map[string]any{"arguments": o}
	}
	for _, name := range sortedKeys(o) {
		w.bind(id, name, o[name], path+"/"+name)
	}
}

func (w *flowWriter) tool(n graph.Node, id, path string) {
	w.members(id, n.Arguments, path+"/arguments")
	if src, ok := w.subGraph(&n); ok {
		sub := w.graphFlow(src)
		for _, p := range propertiesOf(src.InputSchema) {
			if _, bound := find(w.ins[id], p.name); !bound {
				w.ins[id] = append(w.ins[id], property{name: p.name, schema: p.schema, has: true})
			}
		}
		for _, p := range w.outputs[src.Slug] {
			w.answer(&n, []string{"nodes", n.ID, "result", p.name})
		}
		w.put(flowNode, id, n, map[string]any{"subflow": ref(sub)}, nil)
		return
	}
	fields := map[string]any{}
	w.put(toolNode, id, n, fields, nil)
	w.later = append(w.later, func() {
		fields["tool"] = ref(w.toolComponent(n.Tool, w.ins[id], w.outputsOf(id), path+"/tool"))
	})
}

// subGraph returns the graph that a node runs, where it is exported as a flow.
func (w *flowWriter) subGraph(n *graph.Node) (Source, bool) {
	src, ok := w.known.Tools[n.Tool.Slug]
	return src, ok && n.Kind == flow.Sub && len(src.Config) > 0 && !slices.Contains(w.open, n.Tool.Slug)
}

func (w *flowWriter) outputsOf(id string) []property {
	var all []property
	for _, o := range w.outs[id] {
		all = append(all, o.property)
	}
	return all
}

func (w *flowWriter) agent(n graph.Node, id, path string) {
	message := decoded(n.Message)
	if o, ok := message.(map[string]any); ok && o[keyFrom] == nil && o[keyLiteral] == nil {
		w.members(id, n.Message, path+"/message")
	} else {
		w.bind(id, "message", message, path+"/message")
	}
	fields := map[string]any{}
	w.put(agentNode, id, n, fields, nil)
	w.later = append(w.later, func() {
		fields["agent"] = ref(w.agentComponent(n.Agent, w.ins[id], w.outputsOf(id), path+"/agent"))
	})
}

func (w *flowWriter) human(n graph.Node, id, path string) {
	form, _ := decoded(n.Form).(map[string]any)
	message := "Please answer."
	for _, name := range []string{"title", "instructions"} {
		if text, ok := form[name].(string); ok {
			message = text
		}
	}
	w.lose(path+"/form", Changed, "kept as metadata: others ask for a text, by the message %q", message)
	w.answerable(id)
	w.put(inputNode, id, n, map[string]any{"message": message}, nil)
}

// answerable gives an InputMessageNode its output.
func (w *flowWriter) answerable(id string) {
	w.later = append(w.later, func() {
		if len(w.outs[id]) == 0 {
			w.outs[id] = []out{{property: property{name: "user_input", schema: map[string]any{"type": "string"}}}}
		}
	})
}

func (w *flowWriter) endOf(n graph.Node, id, path string) {
	var outputs []property
	bindings := w.outputOf(n.Output)
	if len(n.Output) == 0 {
		bindings = nil
	}
	if w.outer != nil && len(n.Output) > 0 {
		bindings = map[string]any{w.single(): decoded(n.Output)}
	}
	for _, name := range sortedKeys(bindings) {
		outputs = append(outputs, w.bind(id, name, bindings[name], path+"/output"))
	}
	w.addEnd(id, n.ID, outputs, w.own(n, nil))
}

// single is the name of the one output of a body.
func (w *flowWriter) single() string {
	if w.id != "" {
		return w.id
	}
	return "result"
}

var equality = regexp.MustCompile(
	`^(?:string\()?(input|nodes|state)((?:\.[A-Za-z_][A-Za-z0-9_]*)+)\)?\s*==\s*(?:'([^'\\]*)'|"([^"\\]*)")$`)

func (w *flowWriter) branch(n graph.Node, id, path string) {
	mapping, branches, cases := map[string]any{}, []any{defaultBranch}, []any{}
	value := ""
	plainCases := true
	for _, c := range n.Cases {
		m := equality.FindStringSubmatch(c.When)
		plainCases = plainCases && m != nil && (value == "" || value == m[1]+m[2]) && mapping[m[3]+m[4]] == nil
		if plainCases {
			value = m[1] + m[2]
			mapping[m[3]+m[4]] = "x"
		}
	}
	clear(mapping)
	for i, c := range n.Cases {
		name := "case" + strconv.Itoa(i+1)
		key := name
		if m := equality.FindStringSubmatch(c.When); plainCases {
			key = m[3] + m[4]
		}
		mapping[key] = name
		branches = append(branches, name)
		cases = append(cases, map[string]any{"when": c.When, "branch": name})
		w.edge(id, name, w.first[c.Next])
	}
	w.edge(id, defaultBranch, w.first[n.Default])
	if plainCases {
		w.bind(id, branchingKey, map[string]any{keyFrom: pointerOf(value)}, path+"/cases")
	} else {
		w.lose(path+"/cases", Changed, "the conditions are kept as metadata: others take the branch %q", defaultBranch)
		w.bind(id, branchingKey, "", path)
	}
	w.settings(n, path)
	if n.OnError != "" && n.OnError != graph.Fail {
		w.lose(path+"/on_error", Dropped, "others, and an import, fail where a condition does")
	}
	w.put(branchingNode, id, n, map[string]any{"mapping": mapping, "branches": branches}, map[string]any{"cases": cases})
}

// pointerOf makes a JSON Pointer of a path of plain names.
func pointerOf(path string) string {
	out := ""
	var outSb238 strings.Builder
	for _, name := range regexp.MustCompile(`[A-Za-z0-9_]+`).FindAllString(path, -1) {
		outSb238.WriteString("/" + name)
	}
	out += outSb238.String()
	return out
}
