package agentspec

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/graph"
	"github.com/toolcrib/toolcrib/tool"
)

// Source is a graph that is exported: a tool of the type graph, or composition.
type Source struct {
	Slug        string
	Name        string
	Description string
	// Implementation is the type; a graph when empty.
	Implementation tool.Implementation
	Config         json.RawMessage
	InputSchema    json.RawMessage
	OutputSchema   json.RawMessage
	Execution      json.RawMessage
}

// Known is what a graph uses, as far as it is known: descriptions and schemas are exported with it. A tool or agent
// that is missing is exported by its name alone.
type Known struct {
	Tools  map[string]Source // By slug; with a Config where the tool is a graph.
	Agents map[string]Agent  // By slug.
}

// Agent is an agent that a graph uses.
type Agent struct {
	Name         string
	Description  string
	Instructions string
	Model        string
	Tools        []string
}

// Exported is the outcome of an export.
type Exported struct {
	Document json.RawMessage `json:"document"` // JSON.
	// Losses are what other readers of the document do not see. What is kept in its metadata says so.
	Losses []Loss `json:"losses"`
}

// exporter makes a document.
type exporter struct {
	findings

	known   Known
	ids     names
	all     map[string]any // Components by id.
	tools   map[string]string
	outputs map[string][]property // Of the flows of graphs, by slug.
	flows   map[string]string     // Ids of flows by the slug of their graph.
	open    []string              // Slugs of the graphs around.
	catches bool
}

// definition returns the graph that is exported: that of a composition is the one that it stands for.
func (src *Source) definition() (*graph.Definition, error) {
	g, err := graph.Of(src.Implementation, src.Config, src.InputSchema)
	if err != nil {
		return nil, err
	}
	return g.AsGraph()
}

// Export makes a document of a graph or composition. It fails with [tool.Invalid] where the configuration is not sound.
func Export(src Source, known Known) (*Exported, error) {
	if _, err := src.definition(); err != nil {
		return nil, err
	}
	e := &exporter{
		known: known, ids: names{}, all: map[string]any{}, tools: map[string]string{},
		flows: map[string]string{}, outputs: map[string][]property{},
	}
	id := e.graphFlow(src)
	if err := e.err("agentspec.Export"); err != nil {
		return nil, err
	}
	root, _ := e.all[id].(map[string]any)
	delete(e.all, id)
	root[keyReferenced] = e.all
	root["agentspec_version"] = Version
	if e.catches {
		root["agentspec_version"] = "26.2.0"
	}
	return &Exported{encode(root), append([]Loss{}, e.losses...)}, nil
}

// component adds a component, and returns its id.
func (e *exporter) component(kind, id, name string, fields, own map[string]any) string {
	id = e.ids.unique(id)
	fields[keyType], fields["id"], fields["name"] = kind, id, name
	metadata := map[string]any{}
	if own != nil {
		metadata[keyOwn] = own
	}
	fields[keyMetadata] = metadata
	if fields["description"] == nil {
		fields["description"] = nil
	}
	e.all[id] = fields
	return id
}

func ref(id string) map[string]any { return map[string]any{keyRef: id} }

// decoded reads JSON; nil for none.
func decoded(raw json.RawMessage) any {
	if len(raw) == 0 {
		return nil
	}
	v, err := decodeJSON(raw)
	if err != nil {
		return nil
	}
	return v
}

// propertiesOf makes properties of the schema of an object.
func propertiesOf(raw json.RawMessage) []property {
	schema, _ := decoded(raw).(map[string]any)
	members, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	var out []property
	for _, name := range sortedKeys(members) {
		p := property{name: name, schema: map[string]any{}}
		if o, ok := members[name].(map[string]any); ok {
			for key, v := range o {
				switch key {
				case "title":
				case "default":
					p.fallback, p.has = v, true
				default:
					p.schema[key] = v
				}
			}
		}
		if !p.has && !slices.Contains(required, any(name)) {
			p.has = true // Null stands for what is not given.
		}
		out = append(out, p)
	}
	return out
}

// written writes properties as the format has them.
func written(all []property) []any {
	out := make([]any, 0, len(all))
	for _, p := range all {
		o := map[string]any{"title": p.name}
		maps.Copy(o, p.schema)
		if p.has {
			o["default"] = p.fallback
		}
		out = append(out, o)
	}
	return out
}

