package api

import (
	"context"
	"net/http"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/release"
	"github.com/toolcrib/toolcrib/tool"
)

type diffToolInput struct {
	ToolPath
	From string `query:"from" maxLength:"100" doc:"Number of a version, or draft; the last release when absent"`
	To   string `query:"to" maxLength:"100" doc:"Number of a version, or draft; the draft when absent"`
}

func (s *server) registerDiffs() {
	handle(s, route{
		id: "diffTool", method: http.MethodGet, path: "/v1/tools/{tool}/diff", tag: "tools", permission: ToolsRead,
		summary: "Compare two versions of a tool",
		detail: "Lists the changes, whether each is breaking for callers of the tool, and the least number that the " +
			"rules of publishing allow.",
	}, s.diffTool)
	handle(s, route{
		id: "diffDefinition", method: http.MethodPost, path: "/v1/diff", tag: "definitions", permission: ToolsWrite,
		summary: "Compare a tool with a definition that might be applied",
		detail: "Changes nothing. Beside the content it compares the policy, which takes effect without a version. A " +
			"number that is too low is part of the response, not an error.",
	}, s.diffDefinition)
}

func (s *server) diffTool(ctx context.Context, p tool.Principal, in *diffToolInput) (*body[v1.Diff], error) {
	t, err := s.findTool(ctx, p, in.Tool)
	if err != nil {
		return nil, err
	}
	d, err := s.cfg.Registry.Compare(ctx, p, tool.Ref{ID: t.ID}, in.From, in.To)
	if err != nil {
		return nil, err
	}
	return answer(showDiff(d)), nil
}

func (s *server) diffDefinition(ctx context.Context, p tool.Principal, in *body[v1.NewDiff]) (*body[v1.Diff], error) {
	parsed, err := definition.Parse(in.Body.Definition)
	if err != nil {
		return nil, err
	}
	if parsed.Tool == nil {
		return nil, &tool.Error{
			Kind: tool.Invalid, Op: "api.diff", Path: "/kind", Msg: "only definitions of tools are compared",
		}
	}
	d, err := s.cfg.Registry.CompareSpec(ctx, p, *parsed.Tool, in.Body.From)
	if err != nil {
		return nil, err
	}
	return answer(showDiff(d)), nil
}

func showDiff(d release.Diff) v1.Diff {
	out := v1.Diff{
		Tool: d.Slug, From: d.From, To: d.To, Number: d.Number, Bump: d.Bump.String(), Least: d.Least,
		Enough: d.Refusal == "", Refusal: d.Refusal, Changes: make([]v1.Change, len(d.Changes)),
	}
	for i, c := range d.Changes {
		out.Changes[i] = v1.Change{Path: c.Path, Bump: c.Bump.String(), Reason: c.Reason}
	}
	return out
}
