package registry

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
)

// Bounds of nested calls.
const (
	maxNesting = 4   // Depth of compositions, the outer one counted.
	maxPlanned = 500 // Calls of a composition, those of nested ones included.
)

// node is a tool or an agent that the walk visits.
type node struct {
	kind string // "tool" or "agent".
	slug string
	id   string
}

func (n node) String() string { return n.kind + " " + n.slug }

func (n node) key() string { return n.kind + " " + n.id }

// extent summarizes the dependencies of a node.
type extent struct {
	calls   int             // Number of calls that one call of a tool is planned as.
	nesting []string        // The longest path of compositions, from the node down.
	agents  []string        // The longest path of agents, from the node down.
	reached map[string]bool // All nodes below, by kind and id.
}

// walk is a depth-first search through the dependencies of the tool or agent that is
// published.
type walk struct {
	r       *Registry
	as      tool.Principal
	root    string // Slug of the tool that is to be published; empty for an agent.
	batch   definition.Batch
	line    []node // The path from the root to the current node.
	seen    map[string]extent
	at      string // JSON Pointer, in the root's definition, of the current dependency.
	missing error  // The first missing dependency. A cycle is reported before it.
}

// newWalk returns a walk through the tools and agents of a tenant, with all
// permissions: permissions are checked at each call.
func (r *Registry) newWalk(tenant tool.TenantID, batch definition.Batch) *walk {
	return &walk{
		r: r, batch: batch, seen: make(map[string]extent),
		as: tool.Principal{Tenant: tenant, Subject: "registry", Permissions: []string{"*"}},
	}
}

// refuse returns a Conflict with the path of nodes that leads to the fault.
func (w *walk) refuse(format string, args ...any) *tool.Error {
	return refusal.New(tool.Conflict, w.at, "%s: %s", w.path(), fmt.Sprintf(format, args...))
}

// path names the nodes from the root to the current one.
func (w *walk) path(more ...node) string {
	var names []string
	for _, n := range slices.Concat(w.line, more) {
		names = append(names, n.String())
	}
	return strings.Join(names, " -> ")
}

// miss records the first missing dependency.
func (w *walk) miss(err error) {
	if w.missing == nil {
		e := tool.AsError(err)
		w.missing = &tool.Error{
			Kind: e.Kind, Op: "registry", Path: w.at, Msg: w.path() + ": " + e.Msg, RetryAfter: e.RetryAfter, Err: err,
		}
	}
}

// down enters a node. It fails if the node is on the current path.
func (w *walk) down(n node) error {
	for _, above := range w.line {
		if above.kind == n.kind && above.id == n.id {
			return refusal.New(tool.Conflict, w.at, "%s: the calls form a cycle", w.path(n))
		}
	}
	w.line = append(w.line, n)
	return nil
}

// known returns what an earlier walk through a node found, unless that walk led
// to a node on the current path: the node is then walked again, to report the
// cycle.
func (w *walk) known(key string) (extent, bool) {
	e, ok := w.seen[key]
	for _, above := range w.line {
		ok = ok && !e.reached[above.key()]
	}
	return e, ok
}

func (w *walk) up() { w.line = w.line[:len(w.line)-1] }

// tool visits a tool with the given content, and its dependencies.
func (w *walk) tool(ctx context.Context, n node, d *tool.Definition) (extent, error) {
	content := *d
	parts, err := w.r.partsOf(&content)
	if err != nil && len(w.line) > 0 {
		err = w.refuse("%s cannot run: %s", n, tool.AsError(err).Msg)
	}
	if err != nil || parts.IsZero() {
		return extent{calls: 1}, err
	}
	if err := w.down(n); err != nil {
		return extent{}, err
	}
	defer w.up()
	if parts.Agent != nil {
		w.enter("/implementation_config" + parts.Agent.Path)
		below, err := w.agentOf(ctx, parts.Agent)
		below.calls, below.nesting = 1, nil // The agent's run has a plan of its own.
		below.reach(n)
		return below, err
	}
	e := extent{calls: 1}
	e.reach(n)
	for _, step := range parts.Steps {
		w.enter("/implementation_config" + step.Path)
		below, err := w.step(ctx, step, d, parts.Waits)
		if err != nil {
			return e, err
		}
		e.include(below)
	}
	for i := range parts.Agents {
		w.enter("/implementation_config" + parts.Agents[i].Path)
		below, err := w.agentOf(ctx, &parts.Agents[i])
		if err != nil {
			return e, err
		}
		below.calls, below.nesting = 1, nil // The agent's run has a plan of its own.
		e.include(below)
	}
	e.nesting = append([]string{n.slug}, e.nesting...)
	switch {
	case len(e.nesting) > maxNesting:
		return e, w.refuse("compositions nest %d deep (%s): at most %d", len(e.nesting), strings.Join(e.nesting, " -> "),
			maxNesting)
	case e.calls > maxPlanned:
		return e, w.refuse("a call of %s makes %d calls: at most %d", n, e.calls, maxPlanned)
	}
	return e, nil
}

