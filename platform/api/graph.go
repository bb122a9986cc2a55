package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/toolcrib/toolcrib/graph"
	"github.com/toolcrib/toolcrib/graph/draw"
	"github.com/toolcrib/toolcrib/platform/agentspec"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

type graphInput struct {
	ToolPath
	Version string `query:"version" maxLength:"100" doc:"Number of a version; the draft when absent" example:"1.0.0"`
	Run     string `query:"run" maxLength:"64" doc:"Id of a run: each node gets its status in it. Requires runs.read"`
}

type exportGraphInput struct {
	ToolPath
	Version string `query:"version" maxLength:"100" doc:"Number of a version; the draft when absent" example:"1.0.0"`
}

type diffGraphInput struct {
	ToolPath
	From string `query:"from" maxLength:"100" doc:"Number of a version; the draft when absent" example:"1.0.0"`
	To   string `query:"to" maxLength:"100" doc:"Number of a version; the draft when absent" example:"1.1.0"`
}

func (s *server) registerGraphs() {
	handle(s, route{
		id: "validateGraph", method: http.MethodPost, path: "/v1/graphs/validate", tag: "graphs", permission: ToolsRead,
		summary: "Check the configuration of a graph or composition", maxBody: MaxApplyBytes,
		detail: "Reports every fault with its place, and changes nothing. Whether the tools and agents of its nodes exist " +
			"is checked by `apply` with `dry_run`.",
	}, s.validateGraph)
	handle(s, route{
		id: "showGraph", method: http.MethodGet, path: "/v1/tools/{tool}/graph", tag: "graphs", permission: ToolsRead,
		summary: "Show and draw a graph or composition",
		detail: "Its nodes in the order of the definition with where they lead, a picture as SVG and a flowchart of " +
			"Mermaid; with `run`, with the statuses of the nodes in that run.",
	}, s.showGraph)
	handle(s, route{
		id: "diffGraph", method: http.MethodGet, path: "/v1/tools/{tool}/graph/diff", tag: "graphs", permission: ToolsRead,
		summary: "Compare two versions of a graph, node by node",
		detail: "Nodes that were added, removed and changed: where they lead, their conditions, and each binding. " +
			"`diffTool` " +
			"tells how a change weighs for callers.",
	}, s.diffGraph)
	handle(s, route{
		id: "exportGraph", method: http.MethodGet, path: "/v1/tools/{tool}/graph/export", tag: "graphs",
		permission: ToolsRead,
		summary:    "Export a graph as an Agent Spec document",
		detail: "A document of Open Agent Specification " + agentspec.Version + ", and a list of all that other readers " +
			"of it do not see. Agents are described in it where the key has agents.read; otherwise their names stand alone.",
	}, s.exportGraph)
	handle(s, route{
		id: "importGraph", method: http.MethodPost, path: "/v1/graphs/import", tag: "graphs", permission: ToolsRead,
		summary: "Make definitions of an Agent Spec document", maxBody: MaxApplyBytes,
		detail: "Makes definitions of a flow or an agent: graphs, http tools, prompt tools, client tools and agents, " +
			"ready for `apply`, with a list of all that was dropped, is done differently, or has to exist. Nothing is " +
			"written or fetched. " +
			"A document that has no counterpart is refused with all its faults.",
	}, s.importGraph)
}

func (s *server) validateGraph(
	_ context.Context, _ tool.Principal, in *body[v1.ValidateGraph],
) (*body[v1.ValidatedGraph], error) {
	out := v1.ValidatedGraph{Faults: []v1.GraphFault{}}
	if _, err := graph.Of(graph.TypeOf(in.Body.Config), in.Body.Config, in.Body.InputSchema); err != nil {
		for _, f := range graph.FaultsOf(err) {
			out.Faults = append(out.Faults, v1.GraphFault{Path: f.Path, Message: f.Msg})
		}
	}
	out.Sound = len(out.Faults) == 0
	return answer(out), nil
}

// graphOf returns a graph or composition as the API shows it, and compiled: the draft, or a version.
func (s *server) graphOf(
	ctx context.Context, p tool.Principal, name, version string,
) (agentspec.Source, *graph.Graph, error) {
	var src agentspec.Source
	t, err := s.findTool(ctx, p, name)
	if err != nil {
		return src, nil, err
	}
	if src, err = s.sourceOf(ctx, p, t, version); err != nil {
		return src, nil, err
	}
	if src.Config == nil {
		return src, nil, &tool.Error{
			Kind: tool.Conflict, Op: "api.graphOf", Msg: fmt.Sprintf("tool %q is no graph: it is of type %s", t.Slug,
				t.Implementation),
		}
	}
	g, err := graph.Of(src.Implementation, src.Config, src.InputSchema)
	return src, g, err
}

