package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/toolcrib/toolcrib/executors/httpcall"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/openapi"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/release"
	"github.com/toolcrib/toolcrib/tool"
)

// MaxImportBytes bounds a request with a document: the document may have
// [openapi.MaxDocumentBytes], and more once it is written in a JSON string.
const MaxImportBytes = 2 * openapi.MaxDocumentBytes

func (s *server) registerOpenAPI() {
	handle(s, route{
		id: "importOpenAPI", method: http.MethodPost, path: "/v1/tools/import/openapi", tag: "tools", permission: ToolsWrite,
		maxBody: MaxImportBytes,
		summary: "Import an OpenAPI document as tools",
		detail: "Creates a draft http tool for each operation, and lists what could not be mapped. Nothing is " +
			"fetched: references out of the document are refused. A repeated import under the same name finds its tools " +
			"by method and path or by operation id: it changes their drafts, publishes only with " +
			"`publish`, and lists tools whose operations were removed, without changing them. " +
			"Without `dry_run: false` nothing is written.",
	}, s.importOpenAPI)
	handle(s, route{
		id: "streamImportOpenAPI", method: http.MethodPost, path: "/v1/tools/import/openapi/stream", tag: "tools",
		permission: ToolsWrite,
		maxBody:    MaxImportBytes, stream: true,
		summary: "Import an OpenAPI document as tools and follow the import",
		detail: "As `importOpenAPI`, for large documents: the answer is a stream of server-sent events. `import.progress` " +
			"counts the finished operations, `import.result` lists their outcomes; `import.failed` is a problem that ended " +
			"the import. Closing the stream ends the import after the current operation.",
	}, s.streamImportOpenAPI)
	ok := s.api.OpenAPI().Paths["/v1/tools/import/openapi/stream"].Post.Responses["200"]
	ok.Content = map[string]*huma.MediaType{
		v1.StreamType: {
			Schema: &huma.Schema{
				Type:        huma.TypeString,
				Description: "Server-sent events; the data of each is an ImportProgress, an ImportedOpenAPI or a Problem",
			},
		},
	}
}

func (s *server) importOpenAPI(
	ctx context.Context, p tool.Principal, in *body[v1.ImportOpenAPI],
) (*body[v1.ImportedOpenAPI], error) {
	plan, err := s.planImport(ctx, p, in.Body)
	if err != nil {
		return nil, err
	}
	out, err := plan.run(ctx, func(v1.ImportProgress) {})
	if err != nil {
		return nil, err
	}
	return answer(out), nil
}

// planImport maps a document, and puts its operations beside the tenant's tools.
func (s *server) planImport(ctx context.Context, p tool.Principal, in v1.ImportOpenAPI) (*importing, error) {
	document, err := documentText(in.Document)
	if err != nil {
		return nil, err
	}
	result, err := openapi.Map(ctx, document, optionsOf(in))
	if err != nil {
		return nil, err
	}
	tools, err := s.ownTools(ctx, p, tool.HTTP)
	if err != nil {
		return nil, err
	}
	i := importing{
		server: s, principal: p, result: result, gone: result.Reconcile(tools),
		write: in.DryRun != nil && !*in.DryRun, publish: in.Publish,
	}
	return &i, nil
}

// run imports the operations into the registry, one after the other.
func (i *importing) run(ctx context.Context, report func(v1.ImportProgress)) (v1.ImportedOpenAPI, error) {
	out := describeImport(i.result, i.gone)
	out.DryRun = !i.write
	for n := range i.result.Operations {
		item, err := i.one(ctx, &i.result.Operations[n])
		if err != nil {
			return out, err
		}
		out.Operations = append(out.Operations, item)
		count(&out.Counts, item)
		report(v1.ImportProgress{Done: n + 1, Total: len(i.result.Operations), Tool: item.Tool})
	}
	return out, nil
}

// documentText returns the text of a document that was given as JSON, or in a
// string.
func documentText(raw json.RawMessage) ([]byte, error) {
	var text string
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || raw[0] != '"' {
		return raw, nil
	}
	if err := json.Unmarshal(raw, &text); err != nil {
		return nil, &tool.Error{
			Kind: tool.Invalid, Op: "api.importOpenAPI", Path: "/document", Msg: "expected a document", Err: err,
		}
	}
	return []byte(text), nil
}

func optionsOf(in v1.ImportOpenAPI) openapi.Options {
	return openapi.Options{
		Auth: authOf(in.Auth), OnePage: in.OnePage, Name: in.Name, DocumentURL: in.DocumentURL, Upstream: in.Upstream,
		Variables: in.Variables, Credentials: in.Credentials,
		Prefix: in.Prefix, Idempotent: in.Idempotent, Reads: in.Reads, Only: selectionOf(in.Only),
		Except: selectionOf(in.Except),
	}
}

func authOf(in *v1.ImportAuth) *httpcall.Auth {
	if in == nil {
		return nil
	}
	auth := &httpcall.Auth{Type: in.Type, Name: in.Name, CredentialsRef: in.Credential}
	if in.Type == "header" {
		auth.Name, auth.Header = "", in.Name
	}
	return auth
}

func selectionOf(f *v1.OperationFilter) openapi.Selection {
	if f == nil {
		return openapi.Selection{}
	}
	return openapi.Selection{Tags: f.Tags, Operations: f.Operations, Paths: f.Paths, Methods: f.Methods, Match: f.Match}
}

