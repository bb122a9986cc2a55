package graph

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/toolcrib/toolcrib/graph/flow"
	"github.com/toolcrib/toolcrib/internal/binding"
	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/schema/jsonpointer"
)

// compile compiles the conditions and bindings of a body and of those in it.
func (p *parser) compile(b *body) {
	for _, n := range b.nodes {
		n.when = p.condition(n, n.When, n.path+"/when")
		n.while = p.condition(n, n.While, n.path+"/while")
		for i := range n.cases {
			n.cases[i].when = p.condition(n, n.Cases[i].When, fmt.Sprintf("%s/cases/%d/when", n.path, i))
		}
		whose := fmt.Sprintf("%s %q", p.g.Noun(), n.ID)
		switch n.Kind { //nolint:exhaustive // Others have no call.
		case flow.Tool, flow.CallAgent, flow.Sub:
			n.arguments = p.bound(n.Arguments, n.path+"/arguments", whose, n, n.body, placeNode)
			p.object(n.Arguments, n.path+"/arguments")
		case flow.Human:
			n.arguments = p.bound(n.Form, n.path+"/form", whose, n, n.body, placeNode)
			p.object(n.Form, n.path+"/form")
		case flow.Agent:
			n.arguments = p.bound(n.Message, n.path+"/message", whose, n, n.body, placeNode)
		case flow.Map:
			n.over = p.bound(n.Over, n.path+"/over", whose, n, n.body, placeNode)
		case flow.Wait:
			if given(n.Seconds) {
				n.wait = p.bound(n.Seconds, n.path+"/seconds", whose, n, n.body, placeNode)
			} else if given(n.Until) {
				n.wait = p.bound(n.Until, n.path+"/until", whose, n, n.body, placeNode)
			}
		case flow.End:
			if given(n.Output) {
				n.output = p.bound(n.Output, n.path+"/output", whose, n, n.body, placeNode)
			}
		}
		p.compileSet(n, whose)
		if given(n.OutputSchema) {
			n.schema = p.compileSchema(n.OutputSchema, n.path+"/output_schema")
		}
		for i, below := range n.bodies {
			p.compile(below)
			switch {
			case n.Kind == flow.Parallel && given(n.Branches[i].Output):
				at := fmt.Sprintf("%s/branches/%d/output", n.path, i)
				below.output = p.bound(n.Branches[i].Output, at, whose, nil, below, placeEnd)
			case n.Kind != flow.Parallel && given(n.Output):
				below.output = p.bound(n.Output, n.path+"/output", whose, nil, below, placeEnd)
			}
		}
	}
}

func (p *parser) object(raw json.RawMessage, path string) {
	if t := bytes.TrimSpace(raw); len(t) > 0 && t[0] != '{' {
		p.faults.add(path, "want an object of arguments by name")
	}
}

func (p *parser) compileSet(n *node, whose string) {
	names := make([]string, 0, len(n.Set))
	for name := range n.Set {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		path := n.path + "/set/" + jsonpointer.Escape(name)
		n.set = append(n.set, setter{name, p.bound(n.Set[name], path, whose, n, n.body, placeSet)})
	}
}

// condition compiles a condition of a node; nil for none.
func (p *parser) condition(n *node, text, path string) *condition {
	if text == "" {
		return nil
	}
	c, err := compile(p.env, text, path)
	if err != nil {
		p.faults.add(path, "%s", err)
		return nil
	}
	for _, id := range c.refs {
		if why := p.sees(n, n.body, placeNode, id); why != "" {
			p.faults.add(path, "%s", why)
		}
	}
	return c
}

// seenMembers are the members of a node that bindings can refer to: those of [seen].
var seenMembers = []string{"result", "text", "is_error", "error", "status"}

// bind compiles a binding outside of nodes.
func (p *parser) bind(raw json.RawMessage, path, whose string, b *body, at place) *binding.Binding {
	if out := p.bound(raw, path, whose, nil, b, at); out != nil {
		return &out.Binding
	}
	return nil
}

// bound compiles a binding of a node, or of a body.
func (p *parser) bound(raw json.RawMessage, path, whose string, n *node, b *body, at place) *bound {
	out := &bound{whose: whose, base: path}
	parsed, err := binding.Parse(raw, path, func(path string, from jsonpointer.Pointer) error {
		if why := p.reference(from, n, b, at); why != "" {
			p.faults.add(path, "%s", why)
			return nil
		}
		if t := from.Tokens(); len(t) > 1 && named(t[0]) && !slices.Contains(out.refs, t[1]) {
			out.refs = append(out.refs, t[1])
		}
		return nil
	})
	p.faults.take(path, err)
	out.Binding = parsed
	return out
}

// reference returns why a reference leads nowhere; "" where it may lead somewhere.
func (p *parser) reference(from jsonpointer.Pointer, n *node, b *body, at place) string {
	tokens := from.Tokens()
	if p.g.sequence && tokens[0] != rootInput {
		return p.stepReference(from, n, b, at)
	}
	switch root := tokens[0]; root {
	case rootInput:
		if i := schema.Undeclared(p.input, tokens[1:]); len(p.input) > 0 && i >= 0 {
			return fmt.Sprintf("the input schema declares no %q", jsonpointer.New(tokens[1:i+2]...).String())
		}
	case rootContext, rootState, rootError:
		if at == placeStart && root != rootContext {
			return fmt.Sprintf("there is no /%s before the first node", root)
		}
	case rootItem, rootIndex:
		if b == nil || !around(n, b).inside(flow.Map) {
			return fmt.Sprintf("/%s is there only in the body of a %s", root, flow.Map)
		}
	case rootIteration, rootLast:
		if b == nil || !around(n, b).inside(flow.Loop) {
			return fmt.Sprintf("/%s is there only in the body of a %s", root, flow.Loop)
		}
	case rootNodes, rootOutputs:
		switch {
		case len(tokens) < 2:
			return fmt.Sprintf("want /%s/<id>, or a pointer below", root)
		case root == rootNodes && len(tokens) > 2 && !slices.Contains(seenMembers, tokens[2]):
			return fmt.Sprintf("a node has no %.80q: want result, text, is_error, error or status", tokens[2])
		}
		return p.sees(n, b, at, tokens[1])
	default:
		return fmt.Sprintf(
			"%.80q is not a reference: want /input, /nodes/<id>, /state, /context, /item, /index, /iteration, /last or /error",
			from.String())
	}
	return ""
}

// around returns the body that a reference is in.
func around(n *node, b *body) *body {
	if n != nil {
		return n.body
	}
	return b
}
