package registry

import (
	"context"
	"strings"

	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/tool"
)

// Imported is the result of importing one tool.
type Imported struct {
	definition.Change
	Err *tool.Error // Set when the tool was not imported.
}

// Import applies tools of another system, as [definition.Parse] reads them.
// [definition.Backfill] fills in missing fields. A tool that cannot be published
// becomes a draft, with a warning that gives the reason. One that is no valid draft
// fails alone.
func (r *Registry) Import(ctx context.Context, p tool.Principal, tools []definition.ToolSpec) ([]Imported, error) {
	return r.importTools(ctx, p, tools, true)
}

// CheckImport returns the result that [Registry.Import] would have, and stores
// nothing.
func (r *Registry) CheckImport(ctx context.Context, p tool.Principal, tools []definition.ToolSpec) ([]Imported, error) {
	return r.importTools(ctx, p, tools, false)
}

func (r *Registry) importTools(
	ctx context.Context, p tool.Principal, tools []definition.ToolSpec, write bool,
) ([]Imported, error) {
	if err := refusal.Unpermitted(p, ToolsWrite); err != nil {
		return nil, err
	}
	out := make([]Imported, 0, len(tools))
	for _, s := range tools {
		out = append(out, r.importTool(ctx, p, definition.Backfill(s), write))
	}
	return out, nil
}

func (r *Registry) importTool(ctx context.Context, p tool.Principal, s definition.ToolSpec, write bool) Imported {
	c, err := r.applyTool(ctx, p, s, write)
	if err == nil {
		return Imported{Change: c}
	}
	if !s.AsksToPublish() {
		return failed(s, err)
	}
	reason := tool.AsError(err)
	missing := reason.Kind == tool.NotFound && strings.HasPrefix(reason.Path, "/artifact_") // It may be uploaded yet.
	if reason.Kind != tool.Invalid && reason.Kind != tool.Conflict && !missing {
		return failed(s, err)
	}
	s.Status, s.Publish = "", false
	if c, err = r.applyTool(ctx, p, s, write); err != nil {
		return failed(s, err)
	}
	c.Warnings = append(c.Warnings, "imported as a draft: "+reason.Msg)
	return Imported{Change: c}
}

func failed(s definition.ToolSpec, err error) Imported {
	return Imported{Change: definition.Change{Kind: "tool", Slug: s.Slug, Version: s.Version}, Err: tool.AsError(err)}
}
