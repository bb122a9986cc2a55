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
	s.registerToolApps()
}

func (s *server) getToolFields(ctx context.Context, p tool.Principal, in *toolFieldsInput) (*body[v1.ToolForm], error) {
	t, d, number, err := s.definitionAt(ctx, p, in.Tool, in.Version)
	if err != nil {
		return nil, err
	}
	form := v1.FormOf(&t, d, number, in.Version == "")
	if s.cfg.Apps != nil && !t.Global() && appOf(d) != nil {
		if form.App, err = s.cfg.Store.PublishingEnabled(ctx, p.Tenant); err != nil {
			return nil, err
		}
	}
	return answer(form), nil
}

// definitionAt returns a tool, and the definition and number of a version of it, or of its draft.
func (s *server) definitionAt(
	ctx context.Context, p tool.Principal, name, version string,
) (tool.Tool, *tool.Definition, string, error) {
	t, err := s.findTool(ctx, p, name)
	if err != nil {
		return tool.Tool{}, nil, "", err
	}
	if version == "" {
		return t, &t.Definition, t.Version, nil
	}
	versions, err := s.cfg.Registry.Versions(ctx, p, tool.Ref{ID: t.ID})
	if err != nil {
		return tool.Tool{}, nil, "", err
	}
	for i := range versions {
		if versions[i].Number == version {
			return t, &versions[i].Snapshot.Definition, version, nil
		}
	}
	return tool.Tool{}, nil, "", &tool.Error{
		Kind: tool.NotFound, Op: "api.definitionAt", Msg: fmt.Sprintf("tool %q has no version %q", t.Slug, version),
	}
}
