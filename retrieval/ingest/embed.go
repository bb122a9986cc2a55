package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/tool"
)

// Slice is the result of one step of embedding.
type Slice struct {
	State    State // Ready: nothing is left to embed.
	Embedded int   // Chunks.
	// Wait is the delay that the model requested.
	Wait time.Duration
}

// Embed embeds chunks of a document in a generation for a limited time, and calls report with the
// number of chunks after each batch. If the model becomes unavailable after some chunks, it returns a
// Wait; if before, it fails.
func (i *Ingester) Embed(
	ctx context.Context, ref retrieval.DocumentRef, generation int, report func(embedded int),
) (Slice, error) {
	work, err := i.cfg.Store.BeginDocument(ctx, ref)
	if state := over(err); state != "" {
		return Slice{State: state}, nil
	}
	if err != nil {
		return Slice{}, fmt.Errorf("beginning document %s: %w", ref.Document, err)
	}
	all := work.Pipeline.Generations()
	at := slices.IndexFunc(all, func(e retrieval.Embeddings) bool { return e.Generation == generation })
	if at < 0 { // The generation is no longer needed.
		return Slice{State: Ready}, nil
	}
	var unneeded atomic.Bool // The generation was dropped or replaced.
	out, err := i.slice(ctx, source{
		tenant: ref.Tenant, model: all[at].Config, report: report,
		pending: func(ctx context.Context, limit int) ([]retrieval.EmbeddingTask, error) {
			return i.cfg.Store.PendingEmbeddings(ctx, ref, generation, limit)
		},
		save: func(ctx context.Context, all []retrieval.Embedding) error {
			_, err := i.cfg.Store.SaveEmbeddings(ctx, ref, generation, all)
			if errors.Is(err, retrieval.ErrGeneration) {
				unneeded.Store(true)
			}
			return err
		},
	})
	if err == nil && out.State == Superseded && unneeded.Load() {
		out.State = Ready // The document is not superseded, and may be complete now.
	}
	return out, err
}

// EmbedGeneration is [Ingester.Embed] for all live chunks of a pipeline. The state is also [Ready] if
// the generation is live.
func (i *Ingester) EmbedGeneration(
	ctx context.Context, ref retrieval.GenerationRef, report func(embedded int),
) (Slice, error) {
	p, err := i.cfg.Store.FindPipeline(ctx, ref.Tenant, ref.Pipeline)
	if state := over(err); state != "" {
		return Slice{State: state}, nil
	}
	switch {
	case err != nil:
		return Slice{}, fmt.Errorf("finding pipeline %s: %w", ref.Pipeline, err)
	case p.Generation == ref.Generation:
		return Slice{State: Ready}, nil
	case p.NextEmbedding == nil || p.NextGeneration != ref.Generation:
		return Slice{State: Superseded}, nil
	}
	return i.slice(ctx, source{
		tenant: ref.Tenant, model: *p.NextEmbedding, report: report,
		pending: func(ctx context.Context, limit int) ([]retrieval.EmbeddingTask, error) {
			tasks, _, err := i.cfg.Store.PendingGeneration(ctx, ref, limit)
			return tasks, err
		},
		save: func(ctx context.Context, all []retrieval.Embedding) error {
			return i.cfg.Store.SaveGeneration(ctx, ref, all)
		},
	})
}

// Promote makes a generation the live one. The state is [Working] while embeddings are missing, for
// example of documents that were finished meanwhile.
func (i *Ingester) Promote(ctx context.Context, ref retrieval.GenerationRef) (State, error) {
	_, err := i.cfg.Store.PromoteGeneration(ctx, ref)
	state := over(err)
	switch {
	case err == nil:
		return Ready, nil
	case errors.Is(err, retrieval.ErrIncomplete):
		return Working, nil
	case state != "":
		return state, nil
	default:
		return "", fmt.Errorf("promoting generation %d of pipeline %s: %w", ref.Generation, ref.Pipeline, err)
	}
}

