package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// maxPendingCount bounds the count of embeddings missing in a generation.
const maxPendingCount = 100_000

// BeginGeneration implements [retrieval.Reembedding].
func (s *Store) BeginGeneration(
	ctx context.Context, p retrieval.Pipeline, config retrieval.EmbeddingConfig,
) (retrieval.Pipeline, error) {
	const op = "store.BeginGeneration"
	model, err := content(config)
	if err != nil {
		return retrieval.Pipeline{}, err
	}
	var row db.Pipeline
	err = s.inTx(ctx, op, p.Tenant, func(q *db.Queries) error {
		stored, err := lockPipeline(ctx, q, op, p)
		if err != nil {
			return err
		}
		row, err = q.SetNextGeneration(ctx, db.SetNextGenerationParams{
			TenantID: stored.TenantID, ID: stored.ID, NextEmbedding: model, NextGeneration: stored.LastGeneration + 1,
		})
		if err != nil {
			return err
		}
		return keepGenerations(ctx, q, row)
	})
	if err != nil {
		return retrieval.Pipeline{}, err
	}
	return pipelineOf(row)
}

// keepGenerations deletes embeddings that a pipeline no longer needs.
func keepGenerations(ctx context.Context, q *db.Queries, p db.Pipeline) error {
	return q.DeleteGenerations(ctx, db.DeleteGenerationsParams{
		TenantID: p.TenantID, PipelineID: p.ID, Keep: p.Generation, KeepToo: p.NextGeneration,
	})
}

// PendingGeneration implements [retrieval.Reembedding].
func (s *Store) PendingGeneration(
	ctx context.Context, ref retrieval.GenerationRef, limit int,
) (tasks []retrieval.EmbeddingTask, left int, err error) {
	const op = "store.PendingGeneration"
	err = s.inTx(ctx, op, ref.Tenant, func(q *db.Queries) error {
		p, err := shared(ctx, q, op, ref)
		if err != nil {
			return err
		}
		count, err := q.CountPendingGeneration(ctx, db.CountPendingGenerationParams{
			TenantID: p.TenantID, PipelineID: p.ID, Generation: p.NextGeneration, Limit: maxPendingCount,
		})
		if err != nil {
			return err
		}
		rows, err := q.PendingGeneration(ctx, db.PendingGenerationParams{
			TenantID: p.TenantID, PipelineID: p.ID, Generation: p.NextGeneration, Limit: pageSize(limit),
		})
		tasks, left = make([]retrieval.EmbeddingTask, len(rows)), int(count)
		for i, row := range rows {
			tasks[i] = retrieval.EmbeddingTask{ChunkID: row.ID, Title: row.Title, Headings: row.Headings, Text: row.Text}
		}
		return err
	})
	return tasks, left, err
}

// SaveGeneration implements [retrieval.Reembedding].
func (s *Store) SaveGeneration(ctx context.Context, ref retrieval.GenerationRef, all []retrieval.Embedding) error {
	const op = "store.SaveGeneration"
	var params db.InsertEmbeddingsParams
	err := s.inTx(ctx, op, ref.Tenant, func(q *db.Queries) error {
		row, err := shared(ctx, q, op, ref)
		if err != nil {
			return err
		}
		p, err := pipelineOf(row)
		if err != nil {
			return err
		}
		if params, err = embeddingParams(op, &p, ref.Generation, all); err != nil {
			return err
		}
		return q.InsertEmbeddings(ctx, params)
	})
	if err != nil {
		return err
	}
	return s.saveVectors(ctx, op, params)
}

// PromoteGeneration implements [retrieval.Reembedding].
func (s *Store) PromoteGeneration(ctx context.Context, ref retrieval.GenerationRef) (retrieval.Pipeline, error) {
	const op = "store.PromoteGeneration"
	return s.endGeneration(ctx, op, ref, func(q *db.Queries, p db.Pipeline, err error) (db.Pipeline, error) {
		if errors.Is(err, retrieval.ErrGeneration) && p.Generation == number(ref.Generation) {
			return p, nil // It is live already.
		}
		if err != nil {
			return p, err
		}
		left, err := q.CountPendingGeneration(ctx, db.CountPendingGenerationParams{
			TenantID: p.TenantID, PipelineID: p.ID, Generation: p.NextGeneration, Limit: maxPendingCount,
		})
		if err != nil {
			return p, err
		}
		if left > 0 {
			return p, &tool.Error{Kind: tool.Conflict, Op: op, Err: retrieval.ErrIncomplete, Msg: fmt.Sprintf(
				"generation %d of pipeline %q lacks %d embeddings", p.NextGeneration, p.Slug, left)}
		}
		return q.PromoteGeneration(ctx, db.PromoteGenerationParams{TenantID: p.TenantID, ID: p.ID})
	})
}

// DropGeneration implements [retrieval.Reembedding].
func (s *Store) DropGeneration(
	ctx context.Context, ref retrieval.GenerationRef, reason string,
) (retrieval.Pipeline, error) {
	const op = "store.DropGeneration"
	reason = clip(text(reason), retrieval.MaxDocumentError)
	var kept error
	p, err := s.endGeneration(ctx, op, ref, func(q *db.Queries, p db.Pipeline, err error) (db.Pipeline, error) {
		if err != nil {
			return p, err
		}
		if retrieval.Mode(p.Search).Embeds() && p.Generation == 0 {
			kept = &tool.Error{Kind: tool.Conflict, Op: op, Msg: fmt.Sprintf(
				"pipeline %q searches by %s and has no other embeddings: set its search to full_text first", p.Slug, p.Search)}
			return q.SetEmbeddingError(ctx, db.SetEmbeddingErrorParams{TenantID: p.TenantID, ID: p.ID, EmbeddingError: reason})
		}
		kept = nil
		return q.SetNextGeneration(ctx, db.SetNextGenerationParams{TenantID: p.TenantID, ID: p.ID, EmbeddingError: reason})
	})
	if err == nil {
		err = kept
	}
	return p, err
}

