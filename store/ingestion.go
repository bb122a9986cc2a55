package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// chunksAtOnce is the number of chunks in one insert.
const chunksAtOnce = 500

// BeginDocument implements [retrieval.Ingestion].
func (s *Store) BeginDocument(ctx context.Context, ref retrieval.DocumentRef) (retrieval.Work, error) {
	const op = "store.BeginDocument"
	var work retrieval.Work
	err := s.onDocument(ctx, op, ref, func(q *db.Queries, d db.Document, p db.Pipeline) (err error) {
		work = retrieval.Work{}
		if d.Status != string(retrieval.Ready) {
			d, err = q.SetDocumentStatus(ctx, db.SetDocumentStatusParams{
				TenantID: d.TenantID, ID: d.ID, Status: string(retrieval.Ingesting),
			})
			if err != nil {
				return err
			}
			if d.Chunks == 0 {
				if work.Content, err = q.ReadContent(ctx, db.ReadContentParams{
					TenantID: d.TenantID, DocumentID: d.ID,
				}); err != nil {
					return err
				}
			}
		}
		if work.Document, err = documentOf(d); err != nil {
			return err
		}
		work.Pipeline, err = pipelineOf(p)
		return err
	})
	return work, err
}

// ReplaceChunks implements [retrieval.Ingestion].
func (s *Store) ReplaceChunks(
	ctx context.Context, ref retrieval.DocumentRef, extracted retrieval.Extracted, chunks []retrieval.Chunk,
) error {
	const op = "store.ReplaceChunks"
	if err := checkChunks(op, chunks); err != nil {
		return err
	}
	return s.onDocument(ctx, op, ref, func(q *db.Queries, d db.Document, p db.Pipeline) error {
		if d.Chunks > 0 || d.Status == string(retrieval.Ready) {
			return nil
		}
		if d.Title == "" {
			d.OwnTitle = text(extracted.Title)
		}
		for batch := range slices.Chunk(chunks, chunksAtOnce) {
			rows, err := chunkRows(ref, batch)
			if err != nil {
				return err
			}
			err = q.InsertChunks(ctx, db.InsertChunksParams{
				TenantID: d.TenantID, PipelineID: p.ID, DocumentID: d.ID, Version: d.Version, Prefix: lexemePrefix(p),
				Language: p.Language, Title: titleOf(d), Chunks: rows,
			})
			if err != nil {
				return err
			}
		}
		err := q.PutText(ctx, db.PutTextParams{
			TenantID: d.TenantID, DocumentID: d.ID, Version: d.Version, Text: text(extracted.Text),
		})
		if err != nil {
			return err
		}
		if err := q.DropContent(ctx, db.DropContentParams{TenantID: d.TenantID, DocumentID: d.ID}); err != nil {
			return err
		}
		return q.SetDocumentChunks(ctx, db.SetDocumentChunksParams{
			TenantID: d.TenantID, ID: d.ID, OwnTitle: d.OwnTitle, Chunks: number(len(chunks)),
		})
	})
}

func checkChunks(op string, chunks []retrieval.Chunk) error {
	if len(chunks) == 0 || len(chunks) > retrieval.MaxDocumentChunks {
		return &tool.Error{
			Kind: tool.Invalid, Op: op, Msg: fmt.Sprintf("%d chunks: want 1 to %d", len(chunks), retrieval.MaxDocumentChunks),
		}
	}
	for i := range chunks {
		if len(chunks[i].Text) > retrieval.MaxChunkBytes {
			return &tool.Error{
				Kind: tool.Invalid, Op: op,
				Msg: fmt.Sprintf("chunk %d has %d bytes: want at most %d", i, len(chunks[i].Text), retrieval.MaxChunkBytes),
			}
		}
	}
	return nil
}

// lexemePrefix is the prefix of lexemes in a pipeline's chunks.
func lexemePrefix(p db.Pipeline) string { return strconv.FormatInt(p.Number, 36) + ":" }

// chunkRow is the JSON form of a chunk for the query InsertChunks.
type chunkRow struct {
	ID       string   `json:"id"`
	Position int      `json:"position"`
	Text     string   `json:"text"`
	Headings []string `json:"headings"`
	Start    int      `json:"start"`
	End      int      `json:"end"`
	Page     int      `json:"page"`
}

