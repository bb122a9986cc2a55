package api

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// appliedSet is what was applied to a set of definitions before. It is nil where the request names none.
type appliedSet struct {
	name    string
	began   time.Time // Before the apply read anything.
	objects []store.AppliedObject
}

func (s *server) appliedSet(ctx context.Context, p tool.Principal, name string) (*appliedSet, error) {
	if name == "" {
		return nil, nil
	}
	began, err := s.cfg.Store.BeginApply(ctx, p.Tenant)
	if err != nil {
		return nil, fmt.Errorf("beginning an apply: %w", err)
	}
	objects, err := s.cfg.Store.ListApplied(ctx, p.Tenant, name)
	return &appliedSet{name: name, began: began, objects: objects}, err
}

// removed returns the id of what a definition describes and was taken away when the set had it no longer; empty
// where that is nothing.
func (a *appliedSet) removed(d definition.Definition) string {
	if a == nil {
		return ""
	}
	id, last := "", time.Time{} // Of several, the last one of the name was the set's.
	for _, o := range a.objects {
		if o.Removed.After(last) && o.Kind == d.Kind() && o.Slug == d.Slug() {
			id, last = o.ID, o.Removed
		}
	}
	return id
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

// gone is [appliedSet.gone] without what another apply has given to another set, or taken away, meanwhile.
func (b *batch) gone(ctx context.Context) ([]store.AppliedObject, error) {
	held, err := b.held(ctx)
	return slices.DeleteFunc(b.set.gone(b.items), func(o store.AppliedObject) bool {
		now, has := held[o.ID]
		return !has || !now.Removed.IsZero()
	}), err
}

// held returns what belongs to the set now, by id.
func (b *batch) held(ctx context.Context) (map[string]store.AppliedObject, error) {
	now, err := b.server.cfg.Store.ListApplied(ctx, b.principal.Tenant, b.set.name)
	if err != nil {
		return nil, fmt.Errorf("reading the set %q: %w", b.set.name, err)
	}
	held := make(map[string]store.AppliedObject, len(now))
	for _, o := range now {
		held[o.ID] = o
	}
	return held, nil
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
		if err := b.recordSet(ctx); err != nil || b.failed > 0 {
			return nil, err
		}
	}
	gone, err := b.gone(ctx)
	if err != nil {
		return nil, err
	}
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
		if i.ID == "" || i.Action == v1.Skipped {
			continue
		}
		objects = append(objects, store.AppliedObject{Kind: i.Kind, ID: i.ID, Slug: i.Slug})
	}
	p, set := b.principal, b.set
	moved, err := b.server.cfg.Store.RecordApplied(ctx, p.Tenant, set.name, p.Subject, objects, set.began)
	if err != nil {
		return fmt.Errorf("recording the set %q: %w", b.set.name, err)
	}
	for i := range b.items {
		item := &b.items[i]
		for _, m := range moved {
			if m.Kind != item.Kind || m.ID != item.ID {
				continue
			}
			if m.Lost {
				b.fail(ctx, i, &tool.Error{Kind: tool.Conflict, Op: "api.apply", Msg: fmt.Sprintf(
					"%s %q was taken away by another apply meanwhile: apply again", item.Kind, item.Slug)})
			} else {
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
			action, good, err := b.remove(ctx, o, dry)
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
			if err := b.forget(ctx, o, good); err != nil {
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

// forget records that an object was taken away: for good, or until its definition returns.
func (b *batch) forget(ctx context.Context, o store.AppliedObject, good bool) error {
	if err := b.server.cfg.Store.MarkRemoved(ctx, b.principal.Tenant, o, good); err != nil {
		return fmt.Errorf("recording that %s %q is gone: %w", o.Kind, o.Slug, err)
	}
	return nil
}

// remove takes an object away as its kind is, and reports whether that is for good: a definition that returns does not
// take it back. It claims the object first, so that what another apply has applied since this one listed it stays, and
// no other one takes over what goes. A dry run fails where one may not; whether the object is used is seen when it is
// taken away, as the same pruning may end its uses.
func (b *batch) remove(ctx context.Context, o store.AppliedObject, dry bool) (v1.GoneAction, bool, error) {
	action, permission := removalOf(o.Kind)
	if !b.principal.May(permission) {
		return action, false, lacks(permission)
	}
	if dry {
		return action, false, nil
	}
	rows := b.server.cfg.Store
	if err := rows.ClaimRemoval(ctx, b.principal.Tenant, o); err != nil {
		return action, false, err //nolint:wrapcheck // Its words are the caller's.
	}
	disabled, err := b.removeNow(ctx, o)
	if err != nil && tool.KindOf(err) != tool.NotFound {
		later := rows.ReleaseRemoval(context.WithoutCancel(ctx), b.principal.Tenant, o)
		return action, false, errors.Join(err, later)
	}
	if tool.KindOf(err) == tool.NotFound { // It was taken away by hand.
		return v1.Deleted, true, nil
	}
	return action, disabled || action == v1.Deleted || action == v1.Detached, err
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

// removeNow also reports whether a person had disabled the object before, which it stays.
func (b *batch) removeNow(ctx context.Context, o store.AppliedObject) (disabled bool, err error) {
	p, in, rows := b.principal, b.server.cfg.Registry, b.server.cfg.Store
	switch o.Kind {
	case "tool":
		held, err := in.Get(ctx, p, tool.Ref{ID: o.ID})
		if err == nil {
			_, err = in.Archive(ctx, p, tool.Ref{ID: o.ID})
		}
		return held.Status == tool.Disabled, err
	case "agent":
		held, err := in.GetAgent(ctx, p, o.ID)
		if err == nil {
			_, err = in.DisableAgent(ctx, p, o.ID)
		}
		return held.Status == tool.Disabled, err
	case "artifact":
		held, err := in.Artifacts().Get(ctx, p, o.ID)
		if err == nil && held.Status == definition.ArtifactActive {
			_, err = in.Artifacts().SetStatus(ctx, p, o.ID, definition.ArtifactDeprecated)
		}
		return held.Status != definition.ArtifactActive, err
	case "mcp_server":
		_, err := in.Servers().Detach(ctx, p, o.ID, false)
		return false, err
	case "pipeline":
		found, err := b.server.cfg.Retrieval.FindPipeline(ctx, p.Tenant, o.ID)
		if err != nil {
			return false, err
		}
		return false, b.server.cfg.Retrieval.DeletePipeline(ctx, found)
	case "profile":
		found, err := rows.FindProfile(ctx, p.Tenant, o.Slug)
		switch {
		case err != nil:
			return false, err
		case found.ID != o.ID: // Another one has the name now.
			return false, &tool.Error{Kind: tool.NotFound, Op: "api.prune", Msg: "profile not found"}
		}
		_, err = rows.DeleteProfile(ctx, p.Tenant, found.Name, found.Revision)
		return false, err
	default:
		found, err := rows.FindToolset(ctx, p.Tenant, o.ID)
		if err != nil {
			return false, err
		}
		_, err = rows.DeleteToolset(ctx, p.Tenant, found.ID, found.Revision)
		return false, err
	}
}