// endGeneration ends the building of a generation by fn, which receives the
// error of finding ref, and deletes embeddings that are no longer needed.
func (s *Store) endGeneration(
	ctx context.Context, op string, ref retrieval.GenerationRef,
	fn func(q *db.Queries, p db.Pipeline, err error) (db.Pipeline, error),
) (retrieval.Pipeline, error) {
	var row db.Pipeline
	err := s.inTx(ctx, op, ref.Tenant, func(q *db.Queries) error {
		found, err := nextGeneration(op, ref, func(arg db.SharePipelineParams) (db.Pipeline, error) {
			return q.LockPipeline(ctx, db.LockPipelineParams(arg))
		})
		if row, err = fn(q, found, err); err != nil {
			return err
		}
		return keepGenerations(ctx, q, row)
	})
	if err != nil {
		return retrieval.Pipeline{}, err
	}
	return pipelineOf(row)
}

// shared reads the pipeline that builds the generation of ref, and locks it against
// changes.
func shared(ctx context.Context, q *db.Queries, op string, ref retrieval.GenerationRef) (db.Pipeline, error) {
	return nextGeneration(op, ref, func(arg db.SharePipelineParams) (db.Pipeline, error) {
		return q.SharePipeline(ctx, arg)
	})
}

// nextGeneration reads, by read, a pipeline that builds the generation of ref.
func nextGeneration(
	op string, ref retrieval.GenerationRef, read func(arg db.SharePipelineParams) (db.Pipeline, error),
) (db.Pipeline, error) {
	if err := checkIDs(op, ref.Pipeline); err != nil {
		return db.Pipeline{}, err
	}
	p, err := read(db.SharePipelineParams{TenantID: string(ref.Tenant), ID: ref.Pipeline})
	if err != nil {
		return p, explain(failure(op, err), tool.NotFound, "pipeline not found")
	}
	if ref.Generation <= 0 || p.NextGeneration != number(ref.Generation) {
		return p, &tool.Error{Kind: tool.Conflict, Op: op, Err: retrieval.ErrGeneration, Msg: fmt.Sprintf(
			"pipeline %q does not build generation %d", p.Slug, ref.Generation)}
	}
	return p, nil
}

// embeddingParams converts embeddings of a generation for storage.
func embeddingParams(
	op string, p *retrieval.Pipeline, generation int, all []retrieval.Embedding,
) (db.InsertEmbeddingsParams, error) {
	params := db.InsertEmbeddingsParams{TenantID: string(p.Tenant), PipelineID: p.ID, Generation: number(generation)}
	dimensions := 0
	for _, g := range p.Generations() {
		if g.Generation == generation {
			dimensions = g.Config.Dimensions
		}
	}
	if dimensions == 0 {
		return params, &tool.Error{Kind: tool.Conflict, Op: op, Err: retrieval.ErrGeneration, Msg: fmt.Sprintf(
			"pipeline %q has no generation %d", p.Slug, generation)}
	}
	params.Ids, params.Embeddings = make([]string, len(all)), make([][]byte, len(all))
	for i, e := range all {
		if err := checkIDs(op, e.ChunkID); err != nil {
			return params, err
		}
		unit, ok := normalized(e.Vector)
		if !ok || len(unit) != dimensions {
			return params, &tool.Error{Kind: tool.Invalid, Op: op, Msg: fmt.Sprintf(
				"the vector of chunk %s has %d numbers: want %d, all finite and not all zero", e.ChunkID, len(e.Vector),
				dimensions)}
		}
		params.Ids[i], params.Embeddings[i] = e.ChunkID, packed(unit)
	}
	return params, nil
}

// normalized returns v with length 1, so that a dot product is a cosine; not ok for a
// zero vector.
func normalized(v []float32) (unit []float32, ok bool) {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	length := math.Sqrt(sum)
	if length == 0 || math.IsNaN(length) || math.IsInf(length, 0) {
		return nil, false
	}
	unit = make([]float32, len(v))
	for i, x := range v {
		unit[i] = float32(float64(x) / length)
	}
	return unit, true
}

// packed encodes a vector for its column.
func packed(v []float32) []byte {
	raw := make([]byte, 0, 4*len(v))
	for _, x := range v {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
	}
	return raw
}

// dot returns the dot product of a vector and an encoded one of the same length.
func dot(v []float32, raw []byte) float32 {
	raw = raw[:4*len(v)]
	// Four independent sums, for instruction-level parallelism.
	var a, b, c, d float32
	i := 0
	for ; i+4 <= len(v); i += 4 {
		x := raw[4*i : 4*i+16 : 4*i+16]
		a += v[i] * math.Float32frombits(binary.LittleEndian.Uint32(x[0:4]))
		b += v[i+1] * math.Float32frombits(binary.LittleEndian.Uint32(x[4:8]))
		c += v[i+2] * math.Float32frombits(binary.LittleEndian.Uint32(x[8:12]))
		d += v[i+3] * math.Float32frombits(binary.LittleEndian.Uint32(x[12:16]))
	}
	for ; i < len(v); i++ {
		a += v[i] * math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return a + b + c + d
}
