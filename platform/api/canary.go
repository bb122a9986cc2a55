package api

import (
	"context"
	"net/http"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/tool"
)

type startCanaryInput struct {
	ToolPath
	Changing
	Body v1.NewCanary
}

type canariesInput struct {
	ToolPath
	Paging
}

func (s *server) registerCanaries() {
	handle(s, route{
		id: "startCanary", method: http.MethodPost, path: "/v1/tools/{tool}/canary", tag: "tools", permission: ToolsWrite,
		status: http.StatusCreated, summary: "Publish a version of a tool to a share of the runs",
		detail: "The others get the version that they got before. Which runs are among them is decided by their ids and " +
			"pinned with their plan. The version is taken back when too many of its calls fail, and runs that have it " +
			"keep it. It has to pass all that publishing requires.",
	}, s.startCanary)
	handle(s, route{
		id: "listCanaries", method: http.MethodGet, path: "/v1/tools/{tool}/canaries", tag: "tools", permission: ToolsRead,
		summary: "List the canaries of a tool, newest first",
	}, s.listCanaries)
	for _, end := range []struct {
		id, path, summary string
		state             registry.CanaryState
	}{
		{"promoteCanary", "promote", "Give the canary of a tool to every run", registry.CanaryPromoted},
		{"stopCanary", "stop", "Take the canary of a tool back", registry.CanaryStopped},
	} {
		handle(s, route{
			id: end.id, method: http.MethodPost, path: "/v1/tools/{tool}/canary/" + end.path, tag: "tools",
			permission: ToolsWrite, summary: end.summary, detail: "Runs that have begun keep the version that they have.",
		}, func(ctx context.Context, p tool.Principal, in *ToolPath) (*body[v1.Canary], error) {
			t, err := s.findTool(ctx, p, in.Tool)
			if err != nil {
				return nil, err
			}
			c, err := s.cfg.Registry.EndCanary(ctx, p, tool.Ref{ID: t.ID}, end.state)
			if err != nil {
				return nil, err
			}
			return answer(v1.FromCanary(c)), nil
		})
	}
}

func (s *server) startCanary(ctx context.Context, p tool.Principal, in *startCanaryInput) (*body[v1.Canary], error) {
	t, changing, err := s.changingTool(ctx, p, in.Tool, in.Changing)
	if err != nil {
		return nil, err
	}
	c, err := changing.StartCanary(ctx, p, tool.Ref{ID: t.ID, Constraint: in.Body.Version}, registry.CanaryPlan{
		Share: in.Body.Share, Until: in.Body.UntilCalls, MaxErrorPercent: in.Body.MaxErrorPercent,
		MinCalls: in.Body.MinCalls, Promote: in.Body.Promote,
	})
	if err != nil {
		return nil, in.failed(err)
	}
	return answer(v1.FromCanary(c)), nil
}

func (s *server) listCanaries(ctx context.Context, p tool.Principal, in *canariesInput) (*listed[v1.Canary], error) {
	t, err := s.findTool(ctx, p, in.Tool)
	if err != nil {
		return nil, err
	}
	before, err := in.before()
	if err != nil {
		return nil, err
	}
	found, err := s.cfg.Store.ListCanaries(ctx, p.Tenant, t.ID, before, in.fetch())
	if err != nil {
		return nil, err
	}
	return answer(page(in.Paging, found, v1.FromCanary, func(c registry.Canary) string { return c.ID })), nil
}
