-- name: CreatePipeline :one
insert into pipelines (
    id, tenant_id, slug, name, description, search, language, max_chars, overlap, embedding, generation, last_generation, disabled, created_by
) values (
    @id, @tenant_id, @slug, @name, @description, @search, @language, @max_chars, @overlap, @embedding, @generation, @generation, @disabled, @created_by
) returning *;

-- name: FindPipeline :one
-- By id or by slug: the other is empty.
select sqlc.embed(p), (select count(*) from documents d where d.tenant_id = p.tenant_id and d.pipeline_id = p.id)::int as documents
from pipelines p
where p.tenant_id = @tenant_id and p.deleted_at is null and (p.id = sqlc.narg('id')::uuid or p.slug = sqlc.narg('slug')::text);

-- name: ReadPipeline :one
select * from pipelines where tenant_id = @tenant_id and id = @id and deleted_at is null;

-- name: LockPipeline :one
-- Locks the pipeline against changes and against finishing documents of it.
select * from pipelines where tenant_id = @tenant_id and id = @id and deleted_at is null for update;

-- name: SharePipeline :one
-- Locks the pipeline against changes.
select * from pipelines where tenant_id = @tenant_id and id = @id and deleted_at is null for share;

-- name: ListPipelines :many
select * from pipelines where tenant_id = @tenant_id and slug > @after_slug and deleted_at is null
order by slug limit sqlc.arg('limit')::int;

-- name: UpdatePipeline :one
update pipelines set
    name = @name, description = @description, search = @search, language = @language, max_chars = @max_chars, overlap = @overlap,
    disabled = @disabled, revision = revision + 1, updated_at = now()
where tenant_id = @tenant_id and id = @id
returning *;

-- name: HasDocuments :one
select exists (select from documents where tenant_id = @tenant_id and pipeline_id = @pipeline_id);

-- name: DeletePipeline :exec
with blocks as (
    delete from word_blocks b where b.tenant_id = @tenant_id and b.pipeline_id = @id
), postings as (
    delete from word_postings w where w.tenant_id = @tenant_id and w.pipeline_id = @id
), gone as (
    delete from documents d where d.tenant_id = @tenant_id and d.pipeline_id = @id
)
update pipelines p set
    deleted_at = now(), updated_at = now(), revision = p.revision + 1,
    embedding = null, generation = 0, next_embedding = null, next_generation = 0
where p.tenant_id = @tenant_id and p.id = @id;

-- name: SetNextGeneration :one
update pipelines set
    next_embedding = @next_embedding, next_generation = @next_generation, embedding_error = @embedding_error,
    last_generation = greatest(last_generation, @next_generation), revision = revision + 1, updated_at = now()
where tenant_id = @tenant_id and id = @id
returning *;

-- name: PromoteGeneration :one
update pipelines set
    embedding = next_embedding, generation = next_generation, next_embedding = null, next_generation = 0, embedding_error = '',
    revision = revision + 1, updated_at = now()
where tenant_id = @tenant_id and id = @id
returning *;

-- name: SetEmbeddingError :one
update pipelines set embedding_error = @embedding_error, updated_at = now() where tenant_id = @tenant_id and id = @id
returning *;

-- name: DeleteGenerations :exec
-- Deletes a pipeline's embeddings except those of two generations.
delete from chunk_embeddings
where tenant_id = @tenant_id and pipeline_id = @pipeline_id and generation <> @keep and generation <> @keep_too;

-- name: FindDocumentByKey :one
select * from documents where tenant_id = @tenant_id and pipeline_id = @pipeline_id and key = @key for update;

-- name: PutDocument :one
insert into documents as d (
    id, tenant_id, pipeline_id, key, title, media_type, source, metadata, digest, bytes, created_by
) values (
    @id, @tenant_id, @pipeline_id, @key, @title, @media_type, @source, @metadata, @digest, @bytes, @created_by
)
on conflict (tenant_id, pipeline_id, key) do update set
    title = excluded.title, own_title = '', media_type = excluded.media_type, source = excluded.source,
    metadata = excluded.metadata, digest = excluded.digest, bytes = excluded.bytes,
    version = d.version + 1, status = 'pending', error = '', chunks = 0, embedded = 0, updated_at = now()
returning *;

-- name: PutContent :exec
insert into document_contents (tenant_id, document_id, content) values (@tenant_id, @document_id, @content)
on conflict (tenant_id, document_id) do update set content = excluded.content;

-- name: PutText :exec
insert into document_texts (tenant_id, document_id, version, text) values (@tenant_id, @document_id, @version, @text)
on conflict (tenant_id, document_id, version) do nothing;

-- name: ReadText :one
select text from document_texts where tenant_id = @tenant_id and document_id = @document_id and version = @version;

-- name: ListChunks :many
select * from chunks where tenant_id = @tenant_id and document_id = @document_id and version = @version order by position;

-- name: ReadContent :one
select content from document_contents where tenant_id = @tenant_id and document_id = @document_id;

-- name: DropContent :exec
delete from document_contents where tenant_id = @tenant_id and document_id = @document_id;