// enter records the place of a dependency in the root's definition.
func (w *walk) enter(path string) {
	if len(w.line) == 1 {
		w.at = path
	}
}

// include adds the extent of a dependency.
func (e *extent) include(below extent) {
	e.calls += below.calls
	for key := range below.reached {
		e.reached[key] = true
	}
	if len(below.nesting) > len(e.nesting) {
		e.nesting = below.nesting
	}
	if len(below.agents) > len(e.agents) {
		e.agents = below.agents
	}
}

// reach adds a node. It copies the set, which other extents may share.
func (e *extent) reach(n node) {
	e.reached = maps.Clone(e.reached)
	if e.reached == nil {
		e.reached = make(map[string]bool)
	}
	e.reached[n.key()] = true
}

// step visits the tool of a composition's step, or of a graph's node; waits says that somebody
// else may answer it.
func (w *walk) step(
	ctx context.Context, step agent.StepPart, composition *tool.Definition, waits bool,
) (extent, error) {
	found, err := w.resolve(ctx, step.Tool, len(w.line) == 1)
	if err != nil {
		return extent{}, err
	}
	if found == nil { // Recorded as missing.
		return extent{calls: 1}, nil
	}
	d := &found.Version.Snapshot.Definition
	switch impl, x, own := d.ImplementationType(), d.Execution, composition.Execution; {
	case impl == tool.Client && !waits || impl == tool.Provider:
		return extent{}, w.refuse(
			"step %q: %s is of type %s, which nothing here runs: a step needs a tool that answers by itself", step.ID,
			found.Version, impl,
		)
	case d.Interaction.Async && !waits:
		return extent{}, w.refuse("step %q: %s is asynchronous: a step needs a tool that answers by itself", step.ID,
			found.Version)
	case own.Pure && !x.Pure:
		return extent{}, w.refuse("is declared pure, and its step %q is not: %s", step.ID, found.Version)
	case own.Idempotent && !x.Repeatable():
		return extent{}, w.refuse("is declared idempotent, and its step %q is not: %s", step.ID, found.Version)
	}
	return w.visit(ctx, found)
}

// visit visits a resolved tool, unless it was visited before.
func (w *walk) visit(ctx context.Context, found *resolver.Resolved) (extent, error) {
	key := "tool " + found.Tool.ID + " " + found.Version.Digest
	if e, ok := w.known(key); ok {
		return e, nil
	}
	e, err := w.tool(ctx, node{"tool", found.Tool.Slug, found.Tool.ID}, &found.Version.Snapshot.Definition)
	if err == nil {
		w.seen[key] = e
	}
	return e, err
}

// resolve resolves a reference in production mode. A missing tool is recorded; if it
// has a draft, the draft is returned, since it may lead back to the root.
func (w *walk) resolve(ctx context.Context, ref tool.Ref, direct bool) (*resolver.Resolved, error) {
	if ref.Slug != "" && ref.Slug == w.root {
		return nil, refusal.New(tool.Conflict, w.at, "%s: the calls form a cycle",
			w.path(node{kind: "tool", slug: ref.Slug}))
	}
	if s := w.batch.Tool(ref.Slug); s != nil {
		return w.fromBatch(ctx, s), nil
	}
	req := resolver.Request{Principal: w.as, Ref: ref, Mode: tool.Production, New: direct, AllowDeprecated: !direct}
	found, err := w.r.opts.Resolver.Resolve(ctx, req)
	if err == nil {
		return found, nil
	}
	w.miss(err)
	req.Mode = tool.Debug
	if found, err = w.r.opts.Resolver.Resolve(ctx, req); err != nil {
		return nil, nil //nolint:nilerr // It was recorded as missing.
	}
	return found, nil
}

// batchDigest is the digest of content from the batch, in keys of visited nodes.
const batchDigest = "batchDigest"

// fromBatch returns a tool of the batch as it will resolve once it is published.
func (w *walk) fromBatch(ctx context.Context, s *definition.ToolSpec) *resolver.Resolved {
	v := tool.Version{
		Slug: s.Slug, Number: cmp.Or(s.Version,
			"next"), Digest: batchDigest, Snapshot: tool.Snapshot{Definition: s.Definition},
	}
	return &resolver.Resolved{Tool: tool.Tool{ID: w.r.toolID(ctx, w.as.Tenant, s.Slug), Slug: s.Slug}, Version: &v}
}
