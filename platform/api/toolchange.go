package api

import (
	"context"
	"net/http"
	"strings"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/tool"
)

type changeToolInput struct {
	ToolPath
	Changing
}

type publishToolInput struct {
	ToolPath
	Changing
	Version string `query:"version" maxLength:"100" doc:"An existing version; the draft when absent"`
	Strict  bool   `query:"strict" doc:"Refuse a tool with findings"`
}

type publishToolOutput struct {
	Etag string `header:"Etag"`
	Body v1.Published
}

type versionToolInput struct {
	ToolPath
	Changing
	NewVersion string `query:"new_version" required:"true" minLength:"1" maxLength:"100" doc:"A semantic version greater than the last"`
}

// registerToolChanges adds the endpoints that change the state of a tool.
func (s *server) registerToolChanges() {
	handle(s, route{
		id: "publishTool", method: http.MethodPost, path: "/v1/tools/{tool}/publish", tag: "tools", permission: ToolsWrite,
		summary: "Publish a tool",
		detail: "Publishes a version; without one, snapshots the draft and publishes it. Findings are weak points of " +
			"the draft, such as a description that does not say when to use the tool.",
	}, s.publishTool)
	handle(s, route{
		id: "versionTool", method: http.MethodPost, path: "/v1/tools/{tool}/version", tag: "tools", permission: ToolsWrite,
		summary: "Snapshot a tool's draft under a number, without publishing it",
		detail:  "The number must be raised at least as much as the changes require; the error names the decisive change.",
	}, s.versionTool)
	for _, change := range []struct {
		id, summary, detail string
		apply               func(*registry.Registry) func(context.Context, tool.Principal, tool.Ref) (tool.Tool, error)
	}{
		{
			"disable", "Disable a tool at once, everywhere", "Running runs stop at its next call, pinned or not.",
			func(r *registry.Registry) func(context.Context, tool.Principal, tool.Ref) (tool.Tool, error) {
				return r.Disable
			},
		},
		{
			"enable", "Enable a disabled or deprecated tool",
			"Its status becomes published if it has a published version, else draft.",
			func(r *registry.Registry) func(context.Context, tool.Principal, tool.Ref) (tool.Tool, error) {
				return r.Enable
			},
		},
		{
			"deprecate", "Refuse new bindings of a tool", "Existing ones keep working. Only a published tool can be deprecated.",
			func(r *registry.Registry) func(context.Context, tool.Principal, tool.Ref) (tool.Tool, error) {
				return r.Deprecate
			},
		},
	} {
		handle(s, route{
			id: change.id + "Tool", method: http.MethodPost, path: "/v1/tools/{tool}/" + change.id, tag: "tools",
			permission: ToolsWrite, summary: change.summary, detail: change.detail,
		}, func(ctx context.Context, p tool.Principal, in *changeToolInput) (*toolOutput, error) {
			t, changing, err := s.changingTool(ctx, p, in.Tool, in.Changing)
			if err != nil {
				return nil, err
			}
			if t, err = change.apply(changing)(ctx, p, tool.Ref{ID: t.ID}); err != nil {
				return nil, in.failed(err)
			}
			return showTool(t), nil
		})
	}
}

// changingTool returns a tool, and the registry that changes it under the
// condition.
func (s *server) changingTool(
	ctx context.Context, p tool.Principal, name string, c Changing,
) (tool.Tool, *registry.Registry, error) {
	t, err := s.findTool(ctx, p, name)
	if err != nil {
		return tool.Tool{}, nil, err
	}
	changing, err := conditional(c, s.cfg.Registry, t.ID, t.Revision)
	return t, changing, err
}

func (s *server) publishTool(ctx context.Context, p tool.Principal, in *publishToolInput) (*publishToolOutput, error) {
	found, changing, err := s.changingTool(ctx, p, in.Tool, in.Changing)
	if err != nil {
		return nil, err
	}
	weak, err := s.cfg.Registry.Findings(ctx, p, tool.Ref{ID: found.ID})
	if err == nil && in.Strict {
		err = registry.RefuseFindings(found.Slug, weak)
	}
	if err != nil {
		return nil, err
	}
	t, v, err := changing.Publish(ctx, p, tool.Ref{ID: found.ID, Constraint: in.Version})
	if err != nil {
		return nil, in.failed(err)
	}
	return &publishToolOutput{
		Etag: etag(t.ID, t.Revision), Body: v1.Published{
			Tool: v1.FromTool(t), Version: v1.FromToolVersion(v),
			Warnings: s.cfg.Registry.ConcurrencyWarnings(&v.Snapshot.Definition),
			Findings: v1.FromFindings(weak),
		},
	}, nil
}

func (s *server) versionTool(
	ctx context.Context, p tool.Principal, in *versionToolInput,
) (*body[v1.ToolVersion], error) {
	found, changing, err := s.changingTool(ctx, p, in.Tool, in.Changing)
	if err != nil {
		return nil, err
	}
	_, v, err := changing.Version(ctx, p, tool.Ref{ID: found.ID}, in.NewVersion)
	if err != nil {
		return nil, in.failed(err)
	}
	return answer(v1.FromToolVersion(v)), nil
}

// toolPlace is the position of a tool in the order of lists.
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
