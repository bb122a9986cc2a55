package api

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

type updateToolInput struct {
	ToolPath
	Changing
	Body json.RawMessage
}

type savedToolOutput struct {
	Location string `header:"Location"`
	Etag     string `header:"Etag"`
	Body     v1.SavedTool
}

// registerToolEdits adds the endpoints that write the draft of a tool.
func (s *server) registerToolEdits() {
	handle(s, route{
		id: "createTool", method: http.MethodPost, path: "/v1/tools", tag: "tools", permission: ToolsWrite,
		status:  http.StatusCreated,
		summary: "Create a tool", body: reflect.TypeFor[v1.ToolDefinition](), maxBody: MaxApplyBytes,
		detail: "Creates a draft of the tenant. Only the publish endpoint publishes: status published is refused. Other " +
			"spellings of the fields, which `apply` reads too, are accepted. A slug that the tenant already has is a conflict.",
	}, s.createTool)
	handle(s, route{
		id: "updateTool", method: http.MethodPut, path: "/v1/tools/{tool}", tag: "tools", permission: ToolsWrite,
		summary: "Replace a tool's draft", body: reflect.TypeFor[v1.ToolDefinition](), maxBody: MaxApplyBytes,
		detail: "Replaces schemas, configuration, policy, status, implementation type and the link to an artifact: absent " +
			"fields get the defaults of a new tool. Published versions are not changed, and nothing is " +
			"published. The slug cannot change.",
	}, s.updateTool)
	handle(s, route{
		id: "checkTool", method: http.MethodPost, path: "/v1/tools/check", tag: "tools", permission: ToolsWrite,
		summary: "Check a definition of a tool", body: reflect.TypeFor[v1.ToolDefinition](), maxBody: MaxApplyBytes,
		detail: "Saves nothing. A definition that could not be saved as a draft is part of the response, not an error; " +
			"one that could is held against the rules of `toolcrib tool check` too.",
	}, s.checkTool)
}

func (s *server) checkTool(
	ctx context.Context, p tool.Principal, in *body[json.RawMessage],
) (*body[v1.CheckedDefinition], error) {
	spec, err := parseTool(in.Body)
	var checked registry.Checked
	parsed := err == nil
	if parsed {
		checked, err = s.cfg.Registry.CheckDraft(ctx, p, spec)
	}
	out := v1.CheckedDefinition{
		Valid: err == nil, Exists: checked.Exists, Warnings: checked.Warnings, Findings: v1.FromFindings(checked.Findings),
	}
	if err != nil {
		if kind := tool.KindOf(err); store.IsOutage(err) || kind == tool.InternalError || kind == tool.Denied {
			return nil, err
		}
		out.Error = s.itemProblem(ctx, "checkTool", err)
	}
	if parsed {
		out = out.WithForms(spec.Definition)
	}
	return answer(out), nil
}

func (s *server) createTool(
	ctx context.Context, p tool.Principal, in *body[json.RawMessage],
) (*savedToolOutput, error) {
	spec, err := parseTool(in.Body)
	if err != nil {
		return nil, err
	}
	t, warnings, err := s.cfg.Registry.Create(ctx, p, spec)
	if err != nil {
		return nil, err
	}
	out := showSaved(t, warnings)
	out.Location = "/v1/tools/" + t.Slug
	return out, nil
}

func (s *server) updateTool(ctx context.Context, p tool.Principal, in *updateToolInput) (*savedToolOutput, error) {
	found, changing, err := s.changingTool(ctx, p, in.Tool, in.Changing)
	if err != nil {
		return nil, err
	}
	raw, err := withField(in.Body, found.Slug, "slug", "key")
	if err != nil {
		return nil, err
	}
	spec, err := parseTool(raw)
	if err != nil {
		return nil, err
	}
	t, warnings, err := changing.Update(ctx, p, tool.Ref{ID: found.ID}, spec)
	if err != nil {
		return nil, in.failed(err)
	}
	return showSaved(t, warnings), nil
}

func showSaved(t tool.Tool, warnings []string) *savedToolOutput {
	return &savedToolOutput{
		Etag: etag(t.ID, t.Revision), Body: v1.SavedTool{Tool: v1.FromTool(t), Warnings: warnings},
	}
}

// parseTool reads the definition of a tool.
func parseTool(raw json.RawMessage) (definition.ToolSpec, error) {
	d, err := definition.Parse(raw)
	if err != nil {
		return definition.ToolSpec{}, err
	}
	if d.Tool == nil {
		return definition.ToolSpec{}, otherKind("tool")
	}
	return *d.Tool, nil
}

func otherKind(wanted string) error {
	return &tool.Error{
		Kind: tool.Invalid, Op: "api", Path: "/kind",
		Msg: "the definition is not of kind " + wanted + ": remove kind, or use /v1/apply",
	}
}

// withField returns a definition with a field that its body lacks in all
// spellings.
func withField(raw json.RawMessage, value string, spellings ...string) (json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil || fields == nil {
		return nil, &tool.Error{Kind: tool.Invalid, Op: "api", Msg: "expected a JSON object"}
	}
	for _, name := range spellings {
		if fields[name] != nil {
			return raw, nil
		}
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	fields[spellings[0]] = encoded
	return json.Marshal(fields)
}
