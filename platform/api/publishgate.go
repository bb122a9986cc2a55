package api

import (
	"context"
	"net/http"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/tool"
)

type setToolGateInput struct {
	ToolPath
	Body v1.NewPublishGate
}

type noInput struct{}

func (s *server) registerPublishGates() {
	handle(s, route{
		id: "getToolGate", method: http.MethodGet, path: "/v1/tools/{tool}/publish-gate", tag: "tools",
		permission: ToolsRead, summary: "Get what has to pass before a version of a tool is published",
		detail: "Its own gate, or that of the tenant; not_found where there is none.",
	}, func(ctx context.Context, p tool.Principal, in *ToolPath) (*body[v1.PublishGate], error) {
		t, err := s.findTool(ctx, p, in.Tool)
		if err != nil {
			return nil, err
		}
		return s.showGate(ctx, p, t)
	})
	handle(s, route{
		id: "setToolGate", method: http.MethodPut, path: "/v1/tools/{tool}/publish-gate", tag: "tools",
		permission: ToolsWrite, summary: "Require a replay of recorded calls before a version of a tool is published",
		detail: "A version is then published only when exactly its content was replayed with so many of the last calls, " +
			"and no more than so many differed. The first version of a tool passes, and so do those that come with a " +
			"host's code.",
	}, func(ctx context.Context, p tool.Principal, in *setToolGateInput) (*body[v1.PublishGate], error) {
		t, err := s.findTool(ctx, p, in.Tool)
		if err != nil {
			return nil, err
		}
		return s.setGate(ctx, p, t, in.Body)
	})
	handle(s, route{
		id: "deleteToolGate", method: http.MethodDelete, path: "/v1/tools/{tool}/publish-gate", tag: "tools",
		permission: ToolsWrite, summary: "Remove the gate of a tool",
		detail: "That of the tenant applies then, if there is one.",
	}, func(ctx context.Context, p tool.Principal, in *ToolPath) (*body[v1.PublishGate], error) {
		t, err := s.findTool(ctx, p, in.Tool)
		if err != nil {
			return nil, err
		}
		return s.deleteGate(ctx, p, t)
	})
	handle(s, route{
		id: "getPublishGate", method: http.MethodGet, path: "/v1/publish-gate", tag: "tools", permission: ToolsRead,
		summary: "Get what has to pass before a version of any tool of the tenant is published",
	}, func(ctx context.Context, p tool.Principal, _ *noInput) (*body[v1.PublishGate], error) {
		return s.showGate(ctx, p, tool.Tool{})
	})
	handle(s, route{
		id: "setPublishGate", method: http.MethodPut, path: "/v1/publish-gate", tag: "tools", permission: ToolsWrite,
		summary: "Require a replay of recorded calls before a version of any tool of the tenant is published",
		detail:  "It applies to tools without a gate of their own.",
	}, func(ctx context.Context, p tool.Principal, in *body[v1.NewPublishGate]) (*body[v1.PublishGate], error) {
		return s.setGate(ctx, p, tool.Tool{}, in.Body)
	})
	handle(s, route{
		id: "deletePublishGate", method: http.MethodDelete, path: "/v1/publish-gate", tag: "tools", permission: ToolsWrite,
		summary: "Remove the gate of the tenant",
	}, func(ctx context.Context, p tool.Principal, _ *noInput) (*body[v1.PublishGate], error) {
		return s.deleteGate(ctx, p, tool.Tool{})
	})
}

// deleteGate removes a gate, and returns it.
func (s *server) deleteGate(ctx context.Context, p tool.Principal, t tool.Tool) (*body[v1.PublishGate], error) {
	gone, err := s.showGate(ctx, p, t)
	if err != nil {
		return nil, err
	}
	return gone, s.cfg.Store.DeleteGate(ctx, p.Tenant, t.ID)
}

func (s *server) showGate(ctx context.Context, p tool.Principal, t tool.Tool) (*body[v1.PublishGate], error) {
	g, err := s.cfg.Store.FindGate(ctx, p.Tenant, t.ID)
	if err != nil {
		return nil, err
	}
	return answer(v1.FromGate(g, t.Slug)), nil
}

func (s *server) setGate(
	ctx context.Context, p tool.Principal, t tool.Tool, n v1.NewPublishGate,
) (*body[v1.PublishGate], error) {
	g, err := s.cfg.Store.SetGate(ctx, registry.Gate{
		Tenant: p.Tenant, ToolID: t.ID, Replay: n.Replay, MaxDifferent: n.MaxDifferent, ChangedBy: p.Subject,
	})
	if err != nil {
		return nil, err
	}
	return answer(v1.FromGate(g, t.Slug)), nil
}
