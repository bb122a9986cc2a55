package ingest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/retrieval/chunk"
	"github.com/toolcrib/toolcrib/retrieval/extract"
	"github.com/toolcrib/toolcrib/tool"
)

// Store is the part of a [retrieval.Store] for ingestion.
type Store interface {
	retrieval.Ingestion
	retrieval.Reembedding
	FindPipeline(ctx context.Context, tenant tool.TenantID, slugOrID string) (retrieval.Pipeline, error)
}

// Extractor extracts text from documents: an [extract.Extractor].
type Extractor interface {
	Extract(ctx context.Context, tenant tool.TenantID, media retrieval.MediaType, content []byte) (extract.Text, error)
}

// Config configures an [Ingester]. Fields without a default are required.
type Config struct {
	Store     Store
	Extractor Extractor
	// Embedder embeds documents of pipelines that have a model.
	Embedder retrieval.Embedder
	// Slice is about how long one step of embedding runs before it reports its progress.
	// Defaults to 40 seconds.
	Slice time.Duration
	// Parallel is the number of concurrent batches of a step. Defaults to 4.
	Parallel int
}

// Ingester ingests documents. It is safe for concurrent use.
type Ingester struct{ cfg Config }

// New checks the configuration and returns an ingester.
func New(cfg Config) (*Ingester, error) {
	for name, missing := range map[string]bool{
		"Store": cfg.Store == nil, "Extractor": cfg.Extractor == nil, "Embedder": cfg.Embedder == nil,
	} {
		if missing {
			return nil, fmt.Errorf("ingest: Config.%s is required", name)
		}
	}
	if cfg.Slice <= 0 {
		cfg.Slice = 40 * time.Second
	}
	if cfg.Parallel <= 0 {
		cfg.Parallel = 4
	}
	return &Ingester{cfg}, nil
}

// State is the state of some work.
type State string

// States.
const (
	Working    State = "working"
	Ready      State = "ready"      // Done: it is searchable.
	Superseded State = "superseded" // Replaced by something newer.
	Gone       State = "gone"       // It was deleted meanwhile.
)

// Prepared is the progress of a document.
type Prepared struct {
	State       State
	Chunks      int
	Generations []int // Generations to embed it in.
}

// Prepare starts the ingestion of a document: unless that was done before, it extracts the text, cuts it
// into chunks and stores them.
//
// It fails with [tool.Invalid] if the document cannot be ingested, with a message for its uploader.
func (i *Ingester) Prepare(ctx context.Context, ref retrieval.DocumentRef) (Prepared, error) {
	work, err := i.cfg.Store.BeginDocument(ctx, ref)
	if state := over(err); state != "" {
		return Prepared{State: state}, nil
	}
	if err != nil {
		return Prepared{}, fmt.Errorf("beginning document %s: %w", ref.Document, err)
	}
	out := Prepared{State: Working, Chunks: work.Document.Chunks}
	if work.Document.Status == retrieval.Ready {
		out.State = Ready
		return out, nil
	}
	for _, g := range work.Pipeline.Generations() {
		out.Generations = append(out.Generations, g.Generation)
	}
	if work.Content == nil {
		return out, nil
	}
	text, err := i.cfg.Extractor.Extract(ctx, ref.Tenant, work.Document.MediaType, work.Content)
	if err != nil {
		return Prepared{}, fmt.Errorf("extracting the text of document %s: %w", ref.Document, err)
	}
	chunks, err := Chunks(&text, work.Pipeline.Chunking)
	if err != nil {
		return Prepared{}, fmt.Errorf("cutting document %s: %w", ref.Document, err)
	}
	out.Chunks = len(chunks)
	err = i.cfg.Store.ReplaceChunks(ctx, ref, retrieval.Extracted{Title: text.Title, Text: text.Content}, chunks)
	if state := over(err); state != "" {
		return Prepared{State: state}, nil
	}
	if err != nil {
		return Prepared{}, fmt.Errorf("storing the chunks of document %s: %w", ref.Document, err)
	}
	return out, nil
}

// Chunks cuts a document's text by a pipeline's chunking.
func Chunks(text *extract.Text, c retrieval.Chunking) ([]retrieval.Chunk, error) {
	c = c.Resolved()
	body := text.Content[text.Body:]
	pieces, err := chunk.Split(body, chunk.Options{
		Size: c.MaxChars, Overlap: c.Overlap, MaxPieces: retrieval.MaxDocumentChunks, Plain: text.Plain,
	})
	if err != nil {
		return nil, err
	}
	chunks := make([]retrieval.Chunk, len(pieces))
	for i, p := range pieces {
		chunks[i] = retrieval.Chunk{
			Position: i, Text: body[p.Start:p.End], Headings: p.Headings, Start: text.Body + p.Start, End: text.Body + p.End,
			Page: text.Page(text.Body + p.Start),
		}
	}
	return chunks, nil
}

// Finish makes a document searchable. The state is [Working] while it lacks embeddings, for example of a
// generation that was started meanwhile: then prepare it again.
func (i *Ingester) Finish(ctx context.Context, ref retrieval.DocumentRef) (State, error) {
	_, err := i.cfg.Store.FinishDocument(ctx, ref)
	state := over(err)
	switch {
	case err == nil:
		return Ready, nil
	case errors.Is(err, retrieval.ErrIncomplete):
		return Working, nil
	case state != "":
		return state, nil
	default:
		return "", fmt.Errorf("finishing document %s: %w", ref.Document, err)
	}
}

// Fail records why a document cannot be ingested, for its uploader.
func (i *Ingester) Fail(ctx context.Context, ref retrieval.DocumentRef, reason string) error {
	_, err := i.cfg.Store.FailDocument(ctx, ref, clipped(reason))
	if err != nil && over(err) == "" {
		return fmt.Errorf("recording the failure of document %s: %w", ref.Document, err)
	}
	return nil
}

// over returns the state if an error of the store ends the work.
func over(err error) State {
	switch {
	case errors.Is(err, retrieval.ErrVersion) || errors.Is(err, retrieval.ErrGeneration):
		return Superseded
	case err != nil && tool.KindOf(err) == tool.NotFound:
		return Gone
	default:
		return ""
	}
}

// clipped cuts a reason, between runes.
func clipped(reason string) string {
	if len(reason) > retrieval.MaxDocumentError {
		reason = reason[:retrieval.MaxDocumentError-len("…")] + "…"
	}
	return strings.ToValidUTF8(strings.ReplaceAll(reason, "\x00", " "), "")
}
