package graph

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/graph/flow"
	"github.com/toolcrib/toolcrib/internal/binding"
	"github.com/toolcrib/toolcrib/internal/strict"
	"github.com/toolcrib/toolcrib/schema/jsonpointer"
	"github.com/toolcrib/toolcrib/tool"
)

// Composition is the implementation_config of a tool of the type composition: a graph of tool
// nodes in sequence, in fewer words. What its steps record is in the ledger alone.
type Composition struct {
	// Type may repeat the implementation type, "composition".
	Type tool.Implementation `json:"type,omitempty"`
	// Steps run in order. Required: 1 to [MaxSequence].
	Steps []SequenceStep `json:"steps"`
	// Output is a binding of the output. Defaults to the last step's result.
	Output json.RawMessage `json:"output,omitempty"`
}

// SequenceStep is one call of a composition.
type SequenceStep struct {
	// ID names the step in bindings: a slug, unique.
	ID string `json:"id"`
	// Tool is the tool to call, with a version constraint. It is pinned with the
	// run, like the tools of an agent.
	Tool tool.Ref `json:"tool"`
	// Arguments are an object of bindings; none when empty.
	Arguments json.RawMessage `json:"arguments,omitempty"`
	// OnError is the effect of a failure or an error result of the step: [Stop] when
	// empty, or [Continue].
	OnError string `json:"on_error,omitempty"`
}

// Stop is the effect of a failed step after which no further step runs.
const Stop = "stop"

// Bounds of compositions.
const (
	MaxSequence = 50
	MaxBound    = binding.MaxBound // Bytes of arguments, or of the output, once bound.
)

// Is reports whether the calls of tools of a type run a graph: one of the type, or a composition.
func Is(impl tool.Implementation) bool { return impl == tool.Graph || impl == tool.Composition }

// TypeOf returns the type that a configuration alone is of: a composition where it has steps.
func TypeOf(config json.RawMessage) tool.Implementation {
	var c struct {
		Steps json.RawMessage `json:"steps"`
	}
	if json.Unmarshal(config, &c) == nil && c.Steps != nil {
		return tool.Composition
	}
	return tool.Graph
}

// Of compiles the graph that the calls of a tool run: a graph, or a composition. It fails as
// [Parse] does.
func Of(impl tool.Implementation, config, inputSchema json.RawMessage) (*Graph, error) {
	if impl == tool.Composition {
		return ParseComposition(config, inputSchema)
	}
	return Parse(config, inputSchema)
}

// ParseComposition compiles the configuration of a composition with arguments of inputSchema,
// which may be empty. It fails as [Parse] does, with paths in the composition.
func ParseComposition(raw, inputSchema json.RawMessage) (*Graph, error) {
	if len(raw) > MaxDefinition {
		return nil, Faults{{"", fmt.Sprintf("%d bytes: at most %d", len(raw), MaxDefinition)}}.err()
	}
	p := &parser{g: &Graph{nodes: map[string]*node{}, sequence: true}, input: inputSchema}
	var c Composition
	if err := strict.Decode("graph.ParseComposition", raw, &c); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, Faults{{"/steps", fmt.Sprintf("no steps: want 1 to %d", MaxSequence)}}.err()
		}
		return nil, err
	}
	p.composition(&c)
	if err := p.faults.err(); err != nil {
		return nil, err
	}
	return p.g, nil
}

func (p *parser) composition(c *Composition) {
	if c.Type != "" && c.Type != tool.Composition {
		p.faults.add("/type", "%.40q is not composition", c.Type)
	}
	if n := len(c.Steps); n < 1 || n > MaxSequence {
		p.faults.add("/steps", "%d steps: want 1 to %d", n, MaxSequence)
		return
	}
	nodes := make([]Node, len(c.Steps))
	for i := range c.Steps {
		s, path := &c.Steps[i], fmt.Sprintf("/steps/%d", i)
		nodes[i] = Node{ID: s.ID, Kind: flow.Tool, Tool: s.Tool, Arguments: s.Arguments}
		if s.OnError == Continue {
			nodes[i].OnError = Continue
		}
		if s.Tool.Name() == "" {
			p.faults.add(path+"/tool", "want the tool to call, such as \"findOrder@^1.0\"")
		}
		if s.OnError != "" && s.OnError != Stop && s.OnError != Continue {
			p.faults.add(path+"/on_error", "on_error %.40q: want stop or continue", s.OnError)
		}
	}
	p.g.Definition = Definition{Type: c.Type, Nodes: nodes, Output: c.Output}
	p.g.root = p.body(nil, "", nodes, "/steps", 0)
	if len(p.faults) > 0 {
		return
	}
	p.connect(p.g.root)
	p.order(p.g.root)
	p.compile(p.g.root)
	if given(c.Output) {
		p.g.root.output = p.bound(c.Output, "/output", "the output", nil, p.g.root, placeEnd)
	}
}