// sourceOf returns what an export needs of a tool; without a configuration where it is no graph.
func (s *server) sourceOf(
	ctx context.Context, p tool.Principal, t tool.Tool, version string,
) (agentspec.Source, error) {
	shown := v1.FromTool(t)
	src := agentspec.Source{
		Slug: t.Slug, Name: shown.Name, Description: shown.Description, InputSchema: shown.InputSchema,
		OutputSchema: shown.OutputSchema,
	}
	config, kind, execution := shown.Config, shown.Implementation, any(shown.Execution)
	if version != "" {
		found, err := s.getToolVersion(ctx, p, &toolVersionInput{ToolPath: ToolPath{Tool: t.ID}, Version: version})
		if err != nil {
			return src, err
		}
		d := found.Body.Definition
		src.Name, src.Description = d.Name, d.Description
		src.InputSchema, src.OutputSchema = d.InputSchema, d.OutputSchema
		config, kind, execution = d.Config, d.Implementation, d.Execution
	}
	if !graph.Is(kind) {
		return src, nil
	}
	src.Config, src.Implementation = config, kind
	raw, err := json.Marshal(execution)
	if err != nil {
		return src, fmt.Errorf("encoding the execution of %s: %w", t.Slug, err)
	}
	src.Execution = raw
	return src, nil
}

func (s *server) showGraph(ctx context.Context, p tool.Principal, in *graphInput) (*body[v1.Graph], error) {
	src, g, err := s.graphOf(ctx, p, in.Tool, in.Version)
	if err != nil {
		return nil, err
	}
	picture := draw.Of(cmp.Or(src.Name, src.Slug), &g.Definition)
	if in.Run != "" {
		if !p.May(RunsRead) {
			return nil, &tool.Error{
				Kind: tool.Denied, Op: "api.showGraph", Msg: fmt.Sprintf("the caller lacks the permission %q", RunsRead),
			}
		}
		statuses, err := s.nodeStatuses(ctx, p, src, in.Run)
		if err != nil {
			return nil, err
		}
		picture.Run(statuses)
	}
	out := v1.Graph{
		Tool: src.Slug, Version: in.Version, Steps: []v1.GraphStep{}, SVG: picture.SVG(), Mermaid: picture.Mermaid(),
	}
	for _, step := range picture.Outline() {
		out.Steps = append(out.Steps, v1.GraphStep(step))
	}
	return answer(out), nil
}

// nodeStatuses returns the statuses of the nodes of a graph in a run, by path.
func (s *server) nodeStatuses(
	ctx context.Context, p tool.Principal, src agentspec.Source, run string,
) (map[string]graph.Status, error) {
	if _, err := s.cfg.Store.FindRun(ctx, p.Tenant, run); err != nil {
		return nil, err
	}
	if src.Implementation == tool.Composition {
		return s.stepStatuses(ctx, p, src.Slug, run)
	}
	called, err := s.lastCall(ctx, p, src.Slug, run)
	if err != nil || called == nil {
		return nil, err
	}
	out := map[string]graph.Status{}
	for after := int64(0); ; {
		found, err := s.cfg.Store.ListNodes(ctx, p.Tenant, run, after, v1.MaxLimit)
		if err != nil {
			return nil, fmt.Errorf("listing the nodes of run %s: %w", run, err)
		}
		for _, r := range found {
			if after = r.Place; r.Graph == called.EffectID {
				out[r.Path] = r.Status
			}
		}
		if len(found) < v1.MaxLimit {
			return out, nil
		}
	}
}

// stepStatuses returns the statuses of the steps of a composition that a run called. Their calls are
// the record of them.
func (s *server) stepStatuses(
	ctx context.Context, p tool.Principal, slug, run string,
) (map[string]graph.Status, error) {
	whole, err := s.lastCall(ctx, p, slug, run)
	if err != nil || whole == nil {
		return nil, err
	}
	steps, err := s.cfg.Store.ListInvocations(ctx, p.Tenant, store.InvocationQuery{
		Parent: whole.InvocationID, Limit: graph.MaxSequence,
	})
	out := make(map[string]graph.Status, len(steps))
	for i := range steps {
		out[graph.StepOf(steps[i].CallID)] = graph.CallStatus(steps[i].Status, steps[i].IsError)
	}
	return out, err
}