// Drop stops building a generation and records why.
func (i *Ingester) Drop(ctx context.Context, ref retrieval.GenerationRef, reason string) error {
	_, err := i.cfg.Store.DropGeneration(ctx, ref, clipped(reason))
	if err != nil && over(err) == "" {
		return fmt.Errorf("dropping generation %d of pipeline %s: %w", ref.Generation, ref.Pipeline, err)
	}
	return nil
}

// source is the origin of chunks to embed, and the destination of vectors.
type source struct {
	tenant  tool.TenantID
	model   retrieval.EmbeddingConfig
	pending func(ctx context.Context, limit int) ([]retrieval.EmbeddingTask, error)
	save    func(ctx context.Context, all []retrieval.Embedding) error
	report  func(embedded int)
}

// defaultWait is the delay for a model that requests none.
const defaultWait = 5 * time.Second

func (i *Ingester) slice(ctx context.Context, s source) (Slice, error) {
	until := time.Now().Add(i.cfg.Slice)
	out := Slice{State: Working}
	for {
		tasks, err := s.pending(ctx, i.cfg.Parallel*s.model.Batch())
		if state := over(err); state != "" {
			out.State = state
			return out, nil
		}
		if err != nil {
			return out, fmt.Errorf("reading the chunks to embed: %w", err)
		}
		if len(tasks) == 0 {
			out.State = Ready
			return out, nil
		}
		n, err := i.round(ctx, s, tasks)
		out.Embedded += n
		state := over(err)
		switch {
		case err == nil:
		case errors.Is(err, errStore) && state != "":
			out.State = state
			return out, nil
		case out.Embedded > 0 && ctx.Err() == nil && tool.KindOf(err).Retryable():
			out.Wait = max(defaultWait, tool.AsError(err).RetryAfter)
			return out, nil
		default:
			return out, err
		}
		if s.report != nil {
			s.report(out.Embedded)
		}
		if time.Now().After(until) {
			return out, nil
		}
	}
}

// round embeds chunks in concurrent batches, and stores each batch at once. It returns the number stored,
// and the first error.
func (i *Ingester) round(ctx context.Context, s source, tasks []retrieval.EmbeddingTask) (int, error) {
	var stored atomic.Int64
	var g errgroup.Group // A failed batch does not cancel the others, which are paid for.
	g.SetLimit(i.cfg.Parallel)
	for batch := range slices.Chunk(tasks, s.model.Batch()) {
		g.Go(func() error {
			err := i.embed(ctx, s, batch)
			if err == nil {
				stored.Add(int64(len(batch)))
			}
			return err
		})
	}
	err := g.Wait()
	return int(stored.Load()), err
}

// errStore marks errors of the store.
var errStore = errors.New("storing embeddings")

func (i *Ingester) embed(ctx context.Context, s source, tasks []retrieval.EmbeddingTask) error {
	texts := make([]string, len(tasks))
	for n := range tasks {
		texts[n] = textOf(&tasks[n])
	}
	vectors, err := i.cfg.Embedder.Embed(ctx, s.tenant, s.model, retrieval.DocumentText, texts)
	if err != nil {
		return fmt.Errorf("embedding %d chunks with %s: %w", len(texts), s.model.Model, err)
	}
	if len(vectors) != len(tasks) {
		return &tool.Error{
			Kind: tool.Unavailable, Op: "ingest.Embed",
			Msg: fmt.Sprintf("the embedding model returned %d vectors for %d texts", len(vectors), len(tasks)),
		}
	}
	all := make([]retrieval.Embedding, len(tasks))
	for n := range tasks {
		all[n] = retrieval.Embedding{ChunkID: tasks[n].ChunkID, Vector: vectors[n]}
	}
	if err := s.save(ctx, all); err != nil {
		return fmt.Errorf("%w: %w", errStore, err)
	}
	return nil
}

// textOf returns the text to embed for a chunk: its title and headings, and its text.
func textOf(t *retrieval.EmbeddingTask) string {
	above := slices.DeleteFunc(append([]string{t.Title}, t.Headings...), func(s string) bool { return s == "" })
	if above = slices.Compact(above); len(above) == 0 {
		return t.Text
	}
	return strings.Join(above, " › ") + "\n\n" + t.Text
}
