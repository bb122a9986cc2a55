package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/jackc/pgx/v5"

	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// PutDocument implements [retrieval.Documents].
func (s *Store) PutDocument(
	ctx context.Context, d retrieval.Document, body []byte,
) (stored retrieval.Document, changed bool, err error) {
	const op = "store.PutDocument"
	params, err := documentParams(d, body)
	if err != nil {
		return retrieval.Document{}, false, err
	}
	if err := checkIDs(op, params.ID, d.PipelineID); err != nil {
		return retrieval.Document{}, false, err
	}
	var row db.Document
	err = s.inTx(ctx, op, d.Tenant, func(q *db.Queries) error {
		changed = false
		if err := sharePipeline(ctx, q, op, d.Tenant, d.PipelineID); err != nil {
			return err
		}
		row, err = q.FindDocumentByKey(ctx, db.FindDocumentByKeyParams{
			TenantID: params.TenantID, PipelineID: params.PipelineID, Key: params.Key,
		})
		if err == nil && sameDocument(row, params) {
			return nil
		}
		if err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		changed = true
		if row, err = q.PutDocument(ctx, params); err != nil {
			return err
		}
		return q.PutContent(ctx, db.PutContentParams{TenantID: params.TenantID, DocumentID: row.ID, Content: body})
	})
	if err != nil {
		return retrieval.Document{}, false, err
	}
	stored, err = documentOf(row)
	return stored, changed, err
}

// sameDocument reports whether a document equals its replacement, so that the write
// can be skipped.
func sameDocument(row db.Document, p db.PutDocumentParams) bool {
	return row.Status != string(retrieval.Failed) && row.Digest == p.Digest && row.MediaType == p.MediaType &&
		row.Title == p.Title && row.Source == p.Source && sameJSON(row.Metadata, p.Metadata)
}

// sameJSON compares values: a jsonb column does not keep their spelling.
func sameJSON(a, b []byte) bool {
	read := func(raw []byte) (v any) {
		dec := json.NewDecoder(bytes.NewReader(raw))
		if dec.Decode(&v) != nil {
			return nil
		}
		return v
	}
	return reflect.DeepEqual(read(a), read(b))
}

func documentParams(d retrieval.Document, body []byte) (db.PutDocumentParams, error) {
	id, err := idOrNew(d.ID)
	if err != nil {
		return db.PutDocumentParams{}, err
	}
	metadata := []byte("{}")
	if len(d.Metadata) > 0 {
		if metadata, err = encodePayload(d.Metadata); err != nil {
			return db.PutDocumentParams{}, err
		}
	}
	return db.PutDocumentParams{
		ID: id, TenantID: string(d.Tenant), PipelineID: d.PipelineID, Key: text(d.Key), Title: text(d.Title),
		MediaType: string(d.MediaType), Source: text(d.Source), Metadata: metadata, Digest: retrieval.Digest(body),
		Bytes: number(len(body)), CreatedBy: text(d.CreatedBy),
	}, nil
}

// sharePipeline locks a pipeline against changes and deletion until the transaction
// ends.
func sharePipeline(ctx context.Context, q *db.Queries, op string, tenant tool.TenantID, id string) error {
	_, err := q.SharePipeline(ctx, db.SharePipelineParams{TenantID: string(tenant), ID: id})
	return explain(failure(op, err), tool.NotFound, "pipeline not found")
}

// FindDocument implements [retrieval.Documents].
func (s *Store) FindDocument(
	ctx context.Context, tenant tool.TenantID, pipelineID, keyOrID string,
) (retrieval.Document, error) {
	const op = "store.FindDocument"
	if err := checkIDs(op, pipelineID); err != nil {
		return retrieval.Document{}, err
	}
	key := text(keyOrID)
	params := db.FindDocumentParams{TenantID: string(tenant), PipelineID: pipelineID, Key: &key}
	if tool.ValidID(keyOrID) {
		params.ID = &keyOrID
	}
	row, err := ask(ctx, s.do, op, tenant, (*db.Queries).FindDocument, params)
	if err != nil {
		return retrieval.Document{}, explain(err, tool.NotFound, fmt.Sprintf("document %.80q not found", keyOrID))
	}
	return documentOf(row)
}