-- name: FindDocument :one
-- By id or by key: the other is empty.
select d.* from documents d join pipelines p on p.tenant_id = d.tenant_id and p.id = d.pipeline_id
where d.tenant_id = @tenant_id and d.pipeline_id = @pipeline_id and p.deleted_at is null
  and (d.id = sqlc.narg('id')::uuid or d.key = sqlc.narg('key')::text)
order by d.id = sqlc.narg('id')::uuid desc nulls last limit 1;

-- name: LockDocument :one
select * from documents where tenant_id = @tenant_id and id = @id for update;

-- name: ReadDocument :one
select * from documents where tenant_id = @tenant_id and id = @id;

-- name: ListDocuments :many
select d.* from documents d join pipelines p on p.tenant_id = d.tenant_id and p.id = d.pipeline_id
where d.tenant_id = @tenant_id and d.pipeline_id = @pipeline_id and p.deleted_at is null and d.key > @after_key
  and (@status::text = '' or d.status = @status)
order by d.key limit sqlc.arg('limit')::int;

-- name: DeleteDocument :execrows
delete from documents where tenant_id = @tenant_id and pipeline_id = @pipeline_id and id = @id;

-- name: SetDocumentStatus :one
update documents set status = @status, error = @error, updated_at = now()
where tenant_id = @tenant_id and id = @id
returning *;

-- name: SetDocumentChunks :exec
update documents set own_title = @own_title, chunks = @chunks, embedded = 0, updated_at = now()
where tenant_id = @tenant_id and id = @id;

-- name: InsertChunks :exec
with given as (
    select (c ->> 'id')::uuid as id, (c ->> 'position')::integer as position, c ->> 'text' as body,
           array(select jsonb_array_elements_text(c -> 'headings')) as headings,
           (c ->> 'start')::integer as start_at, (c ->> 'end')::integer as end_at, (c ->> 'page')::integer as page
    from jsonb_array_elements(@chunks::jsonb) c
), kept as (
    insert into chunks (tenant_id, id, document_id, version, position, text, headings, start_at, end_at, page)
    select @tenant_id, g.id, @document_id, @version, g.position, g.body, g.headings, g.start_at, g.end_at, g.page from given g
)
insert into chunk_terms (tenant_id, pipeline_id, document_id, version, chunk_id, terms)
select @tenant_id, @pipeline_id, @document_id, @version, g.id, prefix_lexemes(@prefix, (
    setweight(to_tsvector((@language::text)::regconfig, @title::text), 'A')
    || setweight(to_tsvector((@language::text)::regconfig, array_to_string(g.headings, e'\n')), 'B')
    || to_tsvector((@language::text)::regconfig, g.body))::text)::tsvector
from given g;

-- name: PendingEmbeddings :many
select c.id, c.headings, c.text from chunks c
where c.tenant_id = @tenant_id and c.document_id = @document_id and c.version = @version and not exists (
    select from chunk_embeddings e
    where e.tenant_id = c.tenant_id and e.chunk_id = c.id and e.generation = @generation)
order by c.position limit sqlc.arg('limit')::int;

-- name: InsertEmbeddings :exec
-- Chunks that are deleted, or have an embedding, are skipped.
insert into chunk_embeddings (tenant_id, pipeline_id, generation, document_id, version, chunk_id, embedding)
select @tenant_id, @pipeline_id, @generation, c.document_id, c.version, c.id, given.embedding
from (select unnest(@ids::uuid[]) as id, unnest(@embeddings::bytea[]) as embedding) given
join chunks c on c.tenant_id = @tenant_id and c.id = given.id
join documents d on d.tenant_id = c.tenant_id and d.id = c.document_id and d.pipeline_id = @pipeline_id
where sqlc.narg('document_id')::uuid is null or c.document_id = sqlc.narg('document_id') and c.version = sqlc.narg('version')::bigint
on conflict (tenant_id, chunk_id, generation) do nothing;

-- name: CountEmbedded :one
-- How many chunks of a version are embedded in all of the generations.
select count(*)::int from chunks c
where c.tenant_id = @tenant_id and c.document_id = @document_id and c.version = @version and not exists (
    select from unnest(@generations::integer[]) g (generation)
    where not exists (
        select from chunk_embeddings e
        where e.tenant_id = c.tenant_id and e.chunk_id = c.id and e.generation = g.generation));

-- name: SetDocumentEmbedded :one
update documents set embedded = @embedded, updated_at = now() where tenant_id = @tenant_id and id = @id
returning *;

-- name: FinishDocument :one
update documents set
    status = 'ready', error = '', embedded = @embedded, updated_at = now(), ready_at = now(),
    live_version = version, live_title = coalesce(nullif(title, ''), own_title), live_source = source, live_metadata = metadata
where tenant_id = @tenant_id and id = @id
returning *;

-- name: DeleteOldChunks :exec
-- Deletes the rows of a document's other versions.
with texts as (
    delete from document_texts x where x.tenant_id = @tenant_id and x.document_id = @document_id and x.version <> @version
), terms as (
    delete from chunk_terms t where t.tenant_id = @tenant_id and t.document_id = @document_id and t.version <> @version
), embeddings as (
    delete from chunk_embeddings e where e.tenant_id = @tenant_id and e.document_id = @document_id and e.version <> @version
)
delete from chunks c where c.tenant_id = @tenant_id and c.document_id = @document_id and c.version <> @version;

