package api

import (
	"context"
	"net/http"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

type listToolRunsInput struct {
	ID string `path:"id" maxLength:"64"`
	Paging
}

func (s *server) registerToolRuns() {
	handle(s, route{
		id: "listToolRuns", method: http.MethodGet, path: "/v1/runs/{id}/tool-runs", tag: "invocations", permission: RunsRead,
		summary: "List the ended calls of a run in an older shape, newest first",
		detail: "For clients that know this shape: it is translated from invocations and never stored. Calls that have not " +
			"ended are left out, so that a page may have fewer items than its limit.",
	}, s.listToolRuns)
	handle(s, route{
		id: "listToolSummaries", method: http.MethodGet, path: "/v1/tool-summaries", tag: "tools", permission: ToolsRead,
		summary: "List summaries of tools, in the order of slugs",
		detail:  "What each tool is and whom it is for, without executor, configuration and schemas.",
	}, s.listToolSummaries)
}

func (s *server) listToolRuns(
	ctx context.Context, p tool.Principal, in *listToolRunsInput,
) (*listed[v1.ToolRun], error) {
	run, err := s.cfg.Store.FindRun(ctx, p.Tenant, in.ID)
	if err != nil {
		return nil, err
	}
	before, err := in.before()
	if err != nil {
		return nil, err
	}
	found, err := s.cfg.Store.ListInvocations(ctx, p.Tenant, store.InvocationQuery{
		RunID: run.ID, Before: before, Limit: in.fetch(),
	})
	if err != nil {
		return nil, err
	}
	shown, err := s.maskOf(ctx, p.Tenant)
	if err != nil {
		return nil, err
	}
	all := page(in.Paging, found, func(i tool.Invocation) tool.Invocation { return i },
		func(i tool.Invocation) string { return i.InvocationID })
	out := v1.Page[v1.ToolRun]{Items: []v1.ToolRun{}, Next: all.Next}
	for _, i := range all.Items {
		whole, err := s.cfg.Store.FindInvocation(ctx, p.Tenant, i.InvocationID) // Lists have no answers.
		if err != nil {
			return nil, err
		}
		if old, over := v1.ToToolRun(whole, run); over {
			old.Input, old.Output, old.Error = shown.json(old.Input), shown.json(old.Output), shown.text(old.Error)
			out.Items = append(out.Items, old)
		}
	}
	return answer(out), nil
}

func (s *server) listToolSummaries(ctx context.Context, p tool.Principal, in *Paging) (*listed[tool.Meta], error) {
	q := registry.ToolQuery{Limit: in.fetch()}
	if in.Cursor != "" {
		var err error
		if q.AfterSlug, q.AfterID, err = openToolCursor(in.Cursor); err != nil {
			return nil, err
		}
	}
	found, err := s.cfg.Registry.List(ctx, p, q)
	if err != nil {
		return nil, err
	}
	out := answer(page(*in, found, func(t tool.Tool) tool.Meta { return t.Meta() }, toolPlace))
	viewer, shown := s.viewer(p), out.Body.Items[:0]
	for i, item := range out.Body.Items {
		sees, err := viewer.sees(ctx, &found[i])
		if err != nil {
			return nil, err
		}
		if sees {
			shown = append(shown, item)
		}
	}
	out.Body.Items = shown
	return out, nil
}
