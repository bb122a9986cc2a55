package api

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"unicode/utf8"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/tool"
)

// MaxDocumentBody bounds a request that holds a document: the largest content,
// in base64 or as a text of which much is escaped.
const MaxDocumentBody = 2*retrieval.MaxDocumentBytes + DefaultMaxBodyBytes

// DocumentPath names the document of a path. It is exported as [Paging] is.
type DocumentPath struct {
	PipelinePath
	Document string `path:"document" maxLength:"512" doc:"Id, or a key without a slash; for a key with a slash, find the id with the list's parameter key" example:"annual-leave.md"`
}

type addDocumentInput struct {
	PipelinePath
	Body v1.NewDocument
}

type addDocumentOutput struct {
	Status   int
	Location string `header:"Location"`
	Body     v1.Document
}

type listDocumentsInput struct {
	PipelinePath
	Status string `query:"status" enum:"pending,ingesting,ready,failed"`
	Key    string `query:"key" maxLength:"512" doc:"Only the document with this key" example:"people/annual-leave.md"`
	Cursor string `query:"cursor" maxLength:"1000" doc:"Start of the page: next of the previous page"`
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
}

type documentInput struct {
	DocumentPath
}

type documentTextInput struct {
	DocumentPath
	Start int `query:"start" minimum:"0" doc:"Where the requested part begins, in bytes, as a hit's start" example:"120"`
	End   int `query:"end" minimum:"0" doc:"Where it ends, as a hit's end; absent or 0 for the end of the text" example:"320"`
}

func (s *server) registerDocuments() {
	handle(s, route{
		id: "addDocument", method: http.MethodPost, path: "/v1/pipelines/{pipeline}/documents", tag: "pipelines",
		permission: PipelinesWrite,
		maxBody:    MaxDocumentBody, accepted: "The document is stored, and is being ingested",
		summary: "Add a document, or replace one",
		detail: "Replaces a document with the same key; its old content is searched until the new one is ready. The same " +
			"document again changes nothing, unless it failed: then it is ingested again. The document shows the " +
			"progress.",
	}, s.addDocument)
	handle(s, route{
		id: "listDocuments", method: http.MethodGet, path: "/v1/pipelines/{pipeline}/documents", tag: "pipelines",
		permission: PipelinesRead,
		summary:    "List a pipeline's documents, in the order of keys", detail: "Without their content.",
	}, s.listDocuments)
	handle(s, route{
		id: "getDocument", method: http.MethodGet, path: "/v1/pipelines/{pipeline}/documents/{document}", tag: "pipelines",
		permission: PipelinesRead,
		summary:    "Get a document", detail: "With the progress of its ingestion, without its content.",
	}, s.getDocument)
	handle(s, route{
		id: "getDocumentText", method: http.MethodGet, path: "/v1/pipelines/{pipeline}/documents/{document}/text",
		tag: "pipelines", permission: PipelinesRead,
		summary: "Get the text of a document, or a part of it",
		detail: "The text that was split into passages: extracted from the version that is searched, with front " +
			"matter. A hit's start and end are offsets into it, in bytes of UTF-8. A document without a searched version has " +
			"no text: that is a conflict.",
	}, s.getDocumentText)
	handle(s, route{
		id: "deleteDocument", method: http.MethodDelete, path: "/v1/pipelines/{pipeline}/documents/{document}",
		tag: "pipelines", permission: PipelinesWrite,
		summary: "Delete a document, at once and permanently", detail: "Searches no longer find it.",
	}, s.deleteDocument)
}

func (s *server) addDocument(ctx context.Context, p tool.Principal, in *addDocumentInput) (*addDocumentOutput, error) {
	found, err := s.cfg.Retrieval.FindPipeline(ctx, p.Tenant, in.Pipeline)
	if err != nil {
		return nil, err
	}
	wanted, content, err := in.Body.Document()
	if err != nil {
		return nil, err
	}
	wanted.Tenant, wanted.PipelineID, wanted.CreatedBy = p.Tenant, found.ID, p.Subject
	if err := wanted.Check(content); err != nil {
		return nil, fmt.Errorf("checking the document: %w", err)
	}
	if err := s.runs.Available(ctx); err != nil { // It would not be ingested.
		return nil, err
	}
	if err := s.lookAtDocument(ctx, wanted); err != nil {
		return nil, err
	}
	stored, changed, err := s.cfg.Retrieval.PutDocument(ctx, wanted, content)
	if err != nil {
		return nil, fmt.Errorf("storing document %q: %w", wanted.Key, err)
	}
	out := &addDocumentOutput{
		Status: http.StatusOK, Location: "/v1/pipelines/" + found.Slug + "/documents/" + stored.ID,
		Body: v1.FromDocument(stored),
	}
	// A pending document may be left over from a request that was interrupted.
	if changed || stored.Status == retrieval.Pending {
		if err := s.ingest(ctx, stored); err != nil {
			return nil, err
		}
		out.Status = http.StatusAccepted
	}
	return out, nil
}