func chunkRows(ref retrieval.DocumentRef, chunks []retrieval.Chunk) ([]byte, error) {
	rows := make([]chunkRow, len(chunks))
	for i, c := range chunks {
		rows[i] = chunkRow{
			ID: chunkID(ref, c.Position), Position: c.Position, Text: c.Text, Headings: list(c.Headings), Start: c.Start,
			End: c.End, Page: c.Page,
		}
	}
	return encodePayload(rows)
}

// chunkID derives a chunk's id from its position, so that storing it is idempotent.
func chunkID(ref retrieval.DocumentRef, position int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d/%d", ref.Document, ref.Version, position))
	id, err := uuid.Parse(hex.EncodeToString(sum[:16]))
	if err != nil {
		return "" // Unreachable: it has 32 digits.
	}
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80 // Version 8: custom.
	return id.String()
}

// PendingEmbeddings implements [retrieval.Ingestion].
func (s *Store) PendingEmbeddings(
	ctx context.Context, ref retrieval.DocumentRef, generation, limit int,
) ([]retrieval.EmbeddingTask, error) {
	var tasks []retrieval.EmbeddingTask
	err := s.onDocument(ctx, "store.PendingEmbeddings", ref, func(q *db.Queries, d db.Document, _ db.Pipeline) error {
		rows, err := q.PendingEmbeddings(ctx, db.PendingEmbeddingsParams{
			TenantID: d.TenantID, DocumentID: d.ID, Version: d.Version, Generation: number(generation), Limit: pageSize(limit),
		})
		tasks = make([]retrieval.EmbeddingTask, len(rows))
		for i, row := range rows {
			tasks[i] = retrieval.EmbeddingTask{ChunkID: row.ID, Title: titleOf(d), Headings: row.Headings, Text: row.Text}
		}
		return err
	})
	return tasks, err
}

// SaveEmbeddings implements [retrieval.Ingestion].
func (s *Store) SaveEmbeddings(
	ctx context.Context, ref retrieval.DocumentRef, generation int, all []retrieval.Embedding,
) (retrieval.Document, error) {
	const op = "store.SaveEmbeddings"
	var params db.InsertEmbeddingsParams
	d, err := s.moveDocument(ctx, op, ref, func(q *db.Queries, d db.Document, row db.Pipeline) (db.Document, error) {
		p, err := pipelineOf(row)
		if err != nil {
			return d, err
		}
		if params, err = embeddingParams(op, &p, generation, all); err != nil {
			return d, err
		}
		params.DocumentID, params.Version = &d.ID, &d.Version
		if err := q.InsertEmbeddings(ctx, params); err != nil {
			return d, err
		}
		embedded, err := countEmbedded(ctx, q, d, &p)
		if err != nil {
			return d, err
		}
		return q.SetDocumentEmbedded(ctx, db.SetDocumentEmbeddedParams{TenantID: d.TenantID, ID: d.ID, Embedded: embedded})
	})
	if err != nil {
		return retrieval.Document{}, err
	}
	return d, s.saveVectors(ctx, op, params)
}

// countEmbedded counts the chunks of a document's newest version that are embedded in
// every generation of its pipeline.
func countEmbedded(ctx context.Context, q *db.Queries, d db.Document, p *retrieval.Pipeline) (int32, error) {
	params := db.CountEmbeddedParams{TenantID: d.TenantID, DocumentID: d.ID, Version: d.Version, Generations: []int32{}}
	for _, g := range p.Generations() {
		params.Generations = append(params.Generations, number(g.Generation))
	}
	if len(params.Generations) == 0 {
		return 0, nil
	}
	return q.CountEmbedded(ctx, params)
}

