package agentspec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/graph"
	"github.com/toolcrib/toolcrib/graph/flow"
	"github.com/toolcrib/toolcrib/schema/jsonpointer"
)

// bind makes an input of a component, with the data edge that a reference is.
func (w *flowWriter) bind(to, input string, b any, path string) property {
	p := property{name: input, schema: map[string]any{}}
	o, _ := b.(map[string]any)
	from, isRef := o[keyFrom].(string)
	switch {
	case isRef:
		if fallback, ok := o[keyDefault]; ok {
			p.fallback, p.has = fallback, true
		}
		pointer, err := jsonpointer.Parse(from)
		if err != nil || len(pointer.Tokens()) == 0 {
			break
		}
		source, output, whole := w.resolve(pointer.Tokens())
		if source == "" {
			w.lose(path, Changed, "%s leads to the input %q: kept as metadata, for others it is null", from, input)
			p.has = true
			break
		}
		if !whole {
			w.lose(path, Changed, "%s is a part of an output: kept as metadata, others get the whole of %q", from, output)
		}
		w.data = append(w.data, dataEdge{source, output, to, input})
	case leadsAnywhere(b):
		w.lose(path, Changed, "the input %q is put together of several values: kept as metadata, for others it is null",
			input)
		p.has = true
	default:
		if lit, ok := o[keyLiteral]; ok && len(o) == 1 {
			b = lit
		}
		p.fallback, p.has = b, true
	}
	w.ins[to] = append(w.ins[to], p)
	return p
}

// leadsAnywhere reports whether a binding has references.
func leadsAnywhere(b any) bool {
	switch b := b.(type) {
	case map[string]any:
		if _, ok := b[keyFrom]; ok {
			return true
		}
		if _, ok := b[keyLiteral]; ok {
			return false
		}
		for _, below := range b {
			if leadsAnywhere(below) {
				return true
			}
		}
	case []any:
		if slices.ContainsFunc(b, leadsAnywhere) {
			return true
		}
	}
	return false
}

// resolve returns the component and output that a reference leads to; empty where there is none. Whole says that
// it leads to all of the output.
func (w *flowWriter) resolve(tokens []string) (from, output string, whole bool) {
	switch root := tokens[0]; root {
	case "input":
		if len(tokens) < 2 {
			return "", "", false
		}
		if w.outer == nil {
			if _, ok := find(w.inputs, tokens[1]); !ok {
				w.inputs = append(w.inputs, property{name: tokens[1], schema: map[string]any{}, has: true})
			}
			return w.start, tokens[1], len(tokens) == 2
		}
		return w.outside(tokens, 2)
	case "item":
		if w.mapped {
			if _, ok := find(w.inputs, "item"); !ok {
				w.inputs = append(w.inputs, property{name: "item", schema: map[string]any{}})
			}
			return w.start, "item", len(tokens) == 1
		}
		return w.outside(tokens, 1)
	case "nodes", "tool_outputs":
		if len(tokens) < 2 {
			return "", "", false
		}
		if root == "tool_outputs" {
			tokens = append([]string{"nodes", tokens[1], "result"}, tokens[2:]...)
		}
		for i := range w.nodes {
			if w.nodes[i].ID == tokens[1] {
				return w.answer(&w.nodes[i], tokens)
			}
		}
		if len(tokens) > 3 && tokens[2] == "result" {
			return w.outside(tokens, 4)
		}
		return w.outside(tokens, 3)
	}
	return "", "", false
}

// outside makes what a reference out of the body leads to an input of it.
func (w *flowWriter) outside(tokens []string, whole int) (from, output string, isWhole bool) {
	if w.outer == nil {
		return "", "", false
	}
	isWhole = len(tokens) <= whole
	tokens = tokens[:min(len(tokens), whole)]
	for _, known := range w.wants {
		if strings.Join(known.tokens, "/") == strings.Join(tokens, "/") {
			return w.start, known.name, isWhole
		}
	}
	name := identifier(slugOf(strings.Join(tokens, "_"), "value"))
	for i := 2; ; i++ {
		if _, taken := find(w.inputs, name); !taken {
			break
		}
		name = fmt.Sprintf("%s_%d", identifier(slugOf(strings.Join(tokens, "_"), "value")), i)
	}
	w.wants = append(w.wants, want{name, tokens})
	w.inputs = append(w.inputs, property{name: name, schema: map[string]any{}, has: true})
	return w.start, name, isWhole
}

// answer returns the output of a node that a reference leads to.
func (w *flowWriter) answer(n *graph.Node, tokens []string) (from, output string, whole bool) {
	rest := tokens[2:]
	used := len(rest)
	switch {
	case len(rest) == 0:
		return "", "", false
	case rest[0] == "error" && len(rest) == 2 && rest[1] == "message" && catches(n): //nolint:gosec // There are two.
		output = caughtInfo
	case rest[0] != "result" && rest[0] != "text":
		return "", "", false
	case n.Kind == flow.Start || n.Kind == flow.Branch || n.Kind == flow.Wait:
		return "", "", false
	case n.Kind == flow.Human:
		output, used = "user_input", min(3, len(rest))
		if rest[0] == "text" || len(rest) < 3 {
			used = 0
		}
	case n.Kind == flow.Parallel:
		if len(rest) < 2 {
			return "", "", false
		}
		output, used = rest[1], 2
	case n.Kind == flow.Map:
		output, used = collected+"result", 1
	case n.Kind == flow.Loop || rest[0] == "text" || len(rest) == 1:
		output, used = rest[0], 1
	default:
		output, used = rest[1], 2
	}
	if src, ok := w.subGraph(n); ok {
		w.graphFlow(src)
		if _, answers := find(w.outputs[src.Slug], output); !answers && output != caughtInfo {
			return "", "", false
		}
	}
	id := w.has[n.ID]
	for _, known := range w.outs[id] {
		if known.name == output {
			return id, output, used == len(rest)
		}
	}
	p := property{name: output, schema: w.schemaOf(n, output)}
	if catches(n) {
		p.has = true
	}
	w.outs[id] = append(w.outs[id], out{p, tokens[:2+max(used, 1)]})
	return id, output, used == len(rest)
}

// schemaOf returns the schema of an output of a node, as far as it is known.
func (w *flowWriter) schemaOf(n *graph.Node, output string) map[string]any {
	switch {
	case output == caughtInfo:
		return map[string]any{"anyOf": []any{map[string]any{"type": "string"}, map[string]any{"type": "null"}}}
	case output == "text" || output == "user_input":
		return map[string]any{"type": "string"}
	}
	if p, ok := find(propertiesOf(w.known.Tools[n.Tool.Slug].OutputSchema), output); ok {
		return p.schema
	}
	return map[string]any{}
}

// catches reports whether a node is exported with what catches its failure.
func catches(n *graph.Node) bool {
	return n.OnError != "" && n.OnError != graph.Fail && n.Kind != flow.Branch && n.Kind != flow.Start
}