// lastCall returns the last call of a tool in a run; nil where there is none.
func (s *server) lastCall(ctx context.Context, p tool.Principal, slug, run string) (*tool.Invocation, error) {
	found, err := s.cfg.Store.ListInvocations(ctx, p.Tenant, store.InvocationQuery{RunID: run, Tool: slug, Limit: 1})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

func (s *server) diffGraph(ctx context.Context, p tool.Principal, in *diffGraphInput) (*body[v1.GraphDiff], error) {
	_, before, err := s.graphOf(ctx, p, in.Tool, in.From)
	if err != nil {
		return nil, err
	}
	src, after, err := s.graphOf(ctx, p, in.Tool, in.To)
	if err != nil {
		return nil, err
	}
	out := v1.GraphDiff{Tool: src.Slug, From: in.From, To: in.To, Changes: []v1.GraphChange{}}
	for _, c := range graph.Diff(&before.Definition, &after.Definition) {
		out.Changes = append(out.Changes, v1.GraphChange(c))
	}
	return answer(out), nil
}

func (s *server) exportGraph(
	ctx context.Context, p tool.Principal, in *exportGraphInput,
) (*body[v1.ExportedGraph], error) {
	src, _, err := s.graphOf(ctx, p, in.Tool, in.Version)
	if err != nil {
		return nil, err
	}
	known := agentspec.Known{Tools: map[string]agentspec.Source{}, Agents: map[string]agentspec.Agent{}}
	if err := s.gather(ctx, p, src, known); err != nil {
		return nil, err
	}
	exported, err := agentspec.Export(src, known)
	if err != nil {
		return nil, err
	}
	out := v1.ExportedGraph{Document: exported.Document, Losses: graphLosses(exported.Losses)}
	if bytes.Contains(exported.Document, []byte(tool.Redacted)) {
		out.Losses = append(out.Losses, v1.GraphLoss{
			What:   agentspec.Dropped,
			Reason: "values that look like secrets are not shown: set them where the document is imported",
		})
	}
	return answer(out), nil
}

// gather finds what a graph uses, and what the graphs in it use. What the caller may not see stays out.
func (s *server) gather(ctx context.Context, p tool.Principal, src agentspec.Source, known agentspec.Known) error {
	g, err := graph.Of(src.Implementation, src.Config, src.InputSchema)
	if err != nil { // The export says so, where it is the graph's own.
		return nil //nolint:nilerr // It is exported by name.
	}
	for _, part := range g.Parts() {
		if slug := part.Agent.Slug; slug != "" && p.May(AgentsRead) {
			a, err := s.cfg.Registry.GetAgent(ctx, p, slug)
			switch {
			case tool.KindOf(err) == tool.NotFound:
			case err != nil:
				return err
			default:
				shown := v1.FromAgent(a)
				known.Agents[slug] = agentspec.Agent{
					Name: cmp.Or(shown.Name, slug), Description: shown.Description, Instructions: shown.Instructions,
					Model: shown.Model, Tools: shown.Tools,
				}
			}
		}
		slug := part.Tool.Slug
		if _, have := known.Tools[slug]; have || slug == "" {
			continue
		}
		t, err := s.findTool(ctx, p, slug)
		switch {
		case tool.KindOf(err) == tool.NotFound:
			continue
		case err != nil:
			return err
		}
		below, err := s.sourceOf(ctx, p, t, "")
		if err != nil {
			return err
		}
		known.Tools[slug] = below
		if below.Config != nil {
			if err := s.gather(ctx, p, below, known); err != nil {
				return err
			}
		}
	}
	return nil
}

func graphLosses(all []agentspec.Loss) []v1.GraphLoss {
	out := make([]v1.GraphLoss, len(all))
	for i, l := range all {
		out[i] = v1.GraphLoss(l)
	}
	return out
}

func (s *server) importGraph(
	_ context.Context, _ tool.Principal, in *body[v1.ImportGraph],
) (*body[v1.ImportedGraph], error) {
	raw := []byte(in.Body.Document)
	var text string
	if json.Unmarshal(raw, &text) == nil {
		raw = []byte(text)
	}
	made, err := agentspec.Import(raw, agentspec.Options{Slug: in.Body.Slug, Model: in.Body.Model, Draft: in.Body.Draft})
	if err != nil {
		return nil, err
	}
	return answer(v1.ImportedGraph{Slug: made.Slug, Definitions: made.Definitions, Losses: graphLosses(made.Losses)}), nil
}