// FinishDocument implements [retrieval.Ingestion].
func (s *Store) FinishDocument(ctx context.Context, ref retrieval.DocumentRef) (retrieval.Document, error) {
	const op = "store.FinishDocument"
	return s.moveDocument(ctx, op, ref, func(q *db.Queries, d db.Document, row db.Pipeline) (db.Document, error) {
		if d.Status == string(retrieval.Ready) {
			return d, nil
		}
		p, err := pipelineOf(row)
		if err != nil {
			return d, err
		}
		embedded, err := countEmbedded(ctx, q, d, &p)
		if err != nil {
			return d, err
		}
		if d.Chunks == 0 || len(p.Generations()) > 0 && embedded < d.Chunks {
			return d, &tool.Error{Kind: tool.Conflict, Op: op, Err: retrieval.ErrIncomplete, Msg: fmt.Sprintf(
				"document %q is not ready: %d of its %d chunks are embedded", d.Key, embedded, d.Chunks)}
		}
		if d, err = q.FinishDocument(ctx, db.FinishDocumentParams{
			TenantID: d.TenantID, ID: d.ID, Embedded: embedded,
		}); err != nil {
			return d, err
		}
		return d, q.DeleteOldChunks(ctx, db.DeleteOldChunksParams{TenantID: d.TenantID, DocumentID: d.ID, Version: d.Version})
	})
}

// FailDocument implements [retrieval.Ingestion].
func (s *Store) FailDocument(
	ctx context.Context, ref retrieval.DocumentRef, reason string,
) (retrieval.Document, error) {
	const op = "store.FailDocument"
	return s.moveDocument(ctx, op, ref, func(q *db.Queries, d db.Document, _ db.Pipeline) (db.Document, error) {
		if d.Status == string(retrieval.Ready) {
			return d, &tool.Error{
				Kind: tool.Conflict, Op: op, Err: retrieval.ErrVersion, Msg: fmt.Sprintf("document %q is ready", d.Key),
			}
		}
		return q.SetDocumentStatus(ctx, db.SetDocumentStatusParams{
			TenantID: d.TenantID, ID: d.ID, Status: string(retrieval.Failed),
			Error: clip(text(reason), retrieval.MaxDocumentError),
		})
	})
}

// clip cuts s to at most size bytes, between characters.
func clip(s string, size int) string {
	if len(s) <= size {
		return s
	}
	return text(s[:size])
}

// moveDocument is onDocument for changes of the document's state.
func (s *Store) moveDocument(
	ctx context.Context, op string, ref retrieval.DocumentRef,
	fn func(q *db.Queries, d db.Document, p db.Pipeline) (db.Document, error),
) (retrieval.Document, error) {
	var row db.Document
	err := s.onDocument(ctx, op, ref, func(q *db.Queries, d db.Document, p db.Pipeline) (err error) {
		row, err = fn(q, d, p)
		return err
	})
	if err != nil {
		return retrieval.Document{}, err
	}
	return documentOf(row)
}

// onDocument runs fn in a transaction that locks the newest version of a document,
// which ref must name, and its pipeline against changes. Pipelines are always locked
// before their documents.
func (s *Store) onDocument(
	ctx context.Context, op string, ref retrieval.DocumentRef, fn func(q *db.Queries, d db.Document, p db.Pipeline) error,
) error {
	if err := checkIDs(op, ref.Document); err != nil {
		return err
	}
	return s.inTx(ctx, op, ref.Tenant, func(q *db.Queries) error {
		d, err := q.ReadDocument(ctx, db.ReadDocumentParams{TenantID: string(ref.Tenant), ID: ref.Document})
		if err != nil {
			return explain(failure(op, err), tool.NotFound, "document not found")
		}
		p, err := q.SharePipeline(ctx, db.SharePipelineParams{TenantID: d.TenantID, ID: d.PipelineID})
		if err != nil {
			return explain(failure(op, err), tool.NotFound, "pipeline not found")
		}
		if d, err = q.LockDocument(ctx, db.LockDocumentParams{TenantID: d.TenantID, ID: d.ID}); err != nil {
			return explain(failure(op, err), tool.NotFound, "document not found")
		}
		if d.Version != ref.Version {
			return &tool.Error{Kind: tool.Conflict, Op: op, Err: retrieval.ErrVersion, Msg: fmt.Sprintf(
				"document %q was replaced: version %d is not its newest, %d is", d.Key, ref.Version, d.Version)}
		}
		return fn(q, d, p)
	})
}
