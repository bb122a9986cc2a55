package agentspec

import (
	"encoding/json"

	"github.com/toolcrib/toolcrib/graph"
	"github.com/toolcrib/toolcrib/tool"
)

// Options are what an import takes from outside of the document.
type Options struct {
	// Slug is that of the graph, or agent; made of its name when empty.
	Slug string
	// Model is the model of all prompts and agents, such as openai/gpt-4.1-mini, instead of those of the document.
	Model string
	// Draft leaves definitions unpublished.
	Draft bool
}

// Imported is the outcome of an import.
type Imported struct {
	// Slug is that of the graph, or of the agent where the document is one.
	Slug string `json:"slug"`
	// Definitions are what has to be applied, what others use first.
	Definitions []json.RawMessage `json:"definitions"`
	// Losses are what the definitions lack, do differently or need, in the order of the document.
	Losses []Loss `json:"losses"`
}

// definition is a tool or an agent, in the order in which it is written.
type definition struct {
	Kind             string   `json:"kind"`
	Slug             string   `json:"slug"`
	Name             string   `json:"name,omitempty"`
	Description      string   `json:"description,omitempty"`
	Version          string   `json:"version"`
	Publish          bool     `json:"publish,omitempty"`
	EgressClass      string   `json:"egress_class,omitempty"`
	PermissionPolicy string   `json:"permission_policy,omitempty"`
	Model            string   `json:"model,omitempty"`
	ModelOptions     any      `json:"model_options,omitempty"`
	Instructions     string   `json:"instructions,omitempty"`
	Tools            []string `json:"tools,omitempty"`
	Implementation   string   `json:"implementation_type,omitempty"`
	Config           any      `json:"implementation_config,omitempty"`
	InputSchema      any      `json:"input_schema,omitempty"`
	OutputSchema     any      `json:"output_schema,omitempty"`
	Interaction      any      `json:"interaction,omitempty"`
	Execution        any      `json:"execution,omitempty"`
}

// importer makes definitions of a document.
type importer struct {
	flowReader

	in     Options
	slugs  names
	made   map[string]string // Slugs by path of the component that they were made of.
	agents map[string][]property
	out    []json.RawMessage
	depth  int
}

// Import makes definitions of a document of at most [MaxDocument] bytes, JSON or YAML, whose component is a Flow or
// an Agent. It fails with [tool.Invalid], the path of the first fault and [Faults] as its cause.
func Import(raw []byte, in Options) (*Imported, error) {
	im := &importer{
		flowReader: flowReader{findings: &findings{}}, in: in, slugs: names{}, made: map[string]string{},
		agents: map[string][]property{},
	}
	out := &Imported{}
	if root, err := decode(raw); err != nil {
		im.fault("", "%s", err)
	} else {
		out.Slug = im.root(root)
	}
	if err := im.err("agentspec.Import"); err != nil {
		return nil, err
	}
	out.Definitions, out.Losses = im.out, append([]Loss{}, im.losses...)
	return out, nil
}

// versions are the versions of the format that are read.
var versions = map[string]bool{
	"25.4.1": true, "25.4.2": true, "26.1.0": true, "26.1.1": true, Version: true, "26.2.0": true,
}

func (im *importer) root(fields map[string]any) string {
	c := im.component(fields, "", nil)
	if c == nil {
		return ""
	}
	if im.in.Slug != "" && !tool.ValidSlug(im.in.Slug) {
		im.fault("", "slug %.80q: want a letter, then letters, digits, _ or -, at most 64", im.in.Slug)
		return ""
	}
	if v := c.text("agentspec_version"); !versions[v] {
		im.lose("/agentspec_version", Changed, "version %.20q is read as %s", v, Version)
	}
	if im.in.Slug != "" {
		im.slugs[im.in.Slug] = true
		im.made[""] = im.in.Slug
	}
	switch c.kind() {
	case "Flow":
		if f := im.flow(c); f != nil {
			return im.graph(f)
		}
	case "Agent":
		return im.agent(c)
	case "":
		im.fault("/"+keyType, "this is no Agent Spec document: it has no %s", keyType)
	default:
		im.fault("/"+keyType, "a document of type %.80q has no counterpart: want Flow or Agent", c.kind())
	}
	return ""
}

// claim returns the slug of what is made of a component, and whether it is yet to be made.
func (im *importer) claim(c *component, otherwise string) (slug string, fresh bool) {
	if slug, ok := im.made[c.path]; ok && (c.path != "" || im.depth > 0) {
		return slug, false
	}
	if c.path == "" && im.in.Slug != "" {
		return im.in.Slug, true
	}
	slug = slugOf(c.text("name"), otherwise)
	if own, ok := c.own()["slug"].(string); ok && tool.ValidSlug(own) {
		slug = own
	}
	slug = im.slugs.take(slug)
	im.made[c.path] = slug
	return slug, true
}

// add adds a definition with what all have.
func (im *importer) add(c *component, d definition) {
	d.Version, d.Publish = "1.0.0", !im.in.Draft
	if d.Name == "" {
		d.Name = c.text("name")
	}
	if d.Description == "" {
		d.Description = c.text("description")
	}
	if d.Description == "" {
		d.Description = d.Name
	}
	im.out = append(im.out, encode(d))
}

// graph makes a tool of the type graph of a flow, and returns its slug.
func (im *importer) graph(f *flowSpec) string {
	slug, fresh := im.claim(f.component, "graph")
	if !fresh {
		return slug
	}
	im.depth++
	defer func() { im.depth-- }()
	b := &builder{importer: im, ids: names{}, branches: branchNames(f)}
	nodes := b.body(f, inputOf)
	if len(im.faults) > 0 {
		return slug
	}
	def := graph.Definition{Nodes: nodes}
	own := f.own()
	if own != nil {
		im.ownGraph(f, own, &def)
	}
	d := definition{Kind: "tool", Slug: slug, Implementation: string(tool.Graph), Config: def}
	d.InputSchema = objectSchema(f.inputs, true)
	if given, ok := own["input_schema"].(map[string]any); ok && sameNames(given, f.inputs) {
		d.InputSchema = given
	}
	if given, ok := own["output_schema"].(map[string]any); ok {
		d.OutputSchema = given
	}
	if x, ok := own["execution"].(map[string]any); ok {
		d.Execution = x
	}
	if _, err := graph.Parse(encode(def), encode(d.InputSchema)); err != nil {
		for _, fault := range graph.FaultsOf(err) {
			im.fault(f.path, "the flow %.80q makes no sound graph: %s: %s", f.text("name"), fault.Path, fault.Msg)
		}
		return slug
	}
	im.add(f.component, d)
	return slug
}

// inputOf binds to an input of the graph.
func inputOf(p property) any {
	b := any(reference("input", p.name))
	if p.has {
		b = orElse(b, p.fallback)
	}
	return b
}

// branchNames returns the names of the branches that a flow ends through, where there are several.
func branchNames(f *flowSpec) map[string]bool {
	out := map[string]bool{}
	for _, n := range f.nodes {
		if n.kind == endNode {
			out[endBranch(n)] = true
		}
	}
	if len(out) < 2 {
		return nil
	}
	return out
}

func endBranch(n *nodeSpec) string {
	if name := n.text("branch_name"); name != "" {
		return name
	}
	return nextBranch
}

// sameNames reports whether a schema has just the properties that a flow has.
func sameNames(schema map[string]any, all []property) bool {
	members, _ := schema["properties"].(map[string]any)
	if len(members) != len(all) {
		return false
	}
	for _, p := range all {
		if _, ok := members[p.name]; !ok {
			return false
		}
	}
	return true
}
