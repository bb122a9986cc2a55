package api

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/openapi"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/tool"
)

// MaxImportBytes bounds a request with a document: the document may have
// [openapi.MaxDocumentBytes], and more once it is written in a JSON string.
const MaxImportBytes = 2 * openapi.MaxDocumentBytes

type importOpenAPIInput struct {
	Body v1.ImportOpenAPI
}

type importOpenAPIOutput struct {
	Body v1.ImportedOpenAPI
}

func (s *server) registerOpenAPI() {
	handle(s, route{
		id: "importOpenAPI", method: http.MethodPost, path: "/v1/tools/import/openapi", tag: "tools", permission: ToolsWrite,
		maxBody: MaxImportBytes,
		summary: "Make tools of an OpenAPI document",
		detail: "Makes a draft of an http tool of each operation, and tells of what could not be mapped. Nothing is fetched: " +
			"references out of the document are refused. Imported again, by the same name, the document's tools are found by " +
			"method and path or by operation id: their drafts are changed, what is published is not touched, and tools whose " +
			"operations are gone are told of and stay. Without `dry_run: false` nothing is written.",
	}, s.importOpenAPI)
}

func (s *server) importOpenAPI(ctx context.Context, p tool.Principal, in *importOpenAPIInput) (*importOpenAPIOutput, error) {
	document, err := documentText(in.Body.Document)
	if err != nil {
		return nil, err
	}
	result, err := openapi.Map(ctx, document, optionsOf(in.Body))
	if err != nil {
		return nil, err
	}
	tools, err := s.ownTools(ctx, p)
	if err != nil {
		return nil, err
	}
	gone := result.Reconcile(tools)
	i := importing{server: s, principal: p, known: make(map[string]tool.Tool), write: in.Body.DryRun != nil && !*in.Body.DryRun}
	for _, t := range tools {
		i.known[t.Slug] = t
	}
	out := describeImport(result, gone)
	out.DryRun = !i.write
	for n := range result.Operations {
		item, err := i.one(ctx, &result.Operations[n])
		if err != nil {
			return nil, err
		}
		out.Operations = append(out.Operations, item)
		count(&out.Counts, item)
	}
	return &importOpenAPIOutput{Body: out}, nil
}

// documentText returns the text of a document that was given as JSON, or in a
// string.
func documentText(raw json.RawMessage) ([]byte, error) {
	var text string
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || raw[0] != '"' {
		return raw, nil
	}
	if err := json.Unmarshal(raw, &text); err != nil {
		return nil, &tool.Error{Kind: tool.Invalid, Op: "api.importOpenAPI", Path: "/document", Msg: "expected a document", Err: err}
	}
	return []byte(text), nil
}

func optionsOf(in v1.ImportOpenAPI) openapi.Options {
	return openapi.Options{
		Name: in.Name, DocumentURL: in.DocumentURL, Upstream: in.Upstream, Variables: in.Variables, Credentials: in.Credentials,
		Prefix: in.Prefix, Idempotent: in.Idempotent, Only: selectionOf(in.Only), Except: selectionOf(in.Except),
	}
}

func selectionOf(f *v1.OperationFilter) openapi.Selection {
	if f == nil {
		return openapi.Selection{}
	}
	return openapi.Selection{Tags: f.Tags, Operations: f.Operations, Paths: f.Paths, Methods: f.Methods}
}