// ListDocuments implements [retrieval.Documents].
func (s *Store) ListDocuments(
	ctx context.Context, tenant tool.TenantID, pipelineID string, f retrieval.DocumentFilter,
) ([]retrieval.Document, error) {
	const op = "store.ListDocuments"
	if err := checkIDs(op, pipelineID); err != nil {
		return nil, err
	}
	rows, err := ask(ctx, s.do, op, tenant, (*db.Queries).ListDocuments, db.ListDocumentsParams{
		TenantID: string(tenant), PipelineID: pipelineID, AfterKey: text(f.AfterKey), Status: string(f.Status),
		Limit: pageSize(f.Limit),
	})
	if err != nil {
		return nil, err
	}
	return collect(rows, documentOf)
}

// ReadText implements [retrieval.Documents].
func (s *Store) ReadText(
	ctx context.Context, tenant tool.TenantID, pipelineID, documentID string,
) (version int64, content string, err error) {
	const op = "store.ReadText"
	d, err := s.FindDocument(ctx, tenant, pipelineID, documentID)
	if err != nil {
		return 0, "", err
	}
	if d.LiveVersion == 0 {
		return 0, "", &tool.Error{
			Kind: tool.Conflict, Op: op, Msg: fmt.Sprintf("document %q is not indexed yet, so it has no text", d.Key),
		}
	}
	var chunks []db.Chunk
	err = s.do(ctx, op, tenant, func(q *db.Queries) (err error) {
		content, err = q.ReadText(ctx, db.ReadTextParams{TenantID: string(tenant), DocumentID: d.ID, Version: d.LiveVersion})
		if errors.Is(err, pgx.ErrNoRows) {
			chunks, err = q.ListChunks(ctx, db.ListChunksParams{
				TenantID: string(tenant), DocumentID: d.ID, Version: d.LiveVersion,
			})
			content = joined(chunks)
		}
		return err
	})
	if err == nil && content == "" {
		err = notFound(op, "document not found") // It was replaced or deleted since it was found.
	}
	return d.LiveVersion, content, err
}

// joined returns the text of chunks, joined by blank lines.
func joined(chunks []db.Chunk) string {
	var out []byte
	for _, c := range chunks {
		start := int(c.StartAt)
		for len(out) < start {
			out = append(out, '\n')
		}
		if shared := len(out) - start; shared < len(c.Text) {
			out = append(out, c.Text[shared:]...)
		}
	}
	return string(out)
}

// DeleteDocument implements [retrieval.Documents].
func (s *Store) DeleteDocument(ctx context.Context, tenant tool.TenantID, pipelineID, documentID string) error {
	const op = "store.DeleteDocument"
	if err := checkIDs(op, pipelineID, documentID); err != nil {
		return err
	}
	gone, err := ask(ctx, s.do, op, tenant, (*db.Queries).DeleteDocument, db.DeleteDocumentParams{
		TenantID: string(tenant), PipelineID: pipelineID, ID: documentID,
	})
	if err == nil && gone == 0 {
		return notFound(op, "document not found")
	}
	return err
}

func documentOf(row db.Document) (retrieval.Document, error) {
	d := retrieval.Document{
		ID: row.ID, Tenant: tool.TenantID(row.TenantID), PipelineID: row.PipelineID, Key: row.Key, Title: titleOf(row),
		MediaType: retrieval.MediaType(row.MediaType), Source: row.Source, Digest: row.Digest, Bytes: int(row.Bytes),
		Version: row.Version, LiveVersion: row.LiveVersion, Status: retrieval.DocumentStatus(row.Status), Error: row.Error,
		Chunks: int(row.Chunks), Embedded: int(row.Embedded), CreatedBy: row.CreatedBy,
		CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt, ReadyAt: row.ReadyAt,
	}
	return d, decode(row.Metadata, &d.Metadata)
}

// titleOf returns the title set by the document's owner, else its own.
func titleOf(row db.Document) string {
	if row.Title != "" {
		return row.Title
	}
	return row.OwnTitle
}