// Sequence reports whether the graph is a composition.
func (g *Graph) Sequence() bool { return g.sequence }

// Noun is what the definition calls nodes.
func (g *Graph) Noun() string {
	if g.sequence {
		return "step"
	}
	return "node"
}

// AsGraph returns the definition of a graph that makes the calls that a composition makes, with nodes
// for steps; of a graph its own. The two differ where a step may fail and answers "no": a node then
// has an error, and no result.
func (g *Graph) AsGraph() (*Definition, error) {
	if !g.sequence {
		return &g.Definition, nil
	}
	d := Definition{Nodes: slices.Clone(g.Nodes), Output: g.Definition.Output}
	bindings := []*json.RawMessage{&d.Output}
	for i := range d.Nodes {
		bindings = append(bindings, &d.Nodes[i].Arguments)
	}
	for _, b := range bindings {
		var err error
		if *b, err = binding.Rename(*b, rootSteps, rootNodes); err != nil {
			return nil, err
		}
	}
	return &d, nil
}

// stepMembers are the members of a step that bindings can refer to.
var stepMembers = []string{"result", "text", "is_error", "error"}

// stepReference returns why a reference of a composition leads nowhere; "" where it may lead
// somewhere.
func (p *parser) stepReference(from jsonpointer.Pointer, n *node, b *body, at place) string {
	tokens := from.Tokens()
	switch {
	case tokens[0] != rootSteps || len(tokens) < 2:
		return fmt.Sprintf("%.80q is not a reference: want /input, /steps/<id> or a pointer below", from.String())
	case len(tokens) > 2 && !slices.Contains(stepMembers, tokens[2]):
		return fmt.Sprintf("a step has no %.80q: want result, text, is_error or error", tokens[2])
	}
	if ref := p.g.nodes[tokens[1]]; ref != nil && n != nil && ref.at >= n.at {
		return fmt.Sprintf("refers to step %q, which runs later: a step can refer to earlier steps only", ref.ID)
	}
	return p.sees(n, b, at, tokens[1])
}

// StepRecord returns the record of a step whose call has ended. One that answered "no" failed
// without a kind of failure.
func (g *Graph) StepRecord(id string, call *Call) *Record {
	r := &Record{Path: id, Node: id, Kind: flow.Tool, Status: Completed, EffectID: call.EffectID}
	if call.Result == nil {
		r.Status, r.ErrorKind, r.Error = Failed, call.Kind, call.Msg
		return r
	}
	r.Result, r.Text = call.Result.Structured, textOf(call.Result)
	if call.Result.IsError {
		r.Status, r.Error = Failed, r.Text
	}
	return r
}

// CallStatus returns the status of a step by that of its call, which is the record of it.
func CallStatus(status tool.InvocationStatus, isError bool) Status {
	switch {
	case !status.Final():
		return Pending
	case status == tool.StatusCancelled:
		return Cancelled
	case status == tool.StatusCompleted && !isError:
		return Completed
	}
	return Failed
}

// StepOf returns the id of the step that a call of a composition is of.
func StepOf(callID string) string { return callID[strings.LastIndexByte(callID, '/')+1:] }

// saidNo reports whether a step answered with an error result.
func (r *Record) saidNo() bool { return r.Status == Failed && r.ErrorKind == "" }

// StepFailure returns the failure of a composition that stops at a step.
func (g *Graph) StepFailure(r *Record) error {
	if r.saidNo() {
		return &tool.Error{
			Kind: tool.Conflict, Op: "graph.StepFailure", Msg: fmt.Sprintf("step %q returned an error: %s", r.Node, r.Text),
		}
	}
	return &tool.Error{
		Kind: r.ErrorKind, Op: "graph.StepFailure", Msg: fmt.Sprintf("step %q: %s", r.Node, r.Error),
	}
}

// Output returns the output of a composition whose steps ended: the value of its binding, else
// the last step's structured result, or its text as a JSON string, or null if it failed. It
// fails with [tool.Invalid] where something that it is bound to is not there.
func (g *Graph) Output(d *Data) (json.RawMessage, error) {
	last := g.root.nodes[len(g.root.nodes)-1].ID
	return g.output(g.root, &scope{g: g, data: d, body: g.root}, last)
}

// output returns the output of a body whose last node is last; empty for none.
func (g *Graph) output(b *body, s *scope, last string) (json.RawMessage, error) {
	switch {
	case b.output != nil:
		return g.bind(b.output, s)
	case last != "":
		return s.record(flow.Join(s.frame, last)).value(), nil
	default:
		return nil, nil
	}
}