// ownTools lists the http tools that belong to the tenant itself.
func (s *server) ownTools(ctx context.Context, p tool.Principal) ([]tool.Tool, error) {
	q := registry.ToolQuery{Implementation: tool.HTTP, Limit: 200}
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

// importing writes the tools of a document, or tells what writing would do.
type importing struct {
	server    *server
	principal tool.Principal
	known     map[string]tool.Tool // The tenant's http tools, by slug.
	write     bool
}

// one brings the tool of an operation into the registry. What is wrong with one
// tool is told of with it; an error is for what stops them all.
func (i *importing) one(ctx context.Context, o *openapi.Operation) (v1.ImportedOperation, error) {
	item := v1.ImportedOperation{
		OperationID: o.ID, Method: o.Method, Path: o.Path, Pointer: o.Pointer, Mapping: string(o.State), Losses: lossesOf(o.Losses),
		Reason: o.Reason, Needs: o.Needs(), Tool: o.Known, Action: v1.Skipped,
	}
	if o.Spec == nil {
		return item, nil
	}
	item.Tool = o.Spec.Slug
	change, err := i.bring(ctx, o, &item)
	if err != nil && tool.KindOf(err) != tool.Invalid && tool.KindOf(err) != tool.Conflict {
		return item, err
	}
	if err != nil {
		problem := *i.server.problem(ctx, "importOpenAPI", err)
		problem.TraceID = traceID(ctx)
		item.Action, item.Error, item.Diff = v1.Failed, &problem, nil
		return item, nil
	}
	item.ToolID, item.Version, item.Action, item.Warnings = change.ID, change.Version, v1.Action(change.Action), change.Warnings
	if change.Action == registry.Unchanged {
		item.Diff = nil
	}
	if change.Action == registry.Created && !i.write {
		item.ToolID = "" // It has none yet.
	}
	return item, nil
}

// ofDocument are changes of what a tool remembers of its document: they follow
// from the others.
var ofDocument = []string{
	"interaction/annotations/source/digest", "interaction/annotations/source/title", "interaction/annotations/source/version",
}

func (i *importing) bring(ctx context.Context, o *openapi.Operation, item *v1.ImportedOperation) (registry.Change, error) {
	r, definition := i.server.cfg.Registry, registry.Definition{Tool: o.Spec}
	if o.Known == "" {
		return i.create(ctx, o)
	}
	change, err := r.Check(ctx, i.principal, definition)
	if err != nil || change.Action == registry.Unchanged {
		return change, err
	}
	diff, err := r.CompareSpec(ctx, i.principal, *o.Spec, registry.DraftSide)
	if err != nil {
		return change, err
	}
	shown := showDiff(diff)
	shown.Changes = slices.DeleteFunc(shown.Changes, func(c v1.Change) bool { return slices.Contains(ofDocument, c.Path) })
	item.Diff = &shown
	if !i.write {
		return change, nil
	}
	return r.Apply(ctx, i.principal, definition)
}

// create makes a tool. A slug that another tool of the tenant has is a
// conflict: that tool is not this document's to change.
func (i *importing) create(ctx context.Context, o *openapi.Operation) (registry.Change, error) {
	r := i.server.cfg.Registry
	change, err := r.Check(ctx, i.principal, registry.Definition{Tool: o.Spec})
	if err == nil && change.Action != registry.Created {
		err = &tool.Error{Kind: tool.Conflict, Op: "api.importOpenAPI", Path: "/slug", Msg: "there is a tool " + o.Spec.Slug + " that this document did not bring: give the import a prefix, or leave the operation out"}
	}
	if err != nil || !i.write {
		return change, err
	}
	t, warnings, err := r.Create(ctx, i.principal, *o.Spec)
	if err != nil {
		return change, err
	}
	change.ID, change.Version, change.Warnings = t.ID, t.Version, warnings
	return change, nil
}

func describeImport(r *openapi.Result, gone []tool.Tool) v1.ImportedOpenAPI {
	out := v1.ImportedOpenAPI{
		Name: r.Name, Title: r.Title, Version: r.Version, OpenAPI: r.OpenAPI, Digest: r.Digest, Hosts: r.Hosts, Notes: lossesOf(r.Notes),
		Operations: make([]v1.ImportedOperation, 0, len(r.Operations)),
	}
	if out.Hosts == nil {
		out.Hosts = []string{}
	}
	out.Counts.Unselected, out.Counts.Gone = r.Unselected, len(gone)
	for _, need := range r.Needs {
		out.Needs = append(out.Needs, v1.NeededCredential{Scheme: need.Scheme, Holds: need.Kind, Operations: need.Operations})
	}
	for i := range gone {
		source := openapi.SourceOf(&gone[i])
		out.Gone = append(out.Gone, v1.GoneTool{
			Tool: gone[i].Slug, ToolID: gone[i].ID, OperationID: source.OperationID, Method: source.Method, Path: source.Path, Status: string(gone[i].Status),
		})
	}
	return out
}

func lossesOf(losses []openapi.Loss) []v1.Loss {
	var out []v1.Loss
	for _, l := range losses {
		out = append(out, v1.Loss{Pointer: l.Pointer, Reason: l.Reason})
	}
	return out
}

func count(c *v1.ImportCounts, item v1.ImportedOperation) {
	switch openapi.State(item.Mapping) {
	case openapi.Mapped:
		c.Mapped++
	case openapi.WithLosses:
		c.WithLosses++
	case openapi.Skipped:
		c.Skipped++
	}
	switch item.Action {
	case v1.Created:
		c.Created++
	case v1.Updated:
		c.Updated++
	case v1.Unchanged:
		c.Unchanged++
	case v1.Failed:
		c.Failed++
	case v1.Skipped:
	}
}
