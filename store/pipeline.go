package store

import (
	"context"
	"fmt"

	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// CreatePipeline implements [retrieval.Pipelines].
func (s *Store) CreatePipeline(ctx context.Context, p retrieval.Pipeline) (retrieval.Pipeline, error) {
	const op = "store.CreatePipeline"
	id, err := idOrNew(p.ID)
	if err != nil {
		return retrieval.Pipeline{}, err
	}
	if err := checkIDs(op, id); err != nil {
		return retrieval.Pipeline{}, err
	}
	model, err := modelColumn(p.Embedding)
	if err != nil {
		return retrieval.Pipeline{}, err
	}
	generation := int32(0)
	if p.Embedding != nil {
		generation = 1
	}
	row, err := ask(ctx, s.do, op, p.Tenant, (*db.Queries).CreatePipeline, db.CreatePipelineParams{
		ID: id, TenantID: string(p.Tenant), Slug: text(p.Slug), Name: text(p.Name), Description: text(p.Description),
		Search: string(p.Search), Language: string(p.Language), MaxChars: number(p.Chunking.MaxChars),
		Overlap:   number(p.Chunking.Overlap),
		Embedding: model, Generation: generation, Disabled: p.Disabled, CreatedBy: text(p.CreatedBy),
	})
	if err != nil {
		err = explain(err, tool.NotFound, "tenant not found")
		return retrieval.Pipeline{}, explain(err, tool.Conflict, fmt.Sprintf("a pipeline %q exists already", p.Slug))
	}
	return pipelineOf(row)
}

// FindPipeline implements [retrieval.Pipelines].
func (s *Store) FindPipeline(ctx context.Context, tenant tool.TenantID, slugOrID string) (retrieval.Pipeline, error) {
	params := db.FindPipelineParams{TenantID: string(tenant)}
	if name := text(slugOrID); tool.ValidID(name) {
		params.ID = &name
	} else {
		params.Slug = &name
	}
	row, err := ask(ctx, s.do, "store.FindPipeline", tenant, (*db.Queries).FindPipeline, params)
	if err != nil {
		return retrieval.Pipeline{}, explain(err, tool.NotFound, fmt.Sprintf("pipeline %.80q not found", slugOrID))
	}
	p, err := pipelineOf(row.Pipeline)
	p.Documents = int(row.Documents)
	return p, err
}

// ListPipelines implements [retrieval.Pipelines].
func (s *Store) ListPipelines(
	ctx context.Context, tenant tool.TenantID, afterSlug string, limit int,
) ([]retrieval.Pipeline, error) {
	rows, err := ask(ctx, s.do, "store.ListPipelines", tenant, (*db.Queries).ListPipelines, db.ListPipelinesParams{
		TenantID: string(tenant), AfterSlug: text(afterSlug), Limit: pageSize(limit),
	})
	if err != nil {
		return nil, err
	}
	return collect(rows, pipelineOf)
}

// UpdatePipeline implements [retrieval.Pipelines].
func (s *Store) UpdatePipeline(ctx context.Context, p retrieval.Pipeline) (retrieval.Pipeline, error) {
	const op = "store.UpdatePipeline"
	var row db.Pipeline
	err := s.inTx(ctx, op, p.Tenant, func(q *db.Queries) error {
		stored, err := lockPipeline(ctx, q, op, p)
		if err != nil {
			return err
		}
		if stored.Language != string(p.Language) {
			has, err := q.HasDocuments(ctx, db.HasDocumentsParams{TenantID: string(p.Tenant), PipelineID: p.ID})
			if err != nil {
				return err
			}
			if has {
				return &tool.Error{Kind: tool.Conflict, Op: op, Path: "/language", Msg: fmt.Sprintf(
					"pipeline %q has documents indexed in %s: create another pipeline for %s", stored.Slug,
					stored.Language, p.Language)}
			}
		}
		if p.Search.Embeds() && stored.Generation == 0 && stored.NextGeneration == 0 {
			return &tool.Error{Kind: tool.Conflict, Op: op, Path: "/search", Msg: fmt.Sprintf(
				"pipeline %q has no embeddings to search: give it an embedding model first", stored.Slug)}
		}
		row, err = q.UpdatePipeline(ctx, db.UpdatePipelineParams{
			TenantID: string(p.Tenant), ID: p.ID, Name: text(p.Name), Description: text(p.Description), Search: string(p.Search),
			Language: string(p.Language), MaxChars: number(p.Chunking.MaxChars), Overlap: number(p.Chunking.Overlap),
			Disabled: p.Disabled,
		})
		return err
	})
	if err != nil {
		return retrieval.Pipeline{}, err
	}
	return pipelineOf(row)
}

// DeletePipeline implements [retrieval.Pipelines].
func (s *Store) DeletePipeline(ctx context.Context, p retrieval.Pipeline) error {
	const op = "store.DeletePipeline"
	return s.inTx(ctx, op, p.Tenant, func(q *db.Queries) error {
		if _, err := lockPipeline(ctx, q, op, p); err != nil {
			return err
		}
		return q.DeletePipeline(ctx, db.DeletePipelineParams{TenantID: string(p.Tenant), ID: p.ID})
	})
}

// lockPipeline locks a pipeline and checks that it is at p's revision.
func lockPipeline(ctx context.Context, q *db.Queries, op string, p retrieval.Pipeline) (db.Pipeline, error) {
	if err := checkIDs(op, p.ID); err != nil {
		return db.Pipeline{}, err
	}
	row, err := q.LockPipeline(ctx, db.LockPipelineParams{TenantID: string(p.Tenant), ID: p.ID})
	if err != nil {
		return row, explain(failure(op, err), tool.NotFound, fmt.Sprintf("pipeline %q not found", p.Slug))
	}
	if row.Revision != p.Revision {
		return row, &tool.Error{Kind: tool.Conflict, Op: op, Err: retrieval.ErrChanged, Msg: fmt.Sprintf(
			"pipeline %q changed meanwhile: revision %d was asked for, it is at %d; read it again", row.Slug, p.Revision,
			row.Revision)}
	}
	return row, nil
}

func modelColumn(c *retrieval.EmbeddingConfig) ([]byte, error) {
	if c == nil {
		return nil, nil
	}
	return content(c)
}

func pipelineOf(row db.Pipeline) (retrieval.Pipeline, error) {
	p := retrieval.Pipeline{
		ID: row.ID, Tenant: tool.TenantID(row.TenantID), Slug: row.Slug, Name: row.Name, Description: row.Description,
		Search: retrieval.Mode(row.Search), Language: retrieval.Language(row.Language),
		Chunking:   retrieval.Chunking{MaxChars: int(row.MaxChars), Overlap: int(row.Overlap)},
		Generation: int(row.Generation), NextGeneration: int(row.NextGeneration), Disabled: row.Disabled,
		EmbeddingError: row.EmbeddingError,
		Revision:       row.Revision, CreatedBy: row.CreatedBy, CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt,
	}
	if err := decode(row.Embedding, &p.Embedding); err != nil {
		return retrieval.Pipeline{}, err
	}
	return p, decode(row.NextEmbedding, &p.NextEmbedding)
}
