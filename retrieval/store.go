package retrieval

import (
	"context"
	"errors"

	"github.com/toolcrib/toolcrib/tool"
)

// ErrChanged is the cause of a [tool.Conflict] when a pipeline changed since it was read.
var ErrChanged = errors.New("changed since it was read")

// ErrGeneration is the cause of a [tool.Conflict] when a generation of embeddings is no longer the
// live one. Read the pipeline and embed the query again.
var ErrGeneration = errors.New("another generation of embeddings is live")

// ErrVersion is the cause of a [tool.Conflict] when a version of a document is finished or no
// longer its newest. Do not retry.
var ErrVersion = errors.New("the document has another version")

// Store stores pipelines, documents, chunks and their embeddings. Package store implements it. It
// is safe for concurrent use; every method is one transaction. Rows of another tenant are
// [tool.NotFound].
type Store interface {
	Pipelines
	Documents
	Ingestion
	Reembedding
	Index
}

// Pipelines stores pipelines.
type Pipelines interface {
	// CreatePipeline stores a new pipeline, already checked. Its Embedding, if any, is
	// generation 1. It fails with [tool.Conflict] if the tenant has one of that slug.
	CreatePipeline(ctx context.Context, p Pipeline) (Pipeline, error)
	// FindPipeline returns a pipeline that is not deleted, by its slug or id.
	FindPipeline(ctx context.Context, tenant tool.TenantID, slugOrID string) (Pipeline, error)
	// ListPipelines lists pipelines by slug: those after afterSlug, at most limit
	// (100 when zero, 1000 at most).
	ListPipelines(ctx context.Context, tenant tool.TenantID, afterSlug string, limit int) ([]Pipeline, error)
	// UpdatePipeline stores name, description, search, language, chunking and disabled of a
	// pipeline at p.Revision. It fails with [tool.Conflict] if it changed meanwhile
	// ([ErrChanged]), and if its language changes although it has documents.
	UpdatePipeline(ctx context.Context, p Pipeline) (Pipeline, error)
	// DeletePipeline deletes a pipeline at p.Revision and everything in it. Its slug can be
	// reused; its id cannot.
	DeletePipeline(ctx context.Context, p Pipeline) error
}

// DocumentFilter filters a list of documents. Zero values match all.
type DocumentFilter struct {
	Status   DocumentStatus
	AfterKey string
	Limit    int // 100 when zero, 1000 at most.
}

// Documents stores documents.
type Documents interface {
	// PutDocument stores a document, already checked, and its content under its key, as
	// Pending. If the document has the same content, title, source, media type and metadata
	// already and has not failed, nothing happens and changed is false. An existing document
	// keeps its id, gets the next version, and stays searchable.
	PutDocument(ctx context.Context, d Document, content []byte) (stored Document, changed bool, err error)
	// FindDocument returns a document of a pipeline by its id or else by its key.
	FindDocument(ctx context.Context, tenant tool.TenantID, pipelineID, keyOrID string) (Document, error)
	// ListDocuments lists a pipeline's documents by key.
	ListDocuments(ctx context.Context, tenant tool.TenantID, pipelineID string, f DocumentFilter) ([]Document, error)
	// ReadText returns the text of a document's live version. It fails with
	// [tool.Conflict] if there is none.
	ReadText(
		ctx context.Context, tenant tool.TenantID, pipelineID, documentID string,
	) (version int64, text string, err error)
	// DeleteDocument deletes a document and its chunks and embeddings.
	DeleteDocument(ctx context.Context, tenant tool.TenantID, pipelineID, documentID string) error
}

// Work is a document to ingest.
type Work struct {
	Document Document
	Pipeline Pipeline
	Content  []byte // Nil once its chunks are stored.
}

// EmbeddingTask is a chunk to embed. Title and Headings are embedded with Text.
type EmbeddingTask struct {
	ChunkID  string
	Title    string // The document's.
	Headings []string
	Text     string
}

// Embedding is the vector of a chunk.
type Embedding struct {
	ChunkID string
	Vector  []float32 // Of the model's dimensions; stores normalise it.
}

