package api

import (
	"context"
	"net/http"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/tool"
)

type listGlobalInput struct {
	Paging
	Status string `query:"status" enum:"draft,published,deprecated,disabled"`
	Search string `query:"search" maxLength:"200" doc:"Text in slug, name or description"`
}

type globalToolInput struct {
	ToolPath
	Changing
}

type publishGlobalInput struct {
	ToolPath
	Changing
	Version string `query:"version" maxLength:"100" doc:"An existing snapshot; the draft when absent"`
}

type versionGlobalInput struct {
	ToolPath
	Changing
	NewVersion string `query:"new_version" required:"true" minLength:"1" maxLength:"100" doc:"A semantic version greater than the last"`
}

type overrideGlobalInput struct {
	ToolPath
	Body v1.NewOverride
}

type globalToolOutput struct {
	Etag string `header:"Etag"`
	Body v1.GlobalToolDetail
}

const globalTools = "/v1/platform/tools"

// registerGlobalTools adds the endpoints of the tools of the platform.
func (o *operators) registerGlobalTools() {
	operate(o, route{
		id: "listGlobalTools", method: http.MethodGet, path: globalTools, tag: "tools",
		summary: "List the platform's tools, in the order of their slugs",
	}, o.listGlobal)
	operate(o, route{
		id: "applyGlobalTools", method: http.MethodPost, path: "/v1/platform/apply", tag: "tools",
		summary: "Make global tools what their definitions say",
		detail: "All are checked before the first is written. A new tool is off for every tenant until an override " +
			"switches it on. Applying the same again changes nothing.",
	}, o.applyGlobal)
	operate(o, route{
		id: "getGlobalTool", method: http.MethodGet, path: globalTools + "/{tool}", tag: "tools",
		summary: "Get a global tool, with what the platform decided about it and its versions",
	}, func(ctx context.Context, p tool.Principal, in *ToolPath) (*globalToolOutput, error) {
		return o.showGlobal(ctx, p, globalRef(in.Tool))
	})
	operate(o, route{
		id: "versionGlobalTool", method: http.MethodPost, path: globalTools + "/{tool}/version", tag: "tools",
		summary: "Snapshot the draft of a global tool, without publishing it",
	}, func(ctx context.Context, p tool.Principal, in *versionGlobalInput) (*globalToolOutput, error) {
		return o.changeGlobal(ctx, p, in.Tool, in.Changing, func(r *registry.Registry, ref tool.Ref) error {
			_, _, err := r.Version(ctx, p, ref, in.NewVersion)
			return err
		})
	})
	operate(o, route{
		id: "publishGlobalTool", method: http.MethodPost, path: globalTools + "/{tool}/publish", tag: "tools",
		summary: "Publish the draft of a global tool, or a snapshot",
		detail:  "Tenants that have the tool switched on get it in runs that begin from then on.",
	}, func(ctx context.Context, p tool.Principal, in *publishGlobalInput) (*globalToolOutput, error) {
		return o.changeGlobal(ctx, p, in.Tool, in.Changing, func(r *registry.Registry, ref tool.Ref) error {
			ref.Constraint = in.Version
			_, _, err := r.Publish(ctx, p, ref)
			return err
		})
	})
	type change = func(*registry.Registry, context.Context, tool.Principal, tool.Ref) (tool.Tool, error)
	for _, c := range []struct {
		id, summary string
		apply       change
	}{
		{"disable", "Stop a global tool at once, for every tenant", (*registry.Registry).Disable},
		{"enable", "Take a disable or a deprecation back", (*registry.Registry).Enable},
		{"deprecate", "Refuse new bindings of a global tool; existing ones go on", (*registry.Registry).Deprecate},
	} {
		operate(o, route{
			id: c.id + "GlobalTool", method: http.MethodPost, path: globalTools + "/{tool}/" + c.id, tag: "tools",
			summary: c.summary,
		}, func(ctx context.Context, p tool.Principal, in *globalToolInput) (*globalToolOutput, error) {
			return o.changeGlobal(ctx, p, in.Tool, in.Changing, func(r *registry.Registry, ref tool.Ref) error {
				_, err := c.apply(r, ctx, p, ref)
				return err
			})
		})
	}
	operate(o, route{
		id: "deleteGlobalTool", method: http.MethodDelete, path: globalTools + "/{tool}", tag: "tools",
		summary: "Delete a disabled global tool", detail: "Its versions and the record of its calls stay.",
	}, func(ctx context.Context, p tool.Principal, in *globalToolInput) (*body[v1.Tool], error) {
		ref, changing, err := o.changingGlobal(ctx, p, in.Tool, in.Changing)
		if err != nil {
			return nil, err
		}
		t, err := changing.Delete(ctx, p, ref)
		return answer(v1.FromTool(t)), in.failed(err)
	})
	operate(o, route{
		id: "setGlobalOverride", method: http.MethodPut, path: globalTools + "/{tool}/override", tag: "tools",
		summary: "Decide about a global tool for every tenant: its switch, approval, description, defaults, limits",
		detail:  "It replaces the earlier decision. A tenant may still switch the tool for itself, and only narrow the rest.",
	}, func(ctx context.Context, p tool.Principal, in *overrideGlobalInput) (*globalToolOutput, error) {
		changing := o.tools
		if in.Body.Revision != 0 {
			changing = changing.At(in.Body.Revision)
		}
		if _, err := changing.OverrideForAll(ctx, globalRef(in.Tool), in.Body.Decision()); err != nil {
			return nil, err
		}
		return o.showGlobal(ctx, p, globalRef(in.Tool))
	})
	operate(o, route{
		id: "deleteGlobalOverride", method: http.MethodDelete, path: globalTools + "/{tool}/override", tag: "tools",
		summary: "Take back what the platform decided about a global tool",
	}, func(ctx context.Context, p tool.Principal, in *ToolPath) (*globalToolOutput, error) {
		if err := o.tools.RemoveOverrideForAll(ctx, globalRef(in.Tool)); err != nil {
			return nil, err
		}
		return o.showGlobal(ctx, p, globalRef(in.Tool))
	})
}