// graphFlow makes the flow of a graph, once, and returns its id.
func (e *exporter) graphFlow(src Source) string {
	if id, ok := e.flows[src.Slug]; ok {
		return id
	}
	def, err := src.definition()
	if err != nil {
		e.fault("", "the configuration of the graph %q is not sound: %s", src.Slug, tool.AsError(err).Msg)
		return ""
	}
	e.open = append(e.open, src.Slug)
	defer func() { e.open = e.open[:len(e.open)-1] }()
	id := e.ids.unique(src.Slug)
	e.flows[src.Slug] = id
	settings := *def
	settings.Nodes = nil
	own := map[string]any{"slug": src.Slug, "graph": decoded(encode(settings))}
	for name, raw := range map[string]json.RawMessage{
		"input_schema": src.InputSchema, "output_schema": src.OutputSchema, "execution": src.Execution,
	} {
		if v := decoded(raw); v != nil {
			own[name] = v
		}
	}
	inputs := propertiesOf(src.InputSchema)
	w := &flowWriter{exporter: e, prefix: id, nodes: def.Nodes, outer: nil, inputs: inputs, fromInput: true}
	if def.OnError != "" {
		own["on_error"] = id + "." + def.OnError
		e.lose("/on_error", Changed, "the node %q runs where the graph fails: others see a node that no edge leads to",
			def.OnError)
	}
	for name, raw := range map[string]json.RawMessage{"/state": def.State, "/state_schema": def.StateSchema} {
		if len(raw) > 0 {
			e.lose(name, Changed, "kept as metadata: flows have no state")
		}
	}
	name := src.Name
	if name == "" {
		name = src.Slug
	}
	w.write(id, name, src.Description, own, w.outputOf(def.Output))
	e.outputs[src.Slug] = w.common()
	return id
}

// toolComponent makes the component of a tool with the inputs and outputs of a node, once, and returns its id.
func (e *exporter) toolComponent(ref tool.Ref, inputs, outputs []property, path string) string {
	fields := map[string]any{"inputs": written(inputs), "outputs": written(outputs)}
	key := ref.String() + string(encode(fields))
	if id, ok := e.tools[key]; ok {
		return id
	}
	if src, ok := e.known.Tools[ref.Slug]; ok && src.Description != "" {
		fields["description"] = src.Description
	} else if !ok {
		e.lose(path, Needed, "the tool %q, of which no more than the name is known", ref.Slug)
	}
	id := e.component("ServerTool", "tool."+ref.Slug, ref.Slug, fields, map[string]any{"tool": ref.String()})
	e.tools[key] = id
	return id
}

// agentComponent makes the component of an agent, and returns its id.
func (e *exporter) agentComponent(ref tool.Ref, inputs, outputs []property, path string) string {
	a, ok := e.known.Agents[ref.Slug]
	if !ok {
		e.lose(path, Needed, "the agent %q, of which no more than the name is known", ref.Slug)
		a = Agent{Name: ref.Slug, Instructions: "See the agent " + ref.Slug + "."}
	}
	model := e.component("OpenAiCompatibleConfig", "model."+ref.Slug, a.Model, map[string]any{
		"url": "", "model_id": a.Model, "default_generation_parameters": nil,
	}, map[string]any{"model": a.Model})
	tools := []any{}
	for _, name := range a.Tools {
		if t, err := tool.ParseRef(name); err == nil {
			tools = append(tools, map[string]any{keyRef: e.toolComponent(t, propertiesOf(e.known.Tools[t.Slug].InputSchema),
				nil, path)})
		}
	}
	prompt := a.Instructions
	var promptSb233 strings.Builder
	for _, p := range inputs { // Inputs are the placeholders of the prompt.
		promptSb233.WriteString("\n\n" + p.name + ": {{" + p.name + "}}")
	}
	prompt += promptSb233.String()
	fields := map[string]any{
		"inputs": written(inputs), "outputs": written(outputs), "llm_config": map[string]any{keyRef: model},
		"system_prompt": prompt, "tools": tools, "human_in_the_loop": false,
	}
	if a.Description != "" {
		fields["description"] = a.Description
	}
	return e.component("Agent", "agent."+ref.Slug, a.Name, fields, map[string]any{"agent": ref.String()})
}
