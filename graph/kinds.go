package graph

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/graph/flow"
	"github.com/toolcrib/toolcrib/tool"
)

// fields are the fields of a node that not every kind has, with the kinds that do.
var fields = []struct {
	name  string
	given func(n *Node) bool
	kinds []flow.Kind
}{
	{"tool", func(n *Node) bool { return n.Tool.Name() != "" }, []flow.Kind{flow.Tool, flow.CallAgent, flow.Sub}},
	{"arguments", func(n *Node) bool { return given(n.Arguments) }, []flow.Kind{flow.Tool, flow.CallAgent, flow.Sub}},
	{"agent", func(n *Node) bool { return n.Agent.Name() != "" }, []flow.Kind{flow.Agent}},
	{"message", func(n *Node) bool { return given(n.Message) }, []flow.Kind{flow.Agent}},
	{"form", func(n *Node) bool { return given(n.Form) }, []flow.Kind{flow.Human}},
	{"cases", func(n *Node) bool { return len(n.Cases) > 0 }, []flow.Kind{flow.Branch}},
	{"default", func(n *Node) bool { return n.Default != "" }, []flow.Kind{flow.Branch}},
	{"branches", func(n *Node) bool { return len(n.Branches) > 0 }, []flow.Kind{flow.Parallel}},
	{"over", func(n *Node) bool { return given(n.Over) }, []flow.Kind{flow.Map}},
	{"concurrency", func(n *Node) bool { return n.Concurrency != 0 }, []flow.Kind{flow.Map, flow.Parallel}},
	{"tolerate", func(n *Node) bool { return n.Tolerate != 0 }, []flow.Kind{flow.Map}},
	{"failed_items", func(n *Node) bool { return n.Failed != "" }, []flow.Kind{flow.Map}},
	{"reduce", func(n *Node) bool { return n.Reduce != "" }, []flow.Kind{flow.Map}},
	{"while", func(n *Node) bool { return n.While != "" }, []flow.Kind{flow.Loop}},
	{"max", func(n *Node) bool { return n.Max != 0 }, []flow.Kind{flow.Loop}},
	{"nodes", func(n *Node) bool { return len(n.Nodes) > 0 }, []flow.Kind{flow.Map, flow.Loop}},
	{"seconds", func(n *Node) bool { return given(n.Seconds) }, []flow.Kind{flow.Wait}},
	{"until", func(n *Node) bool { return given(n.Until) }, []flow.Kind{flow.Wait}},
	{"signal", func(n *Node) bool { return n.Signal != "" }, []flow.Kind{flow.Wait}},
	{"output", func(n *Node) bool { return given(n.Output) }, []flow.Kind{flow.End, flow.Map, flow.Loop}},
	{"next", func(n *Node) bool { return n.Next != "" }, without(flow.End, flow.Branch)},
	{"when", func(n *Node) bool { return n.When != "" }, without(flow.End, flow.Branch)},
	{"set", func(n *Node) bool { return len(n.Set) > 0 }, without(flow.End, flow.Branch)},
	{"on_error", func(n *Node) bool { return n.OnError != "" }, without(flow.Start, flow.End)},
	{"retry", func(n *Node) bool { return n.Retry != nil }, calling},
	{"timeout_s", func(n *Node) bool { return n.TimeoutSeconds != 0 }, append(slices.Clone(calling), flow.Wait)},
	{"output_schema", func(n *Node) bool { return given(n.OutputSchema) }, without(flow.Start, flow.End, flow.Branch)},
}

// calling are the kinds that make a call or a run.
var calling = []flow.Kind{flow.Tool, flow.Agent, flow.CallAgent, flow.Human, flow.Sub}

func given(raw json.RawMessage) bool { return len(raw) > 0 }

func without(kinds ...flow.Kind) []flow.Kind {
	return slices.DeleteFunc(flow.Kinds(), func(k flow.Kind) bool { return slices.Contains(kinds, k) })
}

