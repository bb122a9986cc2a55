package retrieval

import (
	"context"
	"errors"

	"github.com/toolcrib/toolcrib/tool"
)

// ErrChanged is the cause of a [tool.Conflict] of an update whose pipeline
// changed since it was read.
var ErrChanged = errors.New("changed since it was read")

// ErrGeneration is the cause of a [tool.Conflict] of a search in a generation of
// embeddings that is no longer the one searched. Read the pipeline and embed the
// query again.
var ErrGeneration = errors.New("another generation of embeddings is searched")

// ErrVersion is the cause of a [tool.Conflict] of work for a version of a
// document that is no longer its newest, or that is finished. Stop.
var ErrVersion = errors.New("the document has another version")

// Store keeps pipelines, documents, chunks and their embeddings. Package store
// implements it. It is safe for concurrent use; every method is one
// transaction. Another tenant's anything is [tool.NotFound].
type Store interface {
	Pipelines
	Documents
	Ingestion
	Reembedding
	Index
}

// Pipelines keeps pipelines.
type Pipelines interface {
	// CreatePipeline stores a new pipeline, which has been checked. Where it has
	// an Embedding, that is generation 1. It fails with [tool.Conflict] where the
	// tenant has one of that slug.
	CreatePipeline(ctx context.Context, p Pipeline) (Pipeline, error)
	// FindPipeline finds one that is not deleted, by its slug or id.
	FindPipeline(ctx context.Context, tenant tool.TenantID, slugOrID string) (Pipeline, error)
	// ListPipelines lists pipelines by slug: those after afterSlug, at most limit
	// (100 when zero, 1000 at most).
	ListPipelines(ctx context.Context, tenant tool.TenantID, afterSlug string, limit int) ([]Pipeline, error)
	// UpdatePipeline stores name, description, search, language, chunking and
	// disabled of a pipeline at p.Revision. It fails with [tool.Conflict] where it
	// changed meanwhile ([ErrChanged]), and where its language changes although it
	// has documents.
	UpdatePipeline(ctx context.Context, p Pipeline) (Pipeline, error)
	// DeletePipeline deletes a pipeline at p.Revision and everything in it. Its
	// slug is free again; its id never finds anything.
	DeletePipeline(ctx context.Context, p Pipeline) error
}

// DocumentFilter narrows a list of documents. Zero values match all.
type DocumentFilter struct {
	Status   DocumentStatus
	AfterKey string
	Limit    int // 100 when zero, 1000 at most.
}

// Documents keeps documents.
type Documents interface {
	// PutDocument stores a document, which has been checked, and its content
	// under its key, as Pending; changed is false where the document has that very
	// content, title, source, media type and metadata already and has not failed,
	// and then nothing happens. A document that exists keeps its id, gets the next
	// version, and what was searched of it still is.
	PutDocument(ctx context.Context, d Document, content []byte) (stored Document, changed bool, err error)
	// FindDocument finds a document of a pipeline by its id or, where keyOrID is no
	// id of one, its key.
	FindDocument(ctx context.Context, tenant tool.TenantID, pipelineID, keyOrID string) (Document, error)
	// ListDocuments lists a pipeline's documents by key.
	ListDocuments(ctx context.Context, tenant tool.TenantID, pipelineID string, f DocumentFilter) ([]Document, error)
	// ReadText returns the text of a document's version that is searched. It fails
	// with [tool.Conflict] where none is.
	ReadText(
		ctx context.Context, tenant tool.TenantID, pipelineID, documentID string,
	) (version int64, text string, err error)
	// DeleteDocument deletes a document and everything of it.
	DeleteDocument(ctx context.Context, tenant tool.TenantID, pipelineID, documentID string) error
}

// Work is a document to be ingested.
type Work struct {
	Document Document
	Pipeline Pipeline
	Content  []byte // Nil once its chunks are stored.
}

// EmbeddingTask is a chunk to be embedded. Title and Headings belong to what is
// embedded as well as Text.
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

// Ingestion is the way of a document from Pending to Ready. Every step may be
// repeated. All of them fail with [tool.Conflict] ([ErrVersion]) where ref is
// not the document's newest version, and with [tool.NotFound] where the document
// or its pipeline is gone.
type Ingestion interface {
	// BeginDocument makes a document Ingesting and returns what there is to do.
	// One that is Ready comes back as it is, one that failed begins again.
	BeginDocument(ctx context.Context, ref DocumentRef) (Work, error)
	// ReplaceChunks stores the chunks of a version, in order, in place of those it
	// had, with the text that they were cut of, and drops its content. The text's
	// title becomes the document's where it has none.
	// Called again for a version that has chunks, it does nothing.
	ReplaceChunks(ctx context.Context, ref DocumentRef, text Extracted, chunks []Chunk) error
	// PendingEmbeddings returns chunks of a version that have no embedding in a
	// generation, in order, at most limit.
	PendingEmbeddings(ctx context.Context, ref DocumentRef, generation, limit int) ([]EmbeddingTask, error)
	// SaveEmbeddings stores embeddings of chunks of a version in a generation and
	// returns the document with its progress. Chunks that have one keep it. It
	// fails with [tool.Invalid] where a vector has not the generation's dimensions
	// or is zero or not finite.
	SaveEmbeddings(ctx context.Context, ref DocumentRef, generation int, all []Embedding) (Document, error)
	// FinishDocument makes a version Ready: its chunks are searched from now on,
	// and those of older versions are deleted, both at once. It fails with
	// [tool.Conflict] where chunks lack an embedding in one of the pipeline's
	// generations ([ErrIncomplete]); embed them and call it again.
	FinishDocument(ctx context.Context, ref DocumentRef) (Document, error)
	// FailDocument makes a version Failed for a reason that people may read.
	FailDocument(ctx context.Context, ref DocumentRef, reason string) (Document, error)
}