// lookAtDocument ends the ingestion of the stored document with the same key if
// no workflow works on it any more, so that the same content is ingested again.
func (s *server) lookAtDocument(ctx context.Context, wanted retrieval.Document) error {
	d, err := s.cfg.Retrieval.FindDocument(ctx, wanted.Tenant, wanted.PipelineID, wanted.Key)
	switch { // Of a document that is new there is none.
	case err != nil && tool.KindOf(err) == tool.NotFound:
		return nil
	case err != nil:
		return fmt.Errorf("finding the document to be replaced: %w", err)
	case d.Key != wanted.Key:
		return nil
	}
	if _, err = s.records.Document(ctx, d); err != nil {
		return fmt.Errorf("reconciling the document to be replaced: %w", err)
	}
	return nil
}

func (s *server) listDocuments(
	ctx context.Context, p tool.Principal, in *listDocumentsInput,
) (*listed[v1.Document], error) {
	found, err := s.cfg.Retrieval.FindPipeline(ctx, p.Tenant, in.Pipeline)
	if err != nil {
		return nil, err
	}
	if in.Key != "" {
		return s.listDocument(ctx, p, found.ID, in)
	}
	paging := Paging{Cursor: in.Cursor, Limit: in.Limit}
	filter := retrieval.DocumentFilter{Status: retrieval.DocumentStatus(in.Status), Limit: paging.fetch()}
	if in.Cursor != "" {
		if filter.AfterKey, err = openCursor(in.Cursor); err != nil {
			return nil, err
		}
	}
	documents, err := s.cfg.Retrieval.ListDocuments(ctx, p.Tenant, found.ID, filter)
	if err != nil {
		return nil, fmt.Errorf("listing documents: %w", err)
	}
	return answer(page(paging, documents, v1.FromDocument, func(d retrieval.Document) string { return d.Key })), nil
}

// listDocument lists the document of a key, if there is one and it has the
// status that is asked for.
func (s *server) listDocument(
	ctx context.Context, p tool.Principal, pipeline string, in *listDocumentsInput,
) (*listed[v1.Document], error) {
	out := answer(v1.Page[v1.Document]{Items: []v1.Document{}})
	d, err := s.cfg.Retrieval.FindDocument(ctx, p.Tenant, pipeline, in.Key)
	switch {
	case err != nil && tool.KindOf(err) == tool.NotFound:
		return out, nil
	case err != nil:
		return nil, fmt.Errorf("finding the document: %w", err)
	}
	if d.Key == in.Key && (in.Status == "" || string(d.Status) == in.Status) {
		out.Body.Items = append(out.Body.Items, v1.FromDocument(d))
	}
	return out, nil
}

// findDocument returns the pipeline and the document of a path.
func (s *server) findDocument(ctx context.Context, p tool.Principal, in DocumentPath) (retrieval.Document, error) {
	found, err := s.cfg.Retrieval.FindPipeline(ctx, p.Tenant, in.Pipeline)
	if err != nil {
		return retrieval.Document{}, err
	}
	return s.cfg.Retrieval.FindDocument(ctx, p.Tenant, found.ID, in.Document)
}

func (s *server) getDocumentText(
	ctx context.Context, p tool.Principal, in *documentTextInput,
) (*body[v1.DocumentText], error) {
	found, err := s.cfg.Retrieval.FindPipeline(ctx, p.Tenant, in.Pipeline)
	if err != nil {
		return nil, err
	}
	d, err := s.cfg.Retrieval.FindDocument(ctx, p.Tenant, found.ID, in.Document)
	if err != nil {
		return nil, err
	}
	version, text, err := s.cfg.Retrieval.ReadText(ctx, p.Tenant, found.ID, d.ID)
	if err != nil {
		return nil, fmt.Errorf("reading the text of document %q: %w", d.Key, err)
	}
	start, end := in.Start, cmp.Or(in.End, len(text))
	switch {
	case start > end || end > len(text):
		return nil, invalidPart(fmt.Sprintf("%d to %d is outside of the text, which has %d bytes", start, end, len(text)))
	case !boundary(text, start) || !boundary(text, end):
		return nil, invalidPart(fmt.Sprintf("%d or %d is inside of a character, which has several bytes", start, end))
	}
	return answer(v1.DocumentText{
		ID: d.ID, Version: version, Bytes: len(text), Start: start, End: end, Text: text[start:end],
	}), nil
}

// boundary reports whether a character begins, or the text ends, at an offset.
func boundary(text string, at int) bool { return at == len(text) || utf8.RuneStart(text[at]) }

func invalidPart(msg string) error {
	return &tool.Error{Kind: tool.Invalid, Op: "api.getDocumentText", Path: "/start", Msg: msg}
}

func (s *server) getDocument(ctx context.Context, p tool.Principal, in *documentInput) (*body[v1.Document], error) {
	d, err := s.findDocument(ctx, p, in.DocumentPath)
	if err != nil {
		return nil, err
	}
	if looked, err := s.records.Document(ctx, d); err == nil { // Without Temporal, the stored record is shown.
		d = looked
	}
	return answer(v1.FromDocument(d)), nil
}

func (s *server) deleteDocument(ctx context.Context, p tool.Principal, in *documentInput) (*body[v1.Document], error) {
	d, err := s.findDocument(ctx, p, in.DocumentPath)
	if err != nil {
		return nil, err
	}
	if err := s.cfg.Retrieval.DeleteDocument(ctx, p.Tenant, d.PipelineID, d.ID); err != nil {
		return nil, err
	}
	return answer(v1.FromDocument(d)), nil
}
