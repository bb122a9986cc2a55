package api

import (
	"context"
	"net/http"
	"slices"
	"time"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/openapi"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// maxBulk bounds the tools of one bulk change.
const maxBulk = 2000

// registerToolBulk adds the endpoints that delete a tool, and that change many.
func (s *server) registerToolBulk() {
	handle(s, route{
		id: "deleteTool", method: http.MethodDelete, path: "/v1/tools/{tool}", tag: "tools", permission: ToolsWrite,
		summary: "Delete a tool, permanently",
		detail: "Its slug and aliases become free; its versions and the records of its " +
			"calls stay. A published or deprecated tool must be disabled first (409); a tool that an MCP server brought " +
			"stays (409).",
	}, s.deleteTool)
	handle(s, route{
		id: "bulkTools", method: http.MethodPost, path: "/v1/tools/bulk", tag: "tools", permission: ToolsWrite,
		summary: "Publish, disable, enable or delete many tools",
		detail: "Selects the tenant's own tools by slug or id, tag, source and status. Each is changed in a transaction of " +
			"its own, under the rules for a single tool: a failure does not undo the other changes, and " +
			"its item says why.",
	}, s.bulkTools)
}

func (s *server) deleteTool(ctx context.Context, p tool.Principal, in *changeToolInput) (*toolOutput, error) {
	t, changing, err := s.changingTool(ctx, p, in.Tool, in.Changing)
	if err != nil {
		return nil, err
	}
	if t, err = changing.Delete(ctx, p, tool.Ref{ID: t.ID}); err != nil {
		return nil, in.failed(err)
	}
	return showTool(t), nil
}

func (s *server) bulkTools(
	ctx context.Context, p tool.Principal, in *body[v1.BulkTools],
) (*body[v1.BulkResult], error) {
	chosen, items, err := s.chooseTools(ctx, p, in.Body)
	if err != nil {
		return nil, err
	}
	b := bulk{server: s, principal: p, action: in.Body.Action, dry: in.Body.DryRun}
	for _, t := range chosen {
		items = append(items, b.one(ctx, t))
	}
	if b.outage != nil && b.changed == 0 {
		return nil, b.outage
	}
	out := v1.BulkResult{Action: in.Body.Action, DryRun: in.Body.DryRun, Items: items}
	for _, item := range items {
		switch item.Outcome {
		case v1.BulkChanged:
			out.Counts.Changed++
		case v1.BulkUnchanged:
			out.Counts.Unchanged++
		case v1.BulkSkipped:
			out.Counts.Skipped++
		default:
			out.Counts.Failed++
		}
	}
	return answer(out), nil
}

// chooseTools returns the selected tools, and an item for each unknown name.
func (s *server) chooseTools(
	ctx context.Context, p tool.Principal, in v1.BulkTools,
) ([]tool.Tool, []v1.BulkItem, error) {
	items := []v1.BulkItem{}
	if len(in.Tools) == 0 && in.Tag == "" && in.Source == "" {
		return nil, nil, &tool.Error{
			Kind: tool.Invalid, Op: "api.bulkTools", Path: "/tools",
			Msg: "expected tools, a tag or a source: without one, all tools would be selected",
		}
	}
	var found []tool.Tool
	if len(in.Tools) == 0 {
		own, err := s.ownTools(ctx, p, "")
		if err != nil {
			return nil, nil, err
		}
		found = own
	}
	seen := make(map[string]bool)
	for _, name := range in.Tools {
		t, err := s.findTool(ctx, p, name)
		if err != nil && (store.IsOutage(err) || tool.KindOf(err) != tool.NotFound) {
			return nil, nil, err
		}
		switch {
		case err != nil:
			items = append(items, v1.BulkItem{Tool: name, Outcome: v1.BulkFailed, Error: s.itemProblem(ctx, "bulkTools", err)})
		case !seen[t.ID]:
			seen[t.ID] = true
			found = append(found, t)
		}
	}
	found = slices.DeleteFunc(found, func(t tool.Tool) bool { return !meant(&t, in) })
	if len(found) > maxBulk {
		return nil, nil, &tool.Error{
			Kind: tool.Invalid, Op: "api.bulkTools", Path: "/source",
			Msg: "more than 2000 tools are selected: change them in parts, by tag or status",
		}
	}
	return found, items, nil
}

// meant reports whether a tool has the requested tag, source and status.
func meant(t *tool.Tool, in v1.BulkTools) bool {
	source := openapi.SourceOf(t)
	if in.Source != "" && (source == nil || source.Name != in.Source) {
		return false
	}
	if in.Tag != "" && t.Category != in.Tag && (source == nil || !slices.Contains(source.Tags, in.Tag)) {
		return false
	}
	return in.Status == "" || t.Status == in.Status
}

// itemProblem returns the problem of one item among several, with the trace id.
func (s *server) itemProblem(ctx context.Context, operation string, err error) *v1.Problem {
	problem := *s.problem(ctx, operation, err)
	problem.TraceID = traceID(ctx)
	return &problem
}

// ownTools lists the tools that belong to the tenant itself, of one
// implementation type or of all.
func (s *server) ownTools(ctx context.Context, p tool.Principal, of tool.Implementation) ([]tool.Tool, error) {
	q := registry.ToolQuery{Implementation: of, Limit: 200}
	var own []tool.Tool
	for {
		page, err := s.cfg.Registry.List(ctx, p, q)
		if err != nil {
			return nil, err
		}
		for _, t := range page {
			if !t.Global() {
				own = append(own, t)
			}
		}
		if len(page) < q.Limit {
			return own, nil
		}
		q.AfterSlug, q.AfterID = page[len(page)-1].Slug, page[len(page)-1].ID
	}
}

// bulk changes tools, one after the other.
type bulk struct {
	server    *server
	principal tool.Principal
	action    v1.BulkAction
	dry       bool
	changed   int
	outage    error // Why the following tools were skipped.
}

func (b *bulk) one(ctx context.Context, t tool.Tool) v1.BulkItem {
	item := v1.BulkItem{Tool: t.Slug, ToolID: t.ID, Status: t.Status, Outcome: v1.BulkChanged}
	switch {
	case b.outage != nil:
		item.Outcome = v1.BulkSkipped
		return item
	case b.dry:
		return item
	}
	unchanged, err := b.apply(ctx, &t, &item)
	switch {
	case err != nil:
		if store.IsOutage(err) {
			b.outage = err
		}
		item.Outcome, item.Error = v1.BulkFailed, b.server.itemProblem(ctx, "bulkTools", err)
		return item
	case unchanged:
		item.Outcome = v1.BulkUnchanged
	default:
		b.changed++
	}
	item.Status = t.Status
	return item
}

// apply makes the change, and reports whether the tool was already in this state.
func (b *bulk) apply(ctx context.Context, t *tool.Tool, item *v1.BulkItem) (unchanged bool, err error) {
	r, ref, revision, began := b.server.cfg.Registry, tool.Ref{ID: t.ID}, t.Revision, time.Now()
	switch b.action {
	case v1.BulkPublish:
		var v tool.Version
		published := t.Status == tool.Published
		if *t, v, err = r.Publish(ctx, b.principal, ref); err != nil {
			return false, err
		}
		item.Version = v.Number
		return published && v.PublishedAt != nil && v.PublishedAt.Before(began), nil
	case v1.BulkDisable:
		*t, err = r.Disable(ctx, b.principal, ref)
	case v1.BulkEnable:
		*t, err = r.Enable(ctx, b.principal, ref)
	case v1.BulkDelete:
		_, err = r.Delete(ctx, b.principal, ref)
		t.Status = ""
		return false, err
	default:
		return false, &tool.Error{
			Kind: tool.Invalid, Op: "api.bulkTools", Path: "/action", Msg: "expected publish, disable, enable or delete",
		}
	}
	return err == nil && t.Revision == revision, err
}
