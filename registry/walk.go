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

// Bounds of what calls are made of.
const (
	maxNesting = 4   // Compositions within each other, the outer one counted.
	maxPlanned = 500 // Calls that a composition may come to, those of compositions in it included.
)

// node is a tool or an agent on the way from what is to be published.
type node struct {
	kind string // "tool" or "agent".
	slug string
	id   string
}

func (n node) String() string { return n.kind + " " + n.slug }

func (n node) key() string { return n.kind + " " + n.id }

// extent is how far what is below a node reaches.
type extent struct {
	calls   int             // That one call of a tool is planned as.
	nesting []string        // The deepest line of compositions, from the node down.
	agents  []string        // The deepest line of agents, likewise.
	reached map[string]bool // All nodes below, by kind and id.
}

// walk follows what calls are made of, from what is to be published down, along
// tools and agents alike.
type walk struct {
	r       *Registry
	as      tool.Principal
	root    string // Slug of the tool that is to be published; empty for an agent.
	batch   definition.Batch
	line    []node // From the root to where the walk is.
	seen    map[string]extent
	at      string // Path, in the definition of the root, of where the walk went down.
	missing error  // The first missing dependency. A cycle is reported before it.
}

// newWalk returns a walk through what a tenant has, with all permissions:
// whether a caller may call a tool is decided at each call.
func (r *Registry) newWalk(tenant tool.TenantID, batch definition.Batch) *walk {
	return &walk{
		r: r, batch: batch, seen: make(map[string]extent),
		as: tool.Principal{Tenant: tenant, Subject: "registry", Permissions: []string{"*"}},
	}
}

// refuse returns the error of a fault, with the path that leads to it.
func (w *walk) refuse(format string, args ...any) *tool.Error {
	return refusal.New(tool.Conflict, w.at, "%s: %s", w.path(), fmt.Sprintf(format, args...))
}

// path names the nodes down to where the walk is.
func (w *walk) path(more ...node) string {
	var names []string
	for _, n := range slices.Concat(w.line, more) {
		names = append(names, n.String())
	}
	return strings.Join(names, " -> ")
}

// miss keeps the first thing that is not there.
func (w *walk) miss(err error) {
	if w.missing == nil {
		e := tool.AsError(err)
		w.missing = &tool.Error{
			Kind: e.Kind, Op: "registry", Path: w.at, Msg: w.path() + ": " + e.Msg, RetryAfter: e.RetryAfter, Err: err,
		}
	}
}

// down goes to a node below, unless it stands above already.
func (w *walk) down(n node) error {
	for _, above := range w.line {
		if above.kind == n.kind && above.id == n.id {
			return refusal.New(tool.Conflict, w.at, "%s: what calls itself never ends", w.path(n))
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

// tool looks at a tool with the given content, and all below it.
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
		below, err := w.step(ctx, step, d)
		if err != nil {
			return e, err
		}
		e.include(below)
	}
	e.nesting = append([]string{n.slug}, e.nesting...)
	switch {
	case len(e.nesting) > maxNesting:
		return e, w.refuse("compositions nest %d deep (%s): at most %d", len(e.nesting), strings.Join(e.nesting, " -> "),
			maxNesting)
	case e.calls > maxPlanned:
		return e, w.refuse("a call of %s comes to %d calls: at most %d", n, e.calls, maxPlanned)
	}
	return e, nil
}

// enter notes where in the root's definition the walk goes down.
func (w *walk) enter(path string) {
	if len(w.line) == 1 {
		w.at = path
	}
}

// include takes up how far a step reaches.
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

// reach notes a node. What is known of others stays as it is.
func (e *extent) reach(n node) {
	e.reached = maps.Clone(e.reached)
	if e.reached == nil {
		e.reached = make(map[string]bool)
	}
	e.reached[n.key()] = true
}

// step looks at the tool of a step.
func (w *walk) step(ctx context.Context, step agent.StepPart, composition *tool.Definition) (extent, error) {
	found, err := w.resolve(ctx, step.Tool, len(w.line) == 1)
	if err != nil {
		return extent{}, err
	}
	if found == nil { // Recorded as missing.
		return extent{calls: 1}, nil
	}
	d := &found.Version.Snapshot.Definition
	switch impl, x, own := d.ImplementationType(), d.Execution, composition.Execution; {
	case impl == tool.Client || impl == tool.Provider:
		return extent{}, w.refuse(
			"step %q: %s is of type %s, which nothing here runs: a step needs a tool that answers by itself", step.ID,
			found.Version, impl,
		)
	case d.Interaction.Async:
		return extent{}, w.refuse("step %q: %s is asynchronous: a step needs a tool that answers by itself", step.ID,
			found.Version)
	case own.Pure && !x.Pure:
		return extent{}, w.refuse("is declared pure, and its step %q is not: %s", step.ID, found.Version)
	case own.Idempotent && !x.Repeatable():
		return extent{}, w.refuse("is declared idempotent, and its step %q is not: %s", step.ID, found.Version)
	}
	return w.resolved(ctx, found)
}

// resolved looks at a tool that was resolved, once.
func (w *walk) resolved(ctx context.Context, found *resolver.Resolved) (extent, error) {
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

// resolve returns the tool that a reference means in production. One that does
// not exist is recorded as missing. A draft is then walked all the same, since
// it may lead back to the root.
func (w *walk) resolve(ctx context.Context, ref tool.Ref, direct bool) (*resolver.Resolved, error) {
	if ref.Slug != "" && ref.Slug == w.root {
		return nil, refusal.New(tool.Conflict, w.at, "%s: what calls itself never ends",
			w.path(node{kind: "tool", slug: ref.Slug}))
	}
	if s := w.batch.Tool(ref.Slug); s != nil {
		return w.brought(ctx, s), nil
	}
	req := resolver.Request{Principal: w.as, Ref: ref, Mode: tool.Production, New: direct, AllowDeprecated: !direct}
	found, err := w.r.opts.Resolver.Resolve(ctx, req)
	if err == nil {
		return found, nil
	}
	w.miss(err)
	req.Mode = tool.Debug
	if found, err = w.r.opts.Resolver.Resolve(ctx, req); err != nil {
		return nil, nil //nolint:nilerr // It is told as missing.
	}
	return found, nil
}

// batched stands for the digest of what a batch brings.
const batched = "batched"

// brought returns a tool of the batch, as it will be found when it is published.
func (w *walk) brought(ctx context.Context, s *definition.ToolSpec) *resolver.Resolved {
	v := tool.Version{
		Slug: s.Slug, Number: cmp.Or(s.Version, "next"), Digest: batched, Snapshot: tool.Snapshot{Definition: s.Definition},
	}
	return &resolver.Resolved{Tool: tool.Tool{ID: w.r.toolID(ctx, w.as.Tenant, s.Slug), Slug: s.Slug}, Version: &v}
}
