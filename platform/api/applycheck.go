package api

import (
	"context"
	"fmt"
	"slices"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/registry/definition"
)

// checkTools fails, before anything is written, agents, composed tools and toolsets that
// refer to tools which neither exist nor are part of the batch.
func (b *batch) checkTools(ctx context.Context) {
	for i, err := range b.cycles {
		if b.items[i].Error == nil {
			b.fail(ctx, i, err)
		}
	}
	batch := b.numbered()
	for i, d := range batch {
		if b.items[i].Error != nil || b.items[i].Action == v1.Unchanged {
			continue
		}
		err := b.server.cfg.Registry.CheckTools(ctx, b.principal, d, batch)
		if d.Toolset != nil {
			err = b.checkToolset(ctx, d.Toolset)
		}
		if err != nil {
			b.fail(ctx, i, err)
		}
		if b.outage != nil {
			return
		}
	}
}

// numbered returns the definitions with the versions that their tools will have.
func (b *batch) numbered() []definition.Definition {
	out := slices.Clone(b.definitions)
	for i, d := range out {
		if d.Tool != nil && d.Tool.Version == "" {
			numbered := *d.Tool
			numbered.Version = b.items[i].Version
			out[i].Tool = &numbered
		}
	}
	return out
}

// refuseFindings fails definitions of published tools that have weak points: for a strict apply.
func (b *batch) refuseFindings(ctx context.Context) {
	var specs []definition.ToolSpec
	var at []int
	for i, d := range b.definitions {
		if d.Tool != nil && d.Tool.AsksToPublish() && b.items[i].Error == nil {
			specs, at = append(specs, *d.Tool), append(at, i)
		}
	}
	if len(specs) == 0 {
		return
	}
	found, err := b.server.cfg.Registry.FindingsOf(ctx, b.principal, specs)
	for n, i := range at {
		switch {
		case err != nil:
			b.fail(ctx, i, fmt.Errorf("checking tool %q: %w", specs[n].Slug, err))
		case len(found[n]) > 0:
			b.fail(ctx, i, registry.RefuseFindings(specs[n].Slug, found[n]))
		}
	}
}
