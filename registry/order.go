package registry

import (
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/tool"
)

// brought is what a batch of definitions publishes, by kind and slug. Nil
// brings nothing.
type brought map[string]Definition

// newBrought returns what is published with a batch.
func newBrought(batch []Definition) brought {
	b := make(brought)
	for _, d := range batch {
		if d.Tool != nil && d.Tool.wanted() || d.Agent != nil && d.Agent.wanted() {
			b[nameOf(d)] = d
		}
	}
	return b
}

func nameOf(d Definition) string { return d.Kind() + " " + d.Slug() }

// Order lists the places of the definitions of a batch in the order in which
// they can be applied: servers, artifacts and pipelines first, then each tool
// and agent after its dependencies. Tools and agents that depend on themselves
// are in no particular order, and are returned in cycles, by place, with an
// error that names the whole cycle.
func (r *Registry) Order(batch []Definition) (order []int, cycles map[int]error) {
	o := ordering{
		batch: batch, places: make(map[string]int), state: make([]visit, len(batch)), cycles: make(map[int]error),
	}
	var first, others, agents []int
	for i, d := range batch {
		switch {
		case d.Tool != nil:
			o.places[nameOf(d)] = i
			others = append(others, i)
		case d.Agent != nil:
			o.places[nameOf(d)] = i
			agents = append(agents, i)
		default:
			first = append(first, i)
		}
	}
	o.order = first
	for _, i := range slices.Concat(others, agents) {
		o.visit(r, i)
	}
	return o.order, o.cycles
}

// visit says how far the ordering has come with a definition.
type visit int

const (
	unvisited visit = iota
	entered
	left
)

type ordering struct {
	batch  []Definition
	places map[string]int // Of tools and agents, by kind and slug.
	state  []visit
	line   []int // Entered, and not left.
	order  []int
	cycles map[int]error
}

func (o *ordering) visit(r *Registry, i int) {
	switch o.state[i] {
	case left:
		return
	case entered:
		o.cycle(i)
		return
	case unvisited:
	}
	o.state[i] = entered
	o.line = append(o.line, i)
	for _, name := range r.madeOf(o.batch[i]) {
		if below, ok := o.places[name]; ok {
			o.visit(r, below)
		}
	}
	o.line = o.line[:len(o.line)-1]
	o.state[i] = left
	o.order = append(o.order, i)
}

// cycle records the error of the cycle from the definition at place i back to
// it.
func (o *ordering) cycle(i int) {
	var names []string
	for _, at := range append(o.line[slices.Index(o.line, i):], i) {
		names = append(names, nameOf(o.batch[at]))
	}
	last := o.line[len(o.line)-1]
	o.cycles[last] = refuse(tool.Conflict, "", "%s: what calls itself never ends", strings.Join(names, " -> "))
}

// madeOf names what a definition is made of, as far as that is named by slugs.
func (r *Registry) madeOf(d Definition) []string {
	var names []string
	add := func(kind string, ref tool.Ref) {
		if ref.Slug != "" {
			names = append(names, kind+" "+ref.Slug)
		}
	}
	if d.Agent != nil {
		for _, ref := range d.Agent.Tools {
			add("tool", ref)
		}
		return names
	}
	content := d.Tool.Definition
	content.Implementation = content.ImplementationType()
	parts, err := r.partsOf(&content)
	if err != nil { // Checking the definition reports it.
		return nil
	}
	if parts.Agent != nil {
		add("agent", parts.Agent.Ref)
	}
	for _, step := range parts.Steps {
		add("tool", step.Tool)
	}
	return names
}
