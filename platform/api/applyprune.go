package api

import (
	"context"
	"fmt"
	"slices"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// appliedSet is what was applied to a set of definitions before. It is nil where the request names none.
type appliedSet struct {
	name    string
	objects []store.AppliedObject
}

func (s *server) appliedSet(ctx context.Context, p tool.Principal, name string) (*appliedSet, error) {
	if name == "" {
		return nil, nil
	}
	objects, err := s.cfg.Store.ListApplied(ctx, p.Tenant, name)
	return &appliedSet{name: name, objects: objects}, err
}

// removed reports whether what a definition describes was taken away when the set had it no longer.
func (a *appliedSet) removed(d definition.Definition) bool {
	return a != nil && slices.ContainsFunc(a.objects, func(o store.AppliedObject) bool {
		return !o.Removed.IsZero() && o.Kind == d.Kind() && o.Slug == d.Slug()
	})
}

// gone returns what the set had and the definitions have no longer, what uses others first.
func (a *appliedSet) gone(items []v1.AppliedItem) []store.AppliedObject {
	has := make(map[string]bool, len(items))
	for _, i := range items {
		has[i.Kind+" "+i.ID] = true
	}
	var out []store.AppliedObject
	for _, o := range a.objects {
		if o.Removed.IsZero() && !has[o.Kind+" "+o.ID] {
			out = append(out, o)
		}
	}
	slices.SortStableFunc(out, func(x, y store.AppliedObject) int {
		return slices.Index(removalOrder, x.Kind) - slices.Index(removalOrder, y.Kind)
	})
	return out
}

// removalOrder is the order in which kinds are taken away: what uses others first.
var removalOrder = []string{"toolset", "agent", "tool", "mcp_server", "artifact", "pipeline", "profile"}

// settleSet records what the set of the batch has now, and returns what it has no longer, taken away if that was
// asked for.
func (b *batch) settleSet(ctx context.Context, in v1.Apply) ([]v1.GoneItem, error) {
	if b.set == nil {
		return nil, nil
	}
	if !in.DryRun {
		if err := b.recordSet(ctx); err != nil {
			return nil, err
		}
	}
	gone := b.set.gone(b.items)
	out := make([]v1.GoneItem, len(gone))
	for i, o := range gone {
		out[i] = v1.GoneItem{Kind: o.Kind, Slug: o.Slug, ID: o.ID, Action: v1.Left}
	}
	if !in.Prune {
		return out, nil
	}
	return out, b.prune(ctx, gone, out, in.DryRun)
}

// recordSet records what belongs to the set. What is taken from another one gets a warning.
func (b *batch) recordSet(ctx context.Context) error {
	objects := make([]store.AppliedObject, 0, len(b.items))
	for _, i := range b.items {
		objects = append(objects, store.AppliedObject{Kind: i.Kind, ID: i.ID, Slug: i.Slug})
	}
	moved, err := b.server.cfg.Store.RecordApplied(ctx, b.principal.Tenant, b.set.name, b.principal.Subject, objects)
	if err != nil {
		return fmt.Errorf("recording the set %q: %w", b.set.name, err)
	}
	for i := range b.items {
		item := &b.items[i]
		for _, m := range moved {
			if m.Kind == item.Kind && m.ID == item.ID {
				item.Warnings = append(item.Warnings, fmt.Sprintf(
					"it belonged to the set %q, and belongs to %q now: no other apply of %q touches it", m.Set, b.set.name, m.Set))
			}
		}
	}
	return nil
}

// prune takes objects away, and notes in items what became of each. One that others use may be free once those
// are gone: it is tried again as long as anything goes.
func (b *batch) prune(ctx context.Context, gone []store.AppliedObject, items []v1.GoneItem, dry bool) error {
	failed := make([]error, len(gone))
	for more := true; more; {
		more = false
		for i, o := range gone {
			if items[i].Action != v1.Left {
				continue
			}
			action, err := b.remove(ctx, o, dry)
			if failed[i] = err; err != nil {
				if store.IsOutage(err) {
					return err
				}
				continue
			}
			items[i].Action, more = action, !dry
			if dry {
				continue
			}
			if err := b.forget(ctx, o, action); err != nil {
				return err
			}
		}
	}
	for i, err := range failed {
		if err != nil {
			p := *b.server.problem(ctx, "apply", err)
			p.TraceID = traceID(ctx)
			items[i].Action, items[i].Error = v1.Kept, &p
			b.failed++
		}
	}
	return nil
}

// forget records that an object was taken away. What is not found any more is forgotten.
func (b *batch) forget(ctx context.Context, o store.AppliedObject, action v1.GoneAction) error {
	good := action == v1.Deleted || action == v1.Detached
	if err := b.server.cfg.Store.MarkRemoved(ctx, b.principal.Tenant, o.Kind, o.ID, good); err != nil {
		return fmt.Errorf("recording that %s %q is gone: %w", o.Kind, o.Slug, err)
	}
	return nil
}

// remove takes an object away as its kind is. A dry run fails where one may not; whether the object is used is
// seen when it is taken away, as the same pruning may end its uses.
func (b *batch) remove(ctx context.Context, o store.AppliedObject, dry bool) (v1.GoneAction, error) {
	action, permission := removalOf(o.Kind)
	if !b.principal.May(permission) {
		return action, lacks(permission)
	}
	if dry {
		return action, nil
	}
	err := b.removeNow(ctx, o)
	if tool.KindOf(err) == tool.NotFound { // It was taken away by hand.
		return v1.Deleted, nil
	}
	return action, err
}

func removalOf(kind string) (action v1.GoneAction, permission string) {
	switch kind {
	case "tool":
		return v1.Archived, ToolsWrite
	case "agent":
		return v1.Disabled, AgentsWrite
	case "artifact":
		return v1.Deprecated, ToolsWrite
	case "mcp_server":
		return v1.Detached, ToolsWrite
	case "pipeline":
		return v1.Deleted, PipelinesWrite
	case "profile":
		return v1.Deleted, ProfilesWrite
	default:
		return v1.Deleted, ToolsetsWrite
	}
}

func (b *batch) removeNow(ctx context.Context, o store.AppliedObject) error {
	p, in, rows := b.principal, b.server.cfg.Registry, b.server.cfg.Store
	switch o.Kind {
	case "tool":
		_, err := in.Archive(ctx, p, tool.Ref{ID: o.ID})
		return err
	case "agent":
		_, err := in.DisableAgent(ctx, p, o.ID)
		return err
	case "artifact":
		_, err := in.Artifacts().SetStatus(ctx, p, o.ID, definition.ArtifactDeprecated)
		return err
	case "mcp_server":
		_, err := in.Servers().Detach(ctx, p, o.ID, false)
		return err
	case "pipeline":
		found, err := b.server.cfg.Retrieval.FindPipeline(ctx, p.Tenant, o.ID)
		if err != nil {
			return err
		}
		return b.server.cfg.Retrieval.DeletePipeline(ctx, found)
	case "profile":
		_, err := rows.DeleteProfile(ctx, p.Tenant, o.Slug, 0)
		return err
	default:
		found, err := rows.FindToolset(ctx, p.Tenant, o.ID)
		if err != nil {
			return err
		}
		_, err = rows.DeleteToolset(ctx, p.Tenant, found.ID, found.Revision)
		return err
	}
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
