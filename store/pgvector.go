package store

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// With the extension pgvector, embeddings have a column of its type as well, and are
// compared in the database instead of here, with the same result. Migrations and
// generated queries do not use it, because they must work without.

// addVectors adds that column if an operator has installed the extension and it is
// missing. Existing embeddings stay without a value: their pipelines are searched as
// before until they are embedded again.
const addVectors = `do $$ begin
	if to_regtype('vector') is not null and not exists (
		select from pg_attribute where attrelid = 'chunk_embeddings'::regclass and attname = 'vector' and not attisdropped)
	then
		alter table chunk_embeddings add column vector vector;
		create index chunk_embeddings_without_vector on chunk_embeddings (tenant_id, pipeline_id, generation) where vector is null;
		grant update (vector) on chunk_embeddings to ` + AppRole + `;
	end if;
end $$`

const hasVectors = `select exists (
	select from pg_attribute where attrelid = to_regclass('chunk_embeddings') and attname = 'vector' and not attisdropped)`

const fillVectors = `update chunk_embeddings e set vector = given.vector::vector
	from (select unnest($3::uuid[]) as id, unnest($4::text[]) as vector) given
	where e.tenant_id = $1 and e.generation = $2 and e.chunk_id = given.id and e.vector is null`

const lackVectors = `select exists (
	select from chunk_embeddings e where e.tenant_id = $1 and e.pipeline_id = $2 and e.generation = $3 and e.vector is null)`

const nearestVectors = `select e.chunk_id, -(e.vector <#> $4::text::vector)::float4
	from chunk_embeddings e
	join documents d on d.tenant_id = e.tenant_id and d.id = e.document_id and d.live_version = e.version
	where e.tenant_id = $1 and e.pipeline_id = $2 and e.generation = $3 and d.pipeline_id = $2
	  and ($5::jsonb = '[]' or metadata_fulfils(d.live_metadata, $5::jsonb)) and e.chunk_id <> all ($7::uuid[])
	order by e.vector <#> $4::text::vector, e.chunk_id
	limit $6`

// findVectors records whether the column exists.
func (s *Store) findVectors(ctx context.Context) error {
	return failure("store.Open", s.pool.QueryRow(ctx, hasVectors).Scan(&s.vectors))
}

// vectorText converts a vector, as encoded by [packed], to pgvector's text form.
func vectorText(raw []byte) string {
	var b strings.Builder
	for i := 0; i < len(raw); i += 4 {
		b.WriteByte("[,"[min(i, 1)])
		x := math.Float32frombits(binary.LittleEndian.Uint32(raw[i:]))
		b.WriteString(strconv.FormatFloat(float64(x), 'g', -1, 32))
	}
	return b.String() + "]"
}

// saveVectors fills the column, where it exists, for stored embeddings. It is
// idempotent.
func (s *Store) saveVectors(ctx context.Context, op string, params db.InsertEmbeddingsParams) error {
	if !s.vectors || len(params.Ids) == 0 {
		return nil
	}
	texts := make([]string, len(params.Embeddings))
	for i, raw := range params.Embeddings {
		texts[i] = vectorText(raw)
	}
	tenant := scope{pool: s.pool, enter: db.SetTenant, settings: s.settings(ctx, op, tool.TenantID(params.TenantID))}
	return s.run(ctx, op, func(ctx context.Context) error {
		_, err := tenant.Exec(ctx, fillVectors, params.TenantID, params.Generation, params.Ids, texts)
		return err
	})
}

// nearest returns the nearest embeddings, compared by the database; not ok where some
// have no value in the column.
func (s *search) nearest(ctx context.Context, unit []float32) (best []near, ok bool, err error) {
	var lacking bool
	err = s.tx.QueryRow(ctx, lackVectors, s.pipeline.TenantID, s.pipeline.ID, s.pipeline.Generation).Scan(&lacking)
	if err != nil || lacking {
		return nil, false, err
	}
	rows, err := s.tx.Query(ctx, nearestVectors, s.pipeline.TenantID, s.pipeline.ID, s.pipeline.Generation,
		vectorText(packed(unit)), s.conditions,
		s.query.Limit, s.excluded)
	if err != nil {
		return nil, false, err
	}
	best, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (n near, err error) {
		return n, row.Scan((*[16]byte)(&n.chunk), &n.cosine)
	})
	if err != nil {
		return nil, false, fmt.Errorf("comparing vectors: %w", err)
	}
	return best, true, nil
}