// importing writes the tools of a document, or reports what writing would do.
type importing struct {
	server    *server
	principal tool.Principal
	result    *openapi.Result
	gone      []tool.Tool
	write     bool
	publish   bool
}

// one imports the tool of an operation into the registry. A fault of this tool
// alone is reported in the returned operation; an error stops the whole import.
func (i *importing) one(ctx context.Context, o *openapi.Operation) (v1.ImportedOperation, error) {
	item := v1.ImportedOperation{
		OperationID: o.ID, Method: o.Method, Path: o.Path, Pointer: o.Pointer, Mapping: string(o.State),
		Losses: lossesOf(o.Losses),
		Reason: o.Reason, Needs: o.Needs(), Tool: o.Known, Action: v1.Skipped, Pagination: o.Pagination,
	}
	if o.Spec == nil {
		return item, nil
	}
	item.Tool, item.EgressClass = o.Spec.Slug, o.Spec.EgressClass
	change, err := i.bring(ctx, o, &item)
	if err != nil {
		item.Action, item.Diff = v1.Failed, nil
		item.Error, err = i.fault(ctx, err)
		return item, err
	}
	item.ToolID, item.Version = change.ID, change.Version
	item.Action, item.Warnings = v1.Action(change.Action), slices.Concat(o.Warnings, change.Warnings)
	if change.Action == definition.Unchanged {
		item.Diff = nil
	}
	if change.Action == definition.Created && !i.write {
		item.ToolID = "" // It has none yet.
	}
	if i.publish {
		item.Error, err = i.bringOut(ctx, &item)
	}
	return item, err
}

// fault returns the problem of a tool that failed by itself; an error stops the
// import.
func (i *importing) fault(ctx context.Context, err error) (*v1.Problem, error) {
	switch kind := tool.KindOf(err); {
	case kind == tool.Invalid, kind == tool.Conflict:
	case kind == tool.Denied && !lacksPermission(err, registry.ToolsWrite): // To declare that a POST only reads.
	default:
		return nil, err
	}
	return i.server.itemProblem(ctx, "importOpenAPI", err), nil
}

func lacksPermission(err error, permission string) bool {
	e, ok := errors.AsType[*tool.PermissionError](err)
	return ok && slices.Contains(e.Permissions, permission)
}

// bringOut publishes the tool of an operation, or reports that it would.
func (i *importing) bringOut(ctx context.Context, item *v1.ImportedOperation) (*v1.Problem, error) {
	if !i.write {
		item.Published = true
		return nil, nil
	}
	began := time.Now()
	_, v, err := i.server.cfg.Registry.Publish(ctx, i.principal, tool.Ref{ID: item.ToolID})
	if err != nil {
		return i.fault(ctx, err)
	}
	item.Version, item.Published = v.Number, true
	if item.Action == v1.Unchanged && v.PublishedAt != nil && v.PublishedAt.Before(began) {
		item.Published = false // It was before.
	}
	return nil, nil
}

// ofDocument are the fields in which a tool records its document: they change
// with the other fields.
var ofDocument = []string{
	"interaction/annotations/source/digest", "interaction/annotations/source/title",
	"interaction/annotations/source/version",
}

func (i *importing) bring(
	ctx context.Context, o *openapi.Operation, item *v1.ImportedOperation,
) (definition.Change, error) {
	r := i.server.cfg.Registry
	if o.Known == "" {
		return i.create(ctx, o)
	}
	change, err := r.Check(ctx, i.principal, definition.Definition{Tool: o.Spec})
	if err != nil || change.Action == definition.Unchanged {
		return change, err
	}
	diff, err := r.CompareSpec(ctx, i.principal, *o.Spec, release.DraftSide)
	if err != nil {
		return change, err
	}
	shown := showDiff(diff)
	shown.Changes = slices.DeleteFunc(shown.Changes, func(c v1.Change) bool { return slices.Contains(ofDocument, c.Path) })
	item.Diff = &shown
	if !i.write {
		return change, nil
	}
	return r.Apply(ctx, i.principal, definition.Definition{Tool: o.Spec})
}

// create makes a tool. A slug that another tool of the tenant has is a
// conflict: that tool is not this document's to change.
func (i *importing) create(ctx context.Context, o *openapi.Operation) (definition.Change, error) {
	r := i.server.cfg.Registry
	change, err := r.Check(ctx, i.principal, definition.Definition{Tool: o.Spec})
	if err == nil && change.Action != definition.Created {
		err = &tool.Error{
			Kind: tool.Conflict, Op: "api.importOpenAPI", Path: "/slug",
			Msg: "there is a tool " + o.Spec.Slug +
				" that was not imported from this document: set a prefix for the import, or exclude the operation",
		}
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
		Name: r.Name, Title: r.Title, Version: r.Version, OpenAPI: r.OpenAPI, Digest: r.Digest, Hosts: r.Hosts,
		Notes:      lossesOf(r.Notes),
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
			Tool: gone[i].Slug, ToolID: gone[i].ID, OperationID: source.OperationID, Method: source.Method, Path: source.Path,
			Status: string(gone[i].Status),
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
	case v1.Failed, v1.Skipped:
	}
	if item.Error != nil {
		c.Failed++
	}
	if item.Published {
		c.Published++
	}
}
