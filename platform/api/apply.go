package api

import (
	"context"
	"net/http"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

func (s *server) registerApply() {
	handle(s, route{
		id: "apply", method: http.MethodPost, path: "/v1/apply", tag: "definitions", permission: ToolsWrite,
		or:      []string{AgentsWrite, PipelinesWrite, ProfilesWrite, ToolsetsWrite},
		maxBody: MaxApplyBytes,
		summary: "Apply definitions of tools, agents, MCP servers, pipelines, profiles and toolsets",
		detail: "All definitions are checked before the first is written: if one is invalid, nothing is changed. " +
			"Servers, pipelines and profiles are applied before tools, tools and agents after those they use, and " +
			"toolsets last, whatever their order. Each item reports the outcome of its definition; faults give their path " +
			"as a JSON Pointer. Applying the same definitions again changes nothing.\n\n" +
			"With the name of a set, the answer lists what was applied to the set before and is no longer among the " +
			"definitions. With prune that is taken away, once all else was applied: tools are archived, agents disabled, " +
			"artifacts deprecated, servers detached, and pipelines, profiles and toolsets deleted. What is used is kept, and " +
			"says who uses it. A definition that returns to its set takes its tool, agent or artifact back.",
	}, s.apply)
}

func (s *server) apply(ctx context.Context, p tool.Principal, in *body[v1.Apply]) (*body[v1.Applied], error) {
	if in.Body.Prune && in.Body.Set == "" {
		return nil, &tool.Error{
			Kind: tool.Invalid, Op: "api.apply", Path: "/prune",
			Msg: "only what a named set no longer has is taken away: give the name of the set too",
		}
	}
	b := batch{server: s, principal: p}
	var err error
	if b.set, err = s.appliedSet(ctx, p, in.Body.Set); err != nil {
		return nil, err
	}
	for i, raw := range in.Body.Definitions {
		definitions, err := definition.ParseAll(raw)
		if err != nil {
			definitions = []definition.Definition{{}}
		}
		for _, d := range definitions {
			b.definitions, b.items = append(b.definitions, d), append(b.items, v1.AppliedItem{Index: i, Action: v1.Skipped})
		}
		if err != nil {
			b.fail(ctx, len(b.items)-1, err)
		}
	}
	b.refuseTwins(ctx)
	b.order, b.cycles = s.cfg.Registry.Order(b.definitions)
	b.each(ctx, false)
	b.checkTools(ctx)
	if in.Body.Strict {
		b.refuseFindings(ctx)
	}
	if b.outage != nil {
		return nil, b.outage // Nothing was written.
	}
	b.written = 0
	switch {
	case b.failed > 0:
		b.skipRest()
	case !in.Body.DryRun:
		b.each(ctx, true)
	}
	if b.outage != nil && b.written == 0 {
		return nil, b.outage
	}
	var gone []v1.GoneItem
	switch {
	case b.outage != nil:
	case b.failed == 0:
		gone, err = b.settleSet(ctx, in.Body)
	case b.set != nil && b.written > 0: // What was written is the set's, and what it has no longer stays.
		err = b.recordSet(ctx)
	}
	if err != nil {
		return nil, err
	}
	return answer(v1.Applied{DryRun: in.Body.DryRun, Failed: b.failed, Items: b.items, Gone: gone}), nil
}

// batch is a list of definitions to be applied to the registry.
type batch struct {
	server      *server
	principal   tool.Principal
	definitions []definition.Definition // In the order of the items: a document may hold several.
	items       []v1.AppliedItem
	order       []int         // In which they are applied.
	cycles      map[int]error // Of definitions that refer to themselves.
	failed      int
	written     int
	outage      error // Why the following definitions were skipped.
	set         *appliedSet
}

// each applies, or checks, the definitions that did not fail. It stops where the database
// does not answer, which the next definitions would wait for too.
func (b *batch) each(ctx context.Context, write bool) {
	for _, i := range b.order {
		if b.items[i].Error != nil {
			continue
		}
		if b.outage != nil {
			b.items[i].Action, b.items[i].Published = v1.Skipped, false
			continue
		}
		change, err := b.applyOne(ctx, b.definitions[i], write)
		if err != nil {
			b.fail(ctx, i, err)
			continue
		}
		if change.Action != definition.Unchanged {
			b.written++
		}
		b.items[i] = appliedItem(b.items[i].Index, change)
	}
}

// appliedItem returns the outcome of the definition at an index of the request.
func appliedItem(index int, c definition.Change) v1.AppliedItem {
	return v1.AppliedItem{
		Index: index, Kind: c.Kind, Slug: c.Slug, ID: c.ID, Version: c.Version,
		Action: v1.Action(c.Action), Published: c.Published, Warnings: c.Warnings,
	}
}

// refuseTwins fails duplicate definitions: those of an object that an earlier
// definition of the request defines.
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
	if store.IsOutage(err) {
		b.outage = err
	}
	p := *b.server.problem(ctx, "apply", err)
	p.TraceID = traceID(ctx)
	item := v1.AppliedItem{Index: b.items[i].Index, Action: v1.Failed, Error: &p}
	if d := b.definitions[i]; d != (definition.Definition{}) {
		item.Kind, item.Slug = d.Kind(), d.Slug()
	}
	b.items[i] = item
}

// skipRest marks the valid definitions that are not applied because others are
// invalid.
func (b *batch) skipRest() {
	for i := range b.items {
		if b.items[i].Error == nil {
			b.items[i].Action, b.items[i].Published = v1.Skipped, false
		}
	}
}
