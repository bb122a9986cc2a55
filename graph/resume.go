package graph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/graph/flow"
	"github.com/toolcrib/toolcrib/tool"
)

// Passed is a node that a run has passed, without its contents.
type Passed struct {
	Path   string
	Kind   flow.Kind
	Status Status
	Case   string // Of a branch.
	Sets   bool   // It set the state.
}

// Resume returns where a run continues that begins with a node which another run came to, and that
// node's id. Passed are the nodes of that other run, in their order. Without an id it is the last node that did
// not succeed. Nodes of bodies can't be continued from: name the node around them.
func (g *Graph) Resume(passed []Passed, id string) (flow.State, string, error) {
	if id == "" {
		id = lastFailed(passed)
		if id == "" {
			return flow.State{}, "", notResumed("every node that the run came to succeeded: name the node to begin with")
		}
	}
	n := g.nodes[id]
	switch {
	case n == nil:
		return flow.State{}, "", notResumed("the graph has no node %q", id)
	case n.body != g.root:
		return flow.State{}, "", notResumed("node %q is in a body of %q: name that one", id, n.body.owner.ID)
	}
	frame, before := flow.Frame{}, (*node)(nil)
	handled := false
	for _, p := range passed {
		at := g.nodes[first(p.Path)]
		if at == nil || at == n {
			break
		}
		if p.Sets && g.shares(p.Path) {
			frame.State = p.Path
		}
		if strings.Contains(p.Path, "/") {
			continue
		}
		before = at
		failed := p.Status == Failed || p.Status == Cancelled
		switch {
		case failed && at.OnError == Continue, p.Status == Completed && answers(at.Kind):
			frame.Last = at.ID
		case failed:
			frame.Failed = p.Path
			handled = handled || at.failTo < 0
		}
	}
	if !g.reaches(passed, before, n) {
		return flow.State{}, "", notResumed("the run did not come to node %q", id)
	}
	return g.Shape().From(frame, id, len(passed), handled), id, nil
}

func notResumed(format string, args ...any) error {
	return &tool.Error{Kind: tool.Invalid, Op: "graph.Resume", Msg: fmt.Sprintf(format, args...)}
}

func first(path string) string {
	id, _, _ := strings.Cut(path, "/")
	return id
}

func lastFailed(passed []Passed) string {
	for _, p := range slices.Backward(passed) {
		if !strings.Contains(p.Path, "/") && (p.Status == Failed || p.Status == Cancelled) {
			return p.Path
		}
	}
	return ""
}

func answers(k flow.Kind) bool { return k != flow.Start && k != flow.Branch && k != flow.End }

// shares reports whether what a node of a body sets is the state around the body: that of loops is.
func (g *Graph) shares(path string) bool {
	for n := g.nodes[path[strings.LastIndexByte(path, '/')+1:]]; n != nil; n = n.body.owner {
		if n.body.owner != nil && n.body.owner.Kind != flow.Loop {
			return false
		}
	}
	return true
}

// reaches reports whether the run began the node: it has ended, or comes after the last one that has.
func (g *Graph) reaches(passed []Passed, before, n *node) bool {
	last := Passed{}
	for _, p := range passed {
		if p.Path == n.ID {
			return true
		}
		if before != nil && p.Path == before.ID {
			last = p
		}
	}
	failed := last.Status == Failed || last.Status == Cancelled
	switch {
	case before == nil:
		return n == g.root.nodes[0]
	case failed && before.failTo >= 0:
		return before.id(before.failTo) == n.ID
	case failed && before.OnError != Continue:
		return g.OnError == n.ID
	case last.Case != "":
		return last.Case == n.ID
	}
	return before.id(before.next) == n.ID
}
