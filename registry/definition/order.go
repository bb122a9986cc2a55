package definition

import (
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/tool"
)

// Batch holds the tools and agents that a list of definitions publishes, by kind
// and slug. A nil Batch publishes nothing.
type Batch map[string]Definition

// NewBatch returns the tools and agents that a list of definitions publishes.
func NewBatch(list []Definition) Batch {
	b := make(Batch)
	for _, d := range list {
		if d.Tool != nil && d.Tool.AsksToPublish() || d.Agent != nil && d.Agent.AsksToPublish() {
			b[nameOf(d)] = d
		}
	}
	return b
}

// Tool returns the tool of a slug that the batch publishes; nil for none.
func (b Batch) Tool(slug string) *ToolSpec { return b["tool "+slug].Tool }

// Agent returns the agent of a slug that the batch publishes; nil for none.
func (b Batch) Agent(slug string) *AgentSpec { return b["agent "+slug].Agent }

func nameOf(d Definition) string { return d.Kind() + " " + d.Slug() }

// Order returns the indexes of a batch in the order in which its definitions can
// be applied: servers, artifacts, pipelines and profiles first, then each tool and agent
// after its dependencies, then toolsets. Those that depend on themselves are in no particular
// order; cycles holds, by index, an error that names the whole cycle. parts
// returns the dependencies of a tool's calls.
func Order(
	batch []Definition, parts func(*tool.Definition) (agent.Parts, error),
) (order []int, cycles map[int]error) {
	o := ordering{
		parts: parts, batch: batch, places: make(map[string]int), state: make([]visit,
			len(batch)), cycles: make(map[int]error),
	}
	var first, others, agents, last []int
	for i, d := range batch {
		switch {
		case d.Tool != nil:
			o.places[nameOf(d)] = i
			others = append(others, i)
		case d.Agent != nil:
			o.places[nameOf(d)] = i
			agents = append(agents, i)
		case d.Toolset != nil:
			last = append(last, i)
		default:
			first = append(first, i)
		}
	}
	o.order = first
	for _, i := range slices.Concat(others, agents) {
		o.visit(i)
	}
	return append(o.order, last...), o.cycles
}

// visit is the state of a definition in the depth-first search.
type visit int

const (
	unvisited visit = iota
	entered
	left
)

type ordering struct {
	parts  func(*tool.Definition) (agent.Parts, error)
	batch  []Definition
	places map[string]int // Of tools and agents, by kind and slug.
	state  []visit
	line   []int // Entered, and not left.
	order  []int
	cycles map[int]error
}

func (o *ordering) visit(i int) {
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
	for _, name := range o.dependencies(o.batch[i]) {
		if below, ok := o.places[name]; ok {
			o.visit(below)
		}
	}
	o.line = o.line[:len(o.line)-1]
	o.state[i] = left
	o.order = append(o.order, i)
}

// cycle records the error of the cycle through the definition at index i.
func (o *ordering) cycle(i int) {
	var names []string
	for _, at := range append(o.line[slices.Index(o.line, i):], i) {
		names = append(names, nameOf(o.batch[at]))
	}
	last := o.line[len(o.line)-1]
	o.cycles[last] = refusal.New(tool.Conflict, "", "%s: the calls form a cycle", strings.Join(names, " -> "))
}

// dependencies lists the dependencies of a definition that are named by slugs.
func (o *ordering) dependencies(d Definition) []string {
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
	parts, err := o.parts(&content)
	if err != nil { // Checking the definition reports it.
		return nil
	}
	if parts.Agent != nil {
		add("agent", parts.Agent.Ref)
	}
	for _, step := range parts.Steps {
		add("tool", step.Tool)
	}
	for i := range parts.Agents {
		add("agent", parts.Agents[i].Ref)
	}
	return names
}

// CheckNames fails with tool.Conflict if a definition publishes a tool with an
// alias or a former name that another definition of the batch uses as its slug, or
// publishes as a further name too.
func CheckNames(d Definition, batch []Definition) error {
	if d.Tool == nil || !d.Tool.AsksToPublish() {
		return nil
	}
	for _, name := range FurtherNames(d.Tool.Interaction) {
		for _, other := range batch {
			switch o := other.Tool; {
			case o == nil || o.Slug == d.Tool.Slug:
			case o.Slug == name:
				return refusal.New(tool.Conflict, NamesPath, "%q is the slug of another definition, which calls by that name reach",
					name)
			case o.AsksToPublish() && slices.Contains(FurtherNames(o.Interaction), name):
				return refusal.New(tool.Conflict, NamesPath, "the name %q stands in the definition of tool %q too", name, o.Slug)
			}
		}
	}
	return nil
}