// Ingestion takes a document from Pending to Ready. Every step is idempotent. All of them fail with
// [tool.Conflict] ([ErrVersion]) if ref is not the document's newest version, and with
// [tool.NotFound] if the document or its pipeline was deleted.
type Ingestion interface {
	// BeginDocument makes a document Ingesting and returns the work to do. One that is Ready
	// is returned unchanged, one that failed starts again.
	BeginDocument(ctx context.Context, ref DocumentRef) (Work, error)
	// ReplaceChunks stores the chunks of a version, in order, replacing its previous ones, with
	// the text they were cut from, and deletes its content. The text's title becomes the
	// document's if it has none. It does nothing for a version that has chunks.
	ReplaceChunks(ctx context.Context, ref DocumentRef, text Extracted, chunks []Chunk) error
	// PendingEmbeddings returns chunks of a version that have no embedding in a
	// generation, in order, at most limit.
	PendingEmbeddings(ctx context.Context, ref DocumentRef, generation, limit int) ([]EmbeddingTask, error)
	// SaveEmbeddings stores embeddings of chunks of a version in a generation and returns the
	// document with its progress. It does not replace existing ones. It fails with
	// [tool.Invalid] if a vector does not have the generation's dimensions or is zero or not
	// finite.
	SaveEmbeddings(ctx context.Context, ref DocumentRef, generation int, all []Embedding) (Document, error)
	// FinishDocument makes a version Ready: it makes its chunks searchable and deletes those of
	// older versions, atomically. It fails with [tool.Conflict] if chunks lack an embedding in
	// one of the pipeline's generations ([ErrIncomplete]); embed them and call it again.
	FinishDocument(ctx context.Context, ref DocumentRef) (Document, error)
	// FailDocument makes a version Failed for a reason that people may read.
	FailDocument(ctx context.Context, ref DocumentRef, reason string) (Document, error)
}

// ErrIncomplete is the cause of a [tool.Conflict] when embeddings are missing.
var ErrIncomplete = errors.New("embeddings are missing")

// GenerationRef identifies a generation of embeddings, for building it.
type GenerationRef struct {
	Tenant     tool.TenantID `json:"tenant_id"`
	Pipeline   string        `json:"pipeline_id"`
	Generation int           `json:"generation"`
}

// Reembedding moves a pipeline to another embedding model while the old one's embeddings are live.
// Documents ingested meanwhile are embedded in both generations: see [Pipeline.Generations].
// Methods that take a ref fail with [tool.Conflict] ([ErrGeneration]) if it is not being built.
type Reembedding interface {
	// BeginGeneration makes config, already checked, the model of a new generation of the
	// pipeline at p.Revision. It drops a generation that is being built.
	BeginGeneration(ctx context.Context, p Pipeline, config EmbeddingConfig) (Pipeline, error)
	// PendingGeneration returns live chunks without an embedding in the generation, at most
	// limit, and their total number, counted up to 100,000.
	PendingGeneration(ctx context.Context, ref GenerationRef, limit int) (tasks []EmbeddingTask, left int, err error)
	// SaveGeneration stores embeddings in the generation, and skips deleted chunks. It fails
	// like [Ingestion.SaveEmbeddings].
	SaveGeneration(ctx context.Context, ref GenerationRef, all []Embedding) error
	// PromoteGeneration makes the generation the live one, and deletes the embeddings of
	// others, atomically. It fails with [tool.Conflict] ([ErrIncomplete]) if live chunks lack
	// an embedding. Promoting the live generation does nothing.
	PromoteGeneration(ctx context.Context, ref GenerationRef) (Pipeline, error)
	// DropGeneration stops building a generation and records why, for people. The pipeline is
	// otherwise unchanged. It fails with [tool.Conflict] if the pipeline cannot be searched
	// without the generation, but records the reason.
	DropGeneration(ctx context.Context, ref GenerationRef, reason string) (Pipeline, error)
}

// IndexQuery is a query for the best chunks of a pipeline.
type IndexQuery struct {
	Pipeline   string   // Its id.
	Text       string   // The search by words; empty for none.
	Exclude    []string // Phrases that no chunk may contain, in both modes.
	Vector     []float32
	Generation int    // The generation of Vector.
	Filter     Filter // Filter on documents, in both modes.
	Limit      int    // Of each mode.
}

// IndexHit is a chunk that one search mode found.
type IndexHit struct {
	Chunk
	Key      string // The document's.
	Title    string
	Source   string
	Metadata Metadata
	// Score is higher for better hits: by words above 1 if the chunk has all of them, by vector
	// the cosine.
	Score float64
}

// IndexHits are the hits of both modes, best first. Equal scores are in the order of chunk ids by
// vector, and in the order of indexing by words. Both are from one snapshot.
type IndexHits struct {
	Text   []IndexHit
	Vector []IndexHit
}

// Index finds chunks.
type Index interface {
	// SearchIndex searches the chunks of live versions by words, by vector, or by both. It fails
	// with [tool.NotFound] if there is no such pipeline, and with [tool.Conflict] if it is
	// disabled, or if Generation is not live ([ErrGeneration]).
	SearchIndex(ctx context.Context, tenant tool.TenantID, q IndexQuery) (IndexHits, error)
}

// TextKind is the purpose of a text to embed.
type TextKind string

// Kinds of text.
const (
	QueryText    TextKind = "query"
	DocumentText TextKind = "document"
)

// Embedder converts texts to vectors. Package retrieval/embed implements it.
type Embedder interface {
	// Embed returns a vector of c.Dimensions for each text, in order. It splits texts into
	// batches of c.Batch itself. It is safe for concurrent use.
	//
	// It fails with a [*tool.Error] whose kind says whether a retry can help.
	Embed(ctx context.Context, tenant tool.TenantID, c EmbeddingConfig, kind TextKind, texts []string) ([][]float32, error)
}
