package api

import (
	"context"
	"net/http"
	"strings"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

type publishToolInput struct {
	ToolPath
	Version string `query:"version" maxLength:"100" doc:"An existing version; the draft when absent"`
}

type publishToolOutput struct {
	Body v1.Published
}

type versionToolInput struct {
	ToolPath
	NewVersion string `query:"new_version" required:"true" minLength:"1" maxLength:"100" doc:"A semantic version greater than the last"`
}

type toolVersionOutput struct {
	Body v1.ToolVersion
}

// registerToolChanges adds the endpoints that change the state of a tool.
func (s *server) registerToolChanges() {
	handle(s, route{
		id: "publishTool", method: http.MethodPost, path: "/v1/tools/{tool}/publish", tag: "tools", permission: ToolsWrite,
		summary: "Publish a tool",
		detail:  "Publishes a version; without one the draft, which is snapshotted first.",
	}, s.publishTool)
	handle(s, route{
		id: "versionTool", method: http.MethodPost, path: "/v1/tools/{tool}/version", tag: "tools", permission: ToolsWrite,
		summary: "Snapshot a tool's draft under a number, without publishing it",
		detail:  "The number must be raised by at least what the change demands; the refusal names what demands it.",
	}, s.versionTool)
	for _, change := range []struct {
		id, summary string
		apply       func(context.Context, tool.Principal, tool.Ref) (tool.Tool, error)
	}{
		{"disable", "Stop a tool at once, everywhere", s.cfg.Registry.Disable},
		{"enable", "Take a disable or a deprecation back", s.cfg.Registry.Enable},
		{"deprecate", "Refuse new bindings of a tool; existing ones go on", s.cfg.Registry.Deprecate},
	} {
		handle(s, route{
			id: change.id + "Tool", method: http.MethodPost, path: "/v1/tools/{tool}/" + change.id, tag: "tools",
			permission: ToolsWrite, summary: change.summary,
		}, func(ctx context.Context, p tool.Principal, in *ToolPath) (*toolOutput, error) {
			t, err := s.findTool(ctx, p, in.Tool)
			if err != nil {
				return nil, err
			}
			if t, err = change.apply(ctx, p, tool.Ref{ID: t.ID}); err != nil {
				return nil, err
			}
			return &toolOutput{Body: v1.FromTool(t)}, nil
		})
	}
}

func (s *server) publishTool(ctx context.Context, p tool.Principal, in *publishToolInput) (*publishToolOutput, error) {
	found, err := s.findTool(ctx, p, in.Tool)
	if err != nil {
		return nil, err
	}
	t, v, err := s.cfg.Registry.Publish(ctx, p, tool.Ref{ID: found.ID, Constraint: in.Version})
	if err != nil {
		return nil, err
	}
	return &publishToolOutput{Body: v1.Published{Tool: v1.FromTool(t), Version: v1.FromToolVersion(v)}}, nil
}

func (s *server) versionTool(ctx context.Context, p tool.Principal, in *versionToolInput) (*toolVersionOutput, error) {
	found, err := s.findTool(ctx, p, in.Tool)
	if err != nil {
		return nil, err
	}
	_, v, err := s.cfg.Registry.Version(ctx, p, tool.Ref{ID: found.ID}, in.NewVersion)
	if err != nil {
		return nil, err
	}
	return &toolVersionOutput{Body: v1.FromToolVersion(v)}, nil
}

// toolPlace is where a tool stands in the order of lists.
func toolPlace(t tool.Tool) string { return t.Slug + "\n" + t.ID }

func openToolCursor(cursor string) (slug, id string, err error) {
	place, err := openCursor(cursor)
	if err != nil {
		return "", "", err
	}
	slug, id, _ = strings.Cut(place, "\n")
	if !tool.ValidSlug(slug) || !tool.ValidID(id) {
		return "", "", badCursor()
	}
	return slug, id, nil
}
