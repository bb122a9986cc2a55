package api

import (
	"context"
	"net/http"
	"strings"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/tool"
)

type toolUsersInput struct {
	ToolPath
	Paging
	Version string `query:"version" maxLength:"100" doc:"An existing version to judge by; the draft when absent"`
}

func (s *server) registerToolUsers() {
	handle(s, route{
		id: "listToolUsers", method: http.MethodGet, path: "/v1/tools/{tool}/users", tag: "tools", permission: ToolsRead,
		summary: "List what uses a tool, and what becomes of it when a version is published",
		detail: "Agents, compositions and graphs by what was published last and by their drafts, toolsets, schedules of " +
			"agents that use it, assignments and profiles. Versions are judged by the rules of publishing. A page holds at " +
			"least its limit where a composition uses the tool at several steps.",
	}, s.listToolUsers)
	for _, change := range []struct {
		id, summary, detail string
		apply               func(*registry.Registry) func(context.Context, tool.Principal, tool.Ref) (tool.Tool, error)
	}{
		{
			"archive", "Archive a tool that nothing uses",
			"It is disabled and left out of lists; its slug stays taken, and its versions and the record of its calls stay. A " +
				"conflict names the published agents, compositions, graphs and toolsets, and the runs, that use it.",
			func(r *registry.Registry) func(context.Context, tool.Principal, tool.Ref) (tool.Tool, error) {
				return r.Archive
			},
		},
		{
			"restore", "Take a tool out of the archive",
			"Its status becomes published if it has a published version, else draft.",
			func(r *registry.Registry) func(context.Context, tool.Principal, tool.Ref) (tool.Tool, error) {
				return r.Restore
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

func (s *server) listToolUsers(
	ctx context.Context, p tool.Principal, in *toolUsersInput,
) (*body[v1.ToolUsage], error) {
	t, err := s.findTool(ctx, p, in.Tool)
	if err != nil {
		return nil, err
	}
	var after registry.UsePlace
	if in.Cursor != "" {
		place, err := openCursor(in.Cursor)
		if err != nil {
			return nil, err
		}
		kind, rest, ok := strings.Cut(place, "\n")
		if !ok {
			return nil, badCursor()
		}
		after = registry.UsePlace{Kind: registry.UserKind(kind), Place: rest}
	}
	usage, err := s.cfg.Registry.Users(ctx, p, tool.Ref{ID: t.ID, Constraint: in.Version}, after, in.Limit)
	if err != nil {
		return nil, err
	}
	next := ""
	if usage.Next != nil {
		next = sealCursor(string(usage.Next.Kind) + "\n" + usage.Next.Place)
	}
	return answer(v1.FromToolUsage(usage, next)), nil
}
