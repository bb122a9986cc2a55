package graph

import (
	"slices"
	"strconv"

	"github.com/toolcrib/toolcrib/graph/flow"
)

// Needs returns which records a step is evaluated on, or the arguments of its call.
func (g *Graph) Needs(s flow.Step) Needs {
	w := wants{}
	n := g.nodes[s.Node]
	if n == nil {
		return Needs{}
	}
	sc := scope{g: g, body: n.body, step: s, frame: s.Frame}
	w.add(s.State, s.Failed, nearest(s.Frame, n.body, flow.Map))
	if nearest(s.Frame, n.body, flow.Loop) != "" {
		path, _ := sc.lastPath()
		w.add(path)
	}
	path := flow.Join(s.Frame, s.Node)
	switch s.Do {
	case flow.PhaseCall:
		w.refs(&sc, n.arguments)
	case flow.PhaseBegin:
		w.conditions(&sc, n.when, n.while)
		for _, c := range n.cases {
			w.conditions(&sc, c.when)
		}
		w.refs(&sc, n.over, n.wait, n.output)
		if n.Kind == flow.Loop {
			w.add(flow.Join(path, strconv.Itoa(s.Iteration-1)))
		}
	case flow.PhaseClose:
		switch n.Kind { //nolint:exhaustive // Others have no bodies.
		case flow.Map, flow.Parallel:
			w.below = path
		case flow.Loop:
			w.add(flow.Join(path, strconv.Itoa(s.Iteration-1)))
		}
	case flow.PhaseOutput, flow.PhaseSleep, flow.PhasePause, flow.PhaseBodies:
	}
	for _, set := range n.set {
		w.refs(&sc, set.value)
	}
	if s.Ends || s.Do == flow.PhaseOutput {
		w.refs(&sc, n.body.output)
		if s.Last != "" {
			w.add(flow.Join(s.Frame, s.Last))
		}
	}
	return Needs{Paths: w.paths, Below: w.below}
}

// wants collects paths.
type wants struct {
	paths []string
	below string
}

func (w *wants) add(paths ...string) {
	for _, p := range paths {
		if p != "" && !slices.Contains(w.paths, p) {
			w.paths = append(w.paths, p)
		}
	}
}

func (w *wants) refs(s *scope, all ...*bound) {
	for _, b := range all {
		if b == nil {
			continue
		}
		for _, id := range b.refs {
			w.add(s.nodePath(id))
		}
	}
}

func (w *wants) conditions(s *scope, all ...*condition) {
	for _, c := range all {
		if c == nil {
			continue
		}
		for _, id := range c.refs {
			w.add(s.nodePath(id))
		}
	}
}
