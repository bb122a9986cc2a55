package api

import (
	"context"
	"net/http"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/tool"
)

type renameToolInput struct {
	ToolPath
	Changing
	Body v1.RenameTool
}

// registerToolMoves adds the endpoints that import and rename tools.
func (s *server) registerToolMoves() {
	handle(s, route{
		id: "importTools", method: http.MethodPost, path: "/v1/tools/import", tag: "tools", permission: ToolsWrite,
		maxBody: MaxApplyBytes,
		summary: "Import tools of another system",
		detail: "Fills in defaults for absent fields: an active tool is published and another disabled, the version is " +
			"1.0.0, and the implementation type follows from artifact, configuration and is_system. A tool that cannot be " +
			"published becomes a draft, with a warning; one that is malformed fails alone, and the others are imported.",
	}, s.importTools)
	handle(s, route{
		id: "renameTool", method: http.MethodPost, path: "/v1/tools/{tool}/rename", tag: "tools", permission: ToolsWrite,
		summary: "Rename a tool",
		detail: "Until a given day its former slug still resolves to it, with a warning, and no other tool can take it. " +
			"Warnings name the agents whose drafts use the former slug.",
	}, s.renameTool)
}

func (s *server) importTools(
	ctx context.Context, p tool.Principal, in *body[v1.ImportTools],
) (*body[v1.Applied], error) {
	b := batch{server: s, principal: p}
	var specs []definition.ToolSpec
	var places []int // Index of each spec among the items.
	for i, raw := range in.Body.Definitions {
		d, err := definition.Parse(raw)
		if err == nil && d.Tool == nil {
			err = &tool.Error{
				Kind: tool.Invalid, Op: "api.importTools", Path: "/kind", Msg: "expected a tool: apply definitions of other kinds",
			}
		}
		b.definitions, b.items = append(b.definitions, d), append(b.items, v1.AppliedItem{Index: i, Action: v1.Skipped})
		if err != nil {
			b.fail(ctx, i, err)
			continue
		}
		specs, places = append(specs, *d.Tool), append(places, i)
	}
	run := s.cfg.Registry.Import
	if in.Body.DryRun {
		run = s.cfg.Registry.CheckImport
	}
	imported, err := run(ctx, p, specs)
	if err != nil {
		return nil, err
	}
	for n, item := range imported {
		i := places[n]
		if item.Err != nil {
			b.fail(ctx, i, item.Err)
			continue
		}
		b.items[i] = appliedItem(i, item.Change)
		if item.Action != definition.Unchanged {
			b.written++
		}
	}
	if b.outage != nil && b.written == 0 {
		return nil, b.outage
	}
	return answer(v1.Applied{DryRun: in.Body.DryRun, Failed: b.failed, Items: b.items}), nil
}

func (s *server) renameTool(ctx context.Context, p tool.Principal, in *renameToolInput) (*savedToolOutput, error) {
	found, changing, err := s.changingTool(ctx, p, in.Tool, in.Changing)
	if err != nil {
		return nil, err
	}
	t, warnings, err := changing.Rename(ctx, p, tool.Ref{ID: found.ID}, registry.Renaming{
		Slug: in.Body.Slug, KeepUntil: in.Body.KeepUntil, Drop: in.Body.DropFormer,
	})
	if err != nil {
		return nil, in.failed(err)
	}
	return showSaved(t, warnings), nil
}
