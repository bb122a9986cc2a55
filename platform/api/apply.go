package api

import (
	"context"
	"net/http"
	"slices"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/tool"
)

type applyInput struct {
	Body v1.Apply
}

type applyOutput struct {
	Body v1.Applied
}

func (s *server) registerApply() {
	handle(s, route{
		id: "apply", method: http.MethodPost, path: "/v1/apply", tag: "definitions", permission: ToolsWrite, or: AgentsWrite,
		maxBody: MaxApplyBytes,
		summary: "Make tools and agents what their definitions say",
		detail: "All definitions are checked before the first is written: one that is wrong leaves everything as it was. Tools " +
			"are applied before agents, whatever their order. Each item tells what became of its definition; faults name their " +
			"place by JSON Pointer. Applying the same again changes nothing.",
	}, s.apply)
}

func (s *server) apply(ctx context.Context, p tool.Principal, in *applyInput) (*applyOutput, error) {
	b := batch{server: s, principal: p, items: make([]v1.AppliedItem, len(in.Body.Definitions))}
	for i, raw := range in.Body.Definitions {
		b.items[i] = v1.AppliedItem{Index: i, Action: v1.Skipped}
		d, err := registry.ParseDefinition(raw)
		if err != nil {
			b.fail(ctx, i, err)
		}
		b.definitions = append(b.definitions, d)
	}
	b.refuseTwins(ctx)
	b.each(ctx, s.cfg.Registry.Check)
	b.checkTools(ctx)
	switch {
	case b.failed > 0:
		b.skipRest()
	case !in.Body.DryRun:
		b.each(ctx, s.cfg.Registry.Apply)
	}
	return &applyOutput{Body: v1.Applied{DryRun: in.Body.DryRun, Failed: b.failed, Items: b.items}}, nil
}

// batch is a list of definitions on their way into the registry.
type batch struct {
	server      *server
	principal   tool.Principal
	definitions []registry.Definition // By index, as the items.
	items       []v1.AppliedItem
	failed      int
}

// order lists the indices of the definitions, tools first: agents are
// published with the tools that the same batch brings.
func (b *batch) order() []int {
	var tools, agents []int
	for i, d := range b.definitions {
		if d.Agent != nil {
			agents = append(agents, i)
		} else {
			tools = append(tools, i)
		}
	}
	return slices.Concat(tools, agents)
}

// each calls fn with the definitions that did not fail.
func (b *batch) each(ctx context.Context, fn func(context.Context, tool.Principal, registry.Definition) (registry.Change, error)) {
	for _, i := range b.order() {
		if b.items[i].Error != nil {
			continue
		}
		change, err := fn(ctx, b.principal, b.definitions[i])
		if err != nil {
			b.fail(ctx, i, err)
			continue
		}
		b.items[i] = v1.AppliedItem{
			Index: i, Kind: change.Kind, Slug: change.Slug, ID: change.ID, Version: change.Version,
			Action: v1.Action(change.Action), Published: change.Published, Warnings: change.Warnings,
		}
	}
}

// refuseTwins fails definitions of what another one defines already.
func (b *batch) refuseTwins(ctx context.Context) {
	seen := make(map[string]bool)
	for i, d := range b.definitions {
		name := d.Kind() + " " + d.Slug()
		if b.items[i].Error != nil || d.Slug() == "" {
			continue
		}
		if seen[name] {
			b.fail(ctx, i, &tool.Error{Kind: tool.Invalid, Op: "api.apply", Path: "/slug", Msg: name + " is defined twice"})
		}
		seen[name] = true
	}
}

func (b *batch) fail(ctx context.Context, i int, err error) {
	b.failed++
	p := *b.server.problem(ctx, "apply", err)
	p.TraceID = traceID(ctx)
	item := v1.AppliedItem{Index: i, Action: v1.Failed, Error: &p}
	if i < len(b.definitions) {
		item.Kind, item.Slug = b.definitions[i].Kind(), b.definitions[i].Slug()
	}
	b.items[i] = item
}

// skipRest marks the definitions that are in order and stay unapplied because
// others are not.
func (b *batch) skipRest() {
	for i := range b.items {
		if b.items[i].Error == nil {
			b.items[i].Action, b.items[i].Published = v1.Skipped, false
		}
	}
}