// ErrIncomplete is the cause of a [tool.Conflict] of what must not be searched
// yet because embeddings are missing.
var ErrIncomplete = errors.New("embeddings are missing")

// GenerationRef identifies a generation of embeddings, for building it.
type GenerationRef struct {
	Tenant     tool.TenantID `json:"tenant_id"`
	Pipeline   string        `json:"pipeline_id"`
	Generation int           `json:"generation"`
}

// Reembedding is the way of a pipeline to another embedding model while the old
// one's embeddings are searched. Documents ingested meanwhile are embedded in
// both generations: see [Pipeline.Generations]. Methods that take a ref fail with
// [tool.Conflict] ([ErrGeneration]) where it is not the one being built.
type Reembedding interface {
	// BeginGeneration makes config, which has been checked, the model of a new
	// generation of the pipeline at p.Revision. One that was being built is
	// dropped.
	BeginGeneration(ctx context.Context, p Pipeline, config EmbeddingConfig) (Pipeline, error)
	// PendingGeneration returns searched chunks that have no embedding in the
	// generation, at most limit, and how many are left, these included, counted
	// up to 100,000.
	PendingGeneration(ctx context.Context, ref GenerationRef, limit int) (tasks []EmbeddingTask, left int, err error)
	// SaveGeneration stores embeddings in the generation. Chunks that are gone
	// meanwhile are passed over. It fails as [Ingestion.SaveEmbeddings].
	SaveGeneration(ctx context.Context, ref GenerationRef, all []Embedding) error
	// PromoteGeneration makes the generation the one that is searched, and deletes
	// the embeddings of others, both at once. It fails with [tool.Conflict]
	// ([ErrIncomplete]) where searched chunks lack an embedding. Promoting what is
	// searched already does nothing.
	PromoteGeneration(ctx context.Context, ref GenerationRef) (Pipeline, error)
	// DropGeneration ends the building of a generation and records why, for people.
	// The pipeline stays as it is. It fails with [tool.Conflict] where the pipeline
	// can't be searched without the generation, and records the reason all the same.
	DropGeneration(ctx context.Context, ref GenerationRef, reason string) (Pipeline, error)
}

// IndexQuery asks for the best chunks of a pipeline.
type IndexQuery struct {
	Pipeline   string   // Its id.
	Text       string   // What is searched by words; empty for not.
	Exclude    []string // Phrases that no chunk may hold, both ways.
	Vector     []float32
	Generation int    // That Vector belongs to.
	Filter     Filter // What documents must fulfil, both ways.
	Limit      int    // Of each way.
}

// IndexHit is a chunk that one way of searching found.
type IndexHit struct {
	Chunk
	Key      string // The document's.
	Title    string
	Source   string
	Metadata Metadata
	// Score is the greater the better: by words above 1 where the chunk holds all
	// of them, by meaning the cosine.
	Score float64
}

// IndexHits are what both ways found, best first. Equal scores by vector stand in
// the order of chunk ids, and by words in that in which documents were indexed. Both are of one moment: no
// document is in them by halves.
type IndexHits struct {
	Text   []IndexHit
	Vector []IndexHit
}

// Index finds chunks.
type Index interface {
	// SearchIndex searches the chunks of live versions by words, by vector, or by
	// both. It fails with [tool.NotFound] where there is no such pipeline, and with
	// [tool.Conflict] where it is disabled, or where Generation is not searched
	// ([ErrGeneration]).
	SearchIndex(ctx context.Context, tenant tool.TenantID, q IndexQuery) (IndexHits, error)
}

// TextKind is what a text that is embedded is for.
type TextKind string

// Kinds of text.
const (
	QueryText    TextKind = "query"
	DocumentText TextKind = "document"
)

// Embedder turns texts into vectors. Package retrieval/embed implements it.
type Embedder interface {
	// Embed returns a vector of c.Dimensions for each text, in order. It cuts
	// texts into batches of c.Batch itself. It is safe for concurrent use.
	//
	// It fails with a [*tool.Error] whose kind says whether trying again helps.
	Embed(ctx context.Context, tenant tool.TenantID, c EmbeddingConfig, kind TextKind, texts []string) ([][]float32, error)
}