// globalRef is a reference by slug or id.
func globalRef(name string) tool.Ref {
	if tool.ValidID(name) {
		return tool.Ref{ID: name}
	}
	return tool.Ref{Slug: name}
}

func (o *operators) listGlobal(
	ctx context.Context, p tool.Principal, in *listGlobalInput,
) (*listed[v1.GlobalTool], error) {
	q := registry.ToolQuery{Status: tool.Status(in.Status), Search: in.Search, Limit: in.fetch()}
	if in.Cursor != "" {
		var err error
		if q.AfterSlug, q.AfterID, err = openToolCursor(in.Cursor); err != nil {
			return nil, err
		}
	}
	found, err := o.tools.List(ctx, p, q)
	if err != nil {
		return nil, err
	}
	shown := make(map[string]v1.GlobalTool, len(found))
	for _, t := range found {
		if shown[t.ID], err = o.globalTool(ctx, p, t); err != nil {
			return nil, err
		}
	}
	return answer(page(in.Paging, found, func(t tool.Tool) v1.GlobalTool { return shown[t.ID] }, toolPlace)), nil
}

func (o *operators) globalTool(ctx context.Context, p tool.Principal, t tool.Tool) (v1.GlobalTool, error) {
	_, decided, err := o.tools.OverridesOf(ctx, p, tool.Ref{ID: t.ID})
	out := v1.GlobalTool{Tool: v1.FromTool(t)}
	if decided.Platform != nil {
		out.Override = new(v1.FromOverride(*decided.Platform))
	}
	return out, err
}

func (o *operators) showGlobal(ctx context.Context, p tool.Principal, ref tool.Ref) (*globalToolOutput, error) {
	t, err := o.tools.Get(ctx, p, ref)
	if err != nil {
		return nil, err
	}
	shown, err := o.globalTool(ctx, p, t)
	if err != nil {
		return nil, err
	}
	versions, err := o.tools.Versions(ctx, p, tool.Ref{ID: t.ID})
	if err != nil {
		return nil, err
	}
	out := v1.GlobalToolDetail{GlobalTool: shown, Versions: make([]v1.ToolVersion, len(versions))}
	for i, v := range versions {
		out.Versions[i] = v1.FromToolVersion(v)
	}
	return &globalToolOutput{Etag: etag(t.ID, t.Revision), Body: out}, nil
}

// changingGlobal returns a reference to a global tool, and the registry that changes it under the condition.
func (o *operators) changingGlobal(
	ctx context.Context, p tool.Principal, name string, c Changing,
) (tool.Ref, *registry.Registry, error) {
	t, err := o.tools.Get(ctx, p, globalRef(name))
	if err != nil {
		return tool.Ref{}, nil, err
	}
	changing, err := conditional(c, o.tools, t.ID, t.Revision)
	return tool.Ref{ID: t.ID}, changing, err
}

func (o *operators) changeGlobal(
	ctx context.Context, p tool.Principal, name string, c Changing, change func(*registry.Registry, tool.Ref) error,
) (*globalToolOutput, error) {
	ref, changing, err := o.changingGlobal(ctx, p, name, c)
	if err != nil {
		return nil, err
	}
	if err := change(changing, ref); err != nil {
		return nil, c.failed(err)
	}
	return o.showGlobal(ctx, p, ref)
}

func (o *operators) applyGlobal(ctx context.Context, p tool.Principal, in *body[v1.Apply]) (*body[v1.Applied], error) {
	if in.Body.Set != "" || in.Body.Prune || in.Body.Strict {
		return nil, &tool.Error{
			Kind: tool.Invalid, Op: "api.applyGlobal", Path: "/set", Msg: "sets, prune and strict are for tenants' definitions",
		}
	}
	out := v1.Applied{DryRun: in.Body.DryRun, Items: make([]v1.AppliedItem, len(in.Body.Definitions))}
	parsed := make([]definition.Definition, len(in.Body.Definitions))
	for i, raw := range in.Body.Definitions {
		out.Items[i] = v1.AppliedItem{Index: i, Action: v1.Skipped}
		var err error
		if parsed[i], err = definition.Parse(raw); err == nil && parsed[i].Tool == nil {
			err = &tool.Error{
				Kind: tool.Invalid, Op: "api.applyGlobal", Path: "/kind",
				Msg: "only tools can be global: agents, servers, artifacts and pipelines belong to tenants",
			}
		}
		var c definition.Change
		if err == nil {
			c, err = o.tools.Check(ctx, p, parsed[i])
		}
		o.note(ctx, &out, i, c, err)
	}
	if out.Failed > 0 {
		for i := range out.Items {
			if out.Items[i].Error == nil {
				out.Items[i].Action, out.Items[i].Published = v1.Skipped, false
			}
		}
		return answer(out), nil
	}
	for i := range parsed {
		if in.Body.DryRun {
			break
		}
		c, err := o.tools.Apply(ctx, p, parsed[i])
		o.note(ctx, &out, i, c, err)
	}
	return answer(out), nil
}

// note records the outcome of a definition.
func (o *operators) note(ctx context.Context, out *v1.Applied, i int, c definition.Change, err error) {
	if err == nil {
		out.Items[i] = appliedItem(i, c)
		return
	}
	out.Failed++
	failed := *o.problem(ctx, "applyGlobalTools", err)
	failed.TraceID = traceID(ctx)
	out.Items[i].Action, out.Items[i].Error = v1.Failed, &failed
}
