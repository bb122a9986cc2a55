package api

import (
	"context"
	"fmt"
	"net/http"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

type toolFieldsInput struct {
	ToolPath
	Version string `query:"version" maxLength:"100" doc:"Number of a version; the draft when absent"`
}

func (s *server) registerForms() {
	handle(s, route{
		id: "getToolFields", method: http.MethodGet, path: "/v1/tools/{tool}/fields", tag: "tools", permission: ToolsRead,
		summary: "Get the form of a tool, for people",
		detail: "The fields of the input schema, in order, the purpose of a call, whether it needs an approval, " +
			"and how the result is shown. Models get the same schemas, so a person fills in what an " +
			"agent would send. What fields cannot express is a field of JSON, listed under `kept` by its JSON Pointer.",
	}, s.getToolFields)
}

func (s *server) getToolFields(ctx context.Context, p tool.Principal, in *toolFieldsInput) (*body[v1.ToolForm], error) {
	t, err := s.findTool(ctx, p, in.Tool)
	if err != nil {
		return nil, err
	}
	if in.Version == "" {
		return answer(v1.FormOf(&t, &t.Definition, t.Version, true)), nil
	}
	versions, err := s.cfg.Registry.Versions(ctx, p, tool.Ref{ID: t.ID})
	if err != nil {
		return nil, err
	}
	for _, v := range versions {
		if v.Number == in.Version {
			return answer(v1.FormOf(&t, &v.Snapshot.Definition, v.Number, false)), nil
		}
	}
	return nil, &tool.Error{
		Kind: tool.NotFound, Op: "api.getToolFields", Msg: fmt.Sprintf("tool %q has no version %q", t.Slug, in.Version),
	}
}