-- name: PendingGeneration :many
select c.id, d.live_title as title, c.headings, c.text from chunks c
join documents d on d.tenant_id = c.tenant_id and d.id = c.document_id and d.live_version = c.version
where c.tenant_id = @tenant_id and d.pipeline_id = @pipeline_id and not exists (
    select from chunk_embeddings e
    where e.tenant_id = c.tenant_id and e.chunk_id = c.id and e.generation = @generation)
limit sqlc.arg('limit')::int;

-- name: CountPendingGeneration :one
select count(*)::int from (
    select from chunks c
    join documents d on d.tenant_id = c.tenant_id and d.id = c.document_id and d.live_version = c.version
    where c.tenant_id = @tenant_id and d.pipeline_id = @pipeline_id and not exists (
        select from chunk_embeddings e
        where e.tenant_id = c.tenant_id and e.chunk_id = c.id and e.generation = @generation)
    limit sqlc.arg('limit')::int) pending;

-- name: ReadWords :many
-- Normalizes texts like the index of words: identifiers as a whole, words, and parts of
-- words.
select t.number, whole_words(t.body)::text[] as whole,
       word_sequence((@language::text)::regconfig, plain_words(t.body))::text[] as plain,
       word_sequence((@language::text)::regconfig, part_words(t.body))::text[] as parts
from (select unnest(@texts::text[]) as body, generate_subscripts(@texts::text[], 1) as number) t
order by t.number;

-- name: MeasureIndex :one
-- How many passages a pipeline's index of words has, and their length in words.
select coalesce(sum(b.passages), 0)::bigint as passages, coalesce(sum(b.length), 0)::bigint as length from word_blocks b
where b.tenant_id = @tenant_id and b.pipeline_id = @pipeline_id;

-- name: CountWords :many
-- How many passages hold each word.
select p.word, sum(p.passages)::bigint as passages from word_postings p
where p.tenant_id = @tenant_id and p.pipeline_id = @pipeline_id and p.word = any (@words::text[])
group by p.word;

-- name: ReadPostings :many
-- All postings of words, block by block.
select p.block, p.word, p.entries from word_postings p
where p.tenant_id = @tenant_id and p.pipeline_id = @pipeline_id and p.word = any (@words::text[])
order by p.block;

-- name: FindPassages :many
-- Passages by their documents' numbers in the index and their positions, in the given
-- order. Deleted ones are left out.
select sqlc.embed(c), d.key, d.live_title, d.live_source, d.live_metadata, given.number::int as number
from (
    select unnest(@documents::bigint[]) as document, unnest(@positions::int[]) as position, generate_subscripts(@documents::bigint[], 1) as number) given
join word_documents w on w.tenant_id = @tenant_id and w.number = given.document
join documents d on d.tenant_id = w.tenant_id and d.id = w.document_id
join chunks c on c.tenant_id = w.tenant_id and c.document_id = w.document_id and c.version = w.version and c.position = given.position
order by given.number;

-- name: FilterSearched :many
-- Those numbers in the index whose documents are searchable and match conditions.
select w.number from word_documents w
join documents d on d.tenant_id = w.tenant_id and d.id = w.document_id and d.live_version = w.version
where w.tenant_id = @tenant_id and w.number = any (@numbers::bigint[]) and d.pipeline_id = @pipeline_id
  and (@conditions::jsonb = '[]' or metadata_fulfils(d.live_metadata, @conditions::jsonb));

-- name: ListSearched :many
-- The numbers in the index of searchable documents that match conditions.
select w.number from documents d
join word_documents w on w.tenant_id = d.tenant_id and w.document_id = d.id and w.version = d.live_version
where d.tenant_id = @tenant_id and d.pipeline_id = @pipeline_id
  and (@conditions::jsonb = '[]' or metadata_fulfils(d.live_metadata, @conditions::jsonb));

-- name: NameDocuments :many
-- The document versions of numbers in the index.
select w.number, w.document_id, w.version from word_documents w
where w.tenant_id = @tenant_id and w.number = any (@numbers::bigint[]);

-- name: ScanEmbeddings :many
-- All embeddings to compare a vector to.
select e.chunk_id, e.embedding from chunk_embeddings e
join documents d on d.tenant_id = e.tenant_id and d.id = e.document_id and d.live_version = e.version
where e.tenant_id = @tenant_id and e.pipeline_id = @pipeline_id and e.generation = @generation and d.pipeline_id = @pipeline_id
  and (@conditions::jsonb = '[]' or metadata_fulfils(d.live_metadata, @conditions::jsonb));

-- name: ReadChunks :many
select sqlc.embed(c), d.key, d.live_title, d.live_source, d.live_metadata
from chunks c
join documents d on d.tenant_id = c.tenant_id and d.id = c.document_id
where c.tenant_id = @tenant_id and c.id = any (@ids::uuid[]);