// checkKind checks that a node has the fields of its kind, and no others.
func (p *parser) checkKind(n *node) {
	if !slices.Contains(flow.Kinds(), n.Kind) {
		p.faults.add(n.path+"/kind", "kind %.40q: want one of %s", n.Kind, join(flow.Kinds()))
		return
	}
	for _, f := range fields {
		if f.given(n.Node) && !slices.Contains(f.kinds, n.Kind) {
			p.faults.add(n.path+"/"+f.name, "a node of kind %s has no %s: that is for %s", n.Kind, f.name, join(f.kinds))
		}
	}
	p.checkRequired(n)
	p.checkRanges(n)
}

// checkRequired checks the fields that a kind needs.
func (p *parser) checkRequired(n *node) {
	need := func(ok bool, field, want string) {
		if !ok {
			p.faults.add(n.path+"/"+field, "a node of kind %s needs %s", n.Kind, want)
		}
	}
	switch n.Kind { //nolint:exhaustive // Others need nothing.
	case flow.Tool, flow.CallAgent, flow.Sub:
		need(n.Tool.Name() != "", "tool", `a tool, such as "findOrder@^1.0"`)
	case flow.Agent:
		need(n.Agent.Name() != "", "agent", `an agent, such as "writer@^1.0"`)
		need(given(n.Message), "message", "a message to the agent: a binding")
	case flow.Human:
		need(given(n.Form), "form", "a form: questions, choose, markup or approve, as "+FormTool+" takes them")
	case flow.Branch:
		need(len(n.Cases) > 0, "cases", "a case at least")
		need(n.Default != "", "default", "a default: the node to go to where no case holds")
	case flow.Parallel:
		need(len(n.Branches) > 0, "branches", "a branch at least")
	case flow.Map:
		need(given(n.Over), "over", "a binding of an array")
	case flow.Loop:
		need(n.While != "", "while", "a condition")
		need(n.Max >= 1 && n.Max <= MaxIterations, "max", "a number of iterations at most: 1 to 10000")
	case flow.Wait:
		set := 0
		for _, ok := range []bool{given(n.Seconds), given(n.Until), n.Signal != ""} {
			if ok {
				set++
			}
		}
		need(set == 1, "seconds", "exactly one of seconds, until and signal")
	}
}

// checkRanges checks numbers and choices.
func (p *parser) checkRanges(n *node) {
	if n.Concurrency < 0 || n.Concurrency > MaxConcurrency {
		p.faults.add(n.path+"/concurrency", "%d at once: want 1 to %d", n.Concurrency, MaxConcurrency)
	}
	if len(n.Branches) > MaxConcurrency {
		p.faults.add(n.path+"/branches", "%d branches: at most %d", len(n.Branches), MaxConcurrency)
	}
	if n.Tolerate < 0 {
		p.faults.add(n.path+"/tolerate", "want the number of items that may fail: 0 or more")
	}
	if n.Failed != "" && n.Failed != Drop && n.Failed != Null {
		p.faults.add(n.path+"/failed_items", "%.40q: want %s or %s", n.Failed, Drop, Null)
	}
	if n.Reduce != "" && !slices.Contains(Reducers(), n.Reduce) {
		p.faults.add(n.path+"/reduce", "%.40q: want one of %s", n.Reduce, join(Reducers()))
	}
	if n.TimeoutSeconds < 0 {
		p.faults.add(n.path+"/timeout_s", "want a number of seconds")
	}
	if n.Signal != "" && !tool.ValidSlug(n.Signal) {
		p.faults.add(n.path+"/signal", "signal %.80q: want a letter, then letters, digits, _ or -, at most 64", n.Signal)
	}
	if r := n.Retry; r != nil {
		if r.Attempts < 2 || r.Attempts > 20 {
			p.faults.add(n.path+"/retry/attempts", "%d attempts: want 2 to 20, the first counted", r.Attempts)
		}
		if r.DelaySeconds < 0 || r.MaxDelay < 0 || r.Backoff != 0 && r.Backoff < 1 {
			p.faults.add(n.path+"/retry", "want delays of 0 or more seconds, and a backoff of 1 or more")
		}
		for i, k := range r.Kinds {
			if !slices.Contains(tool.Kinds(), k) {
				p.faults.add(n.path+"/retry/on", "%d: there is no kind of failure %.40q", i, k)
			}
		}
	}
}

func join[T ~string](all []T) string {
	names := make([]string, len(all))
	for i, one := range all {
		names[i] = string(one)
	}
	return strings.Join(names, ", ")
}
