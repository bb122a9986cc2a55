package store

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/store/internal/ranking"
	"github.com/toolcrib/toolcrib/tool"
)

// The minimum number of passages kept while ranking: some may belong to replaced
// versions of documents, or not match the filter.
const (
	minRanked   = 64
	minFiltered = 512
)

// SearchIndex implements [retrieval.Index].
//
// A search by words ranks every chunk that has one of the query's words; see
// [ranking.Ranker.Top] for the score.
//
// A search by vector compares every embedding of the generation: in the database if it
// has pgvector, else here.
func (s *Store) SearchIndex(
	ctx context.Context, tenant tool.TenantID, query retrieval.IndexQuery,
) (retrieval.IndexHits, error) {
	const op = "store.SearchIndex"
	if err := s.checkTenant(op, tenant); err != nil {
		return retrieval.IndexHits{}, err
	}
	if err := checkIDs(op, query.Pipeline); err != nil {
		return retrieval.IndexHits{}, err
	}
	conditions, err := conditionsOf(query.Filter)
	if err != nil {
		return retrieval.IndexHits{}, err
	}
	query.Limit = max(1, min(query.Limit, maxLimit))
	var hits retrieval.IndexHits
	err = s.run(ctx, op, func(ctx context.Context) error {
		// One snapshot: no document changes between two statements.
		options := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
		return pgx.BeginTxFunc(ctx, s.pool, options, func(tx pgx.Tx) (err error) {
			search := search{
				tx: tx, q: db.New(tx), op: op, settings: s.settings(ctx, op, tenant), query: query, conditions: conditions,
				vectors: s.vectors, excluded: []string{},
			}
			hits, err = search.run(ctx, tenant)
			return err
		})
	})
	return hits, err
}

// conditionsOf returns a filter as the parameter of metadata_fulfils.
func conditionsOf(f retrieval.Filter) ([]byte, error) {
	if len(f) == 0 {
		return []byte("[]"), nil
	}
	return encodePayload(f)
}

// search is one search in its transaction.
type search struct {
	tx         pgx.Tx
	q          *db.Queries
	op         string
	settings   db.SetTenantParams
	query      retrieval.IndexQuery
	conditions []byte
	vectors    bool
	pipeline   db.Pipeline
	words      *ranking.Query
	excluded   []string // Chunks that the query excludes; for the search by vector only.
}

func (s *search) run(ctx context.Context, tenant tool.TenantID) (hits retrieval.IndexHits, err error) {
	if err := s.q.SetTenant(ctx, s.settings); err != nil {
		return hits, err
	}
	s.pipeline, err = s.q.ReadPipeline(ctx, db.ReadPipelineParams{TenantID: string(tenant), ID: s.query.Pipeline})
	if err != nil {
		return hits, explain(failure(s.op, err), tool.NotFound, "pipeline not found")
	}
	if s.pipeline.Disabled {
		return hits, &tool.Error{Kind: tool.Conflict, Op: s.op, Msg: fmt.Sprintf("pipeline %q is disabled", s.pipeline.Slug)}
	}
	if err := s.readWords(ctx); err != nil {
		return hits, err
	}
	if !s.words.Empty() {
		if hits.Text, err = s.byWords(ctx); err != nil {
			return hits, err
		}
	}
	if len(s.query.Vector) > 0 {
		hits.Vector, err = s.byVector(ctx)
	}
	return hits, err
}

func (s *search) byVector(ctx context.Context) ([]retrieval.IndexHit, error) {
	if s.query.Generation <= 0 || s.pipeline.Generation != number(s.query.Generation) {
		return nil, &tool.Error{Kind: tool.Conflict, Op: s.op, Err: retrieval.ErrGeneration, Msg: fmt.Sprintf(
			"pipeline %q does not search generation %d of its embeddings", s.pipeline.Slug, s.query.Generation)}
	}
	unit, ok := normalized(s.query.Vector)
	if !ok {
		return nil, &tool.Error{Kind: tool.Invalid, Op: s.op, Msg: "the query's vector is zero or not finite"}
	}
	best, compared := []near(nil), false
	err := s.findExcluded(ctx)
	if err != nil {
		return nil, err
	}
	if s.vectors {
		best, compared, err = s.nearest(ctx, unit)
	}
	if !compared && err == nil {
		best, err = s.scan(ctx, unit)
	}
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(best))
	for i, b := range best {
		ids[i] = b.chunk.String()
	}
	rows, err := s.q.ReadChunks(ctx, db.ReadChunksParams{TenantID: s.pipeline.TenantID, Ids: ids})
	if err != nil {
		return nil, err
	}
	byID := make(map[string]db.ReadChunksRow, len(rows))
	for _, row := range rows {
		byID[row.Chunk.ID] = row
	}
	return collect(best, func(b near) (retrieval.IndexHit, error) {
		row := byID[b.chunk.String()]
		return hitOf(row.Chunk, row.Key, row.LiveTitle, row.LiveSource, row.LiveMetadata, float64(b.cosine))
	})
}

// near is a chunk and its similarity.
type near struct {
	chunk  uuid.UUID
	cosine float32
}

func byNearness(a, b near) int {
	return cmp.Or(cmp.Compare(b.cosine, a.cosine), bytes.Compare(a.chunk[:], b.chunk[:]))
}

// scan compares every embedding to a vector and returns the nearest ones in order.
func (s *search) scan(ctx context.Context, unit []float32) ([]near, error) {
	rows, err := s.tx.Query(ctx, db.ScanEmbeddings, s.pipeline.TenantID, s.pipeline.ID, s.pipeline.Generation,
		s.conditions)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	best := make([]near, 0, s.query.Limit+1)
	excluded := make(map[uuid.UUID]bool, len(s.excluded))
	for _, id := range s.excluded {
		chunk, err := uuid.Parse(id)
		if err != nil {
			return nil, err
		}
		excluded[chunk] = true
	}
	var (
		n   near
		raw pgtype.DriverBytes // Valid until the next row: not copied.
	)
	for rows.Next() {
		if err := rows.Scan((*[16]byte)(&n.chunk), &raw); err != nil {
			return nil, err
		}
		if len(raw) != 4*len(unit) {
			return nil, &tool.Error{Kind: tool.Invalid, Op: s.op, Msg: fmt.Sprintf(
				"the query's vector has %d numbers, those of pipeline %q have %d", len(unit), s.pipeline.Slug, len(raw)/4)}
		}
		n.cosine = dot(unit, raw)
		if excluded[n.chunk] || len(best) == s.query.Limit && byNearness(n, best[len(best)-1]) >= 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, n, byNearness)
		best = slices.Insert(best, at, n)[:min(len(best)+1, s.query.Limit)]
	}
	return best, rows.Err()
}

func hitOf(c db.Chunk, key, title, source string, metadata []byte, score float64) (retrieval.IndexHit, error) {
	hit := retrieval.IndexHit{
		Chunk: retrieval.Chunk{
			ID: c.ID, DocumentID: c.DocumentID, Position: int(c.Position), Text: c.Text, Headings: c.Headings,
			Start: int(c.StartAt), End: int(c.EndAt), Page: int(c.Page),
		},
		Key: key, Title: title, Source: source, Score: score,
	}
	return hit, decode(metadata, &hit.Metadata)
}
