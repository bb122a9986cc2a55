-- Retrieval: tenants' pipelines, the documents they were fed, and the passages
-- of those that are found by their words or by their embeddings.

-- Begins every lexeme of a tsvector's or tsquery's text with a prefix, so that
-- equal words of two pipelines are two keys of the index.
create function prefix_lexemes(prefix text, terms text) returns text language sql immutable strict parallel safe as $$
    select regexp_replace(terms, '''((?:[^'']|'''')*)''', '''' || prefix || '\1''', 'g')
$$;

-- Whether a document's metadata fulfils all of a list of conditions, each of
-- them {"field", "comparison", "values"}.
create function metadata_fulfils(metadata jsonb, conditions jsonb) returns boolean language sql immutable strict parallel safe as $$
    select not exists (
        select from jsonb_to_recordset(conditions) as c (field text, comparison text, "values" jsonb)
        where not coalesce(case c.comparison
            when 'in' then exists (select from jsonb_array_elements(c."values") v where metadata -> c.field @> v)
            when 'exists' then (metadata ? c.field) = (c."values" ->> 0)::boolean
            when 'gte' then case
                when jsonb_typeof(metadata -> c.field) <> jsonb_typeof(c."values" -> 0) then false
                when jsonb_typeof(c."values" -> 0) = 'number' then (metadata ->> c.field)::numeric >= (c."values" ->> 0)::numeric
                when jsonb_typeof(c."values" -> 0) = 'string' then (metadata ->> c.field) collate "C" >= (c."values" ->> 0) end
            when 'lte' then case
                when jsonb_typeof(metadata -> c.field) <> jsonb_typeof(c."values" -> 0) then false
                when jsonb_typeof(c."values" -> 0) = 'number' then (metadata ->> c.field)::numeric <= (c."values" ->> 0)::numeric
                when jsonb_typeof(c."values" -> 0) = 'string' then (metadata ->> c.field) collate "C" <= (c."values" ->> 0) end
            end, false))
$$;

create table pipelines (
    id              uuid not null,
    tenant_id       uuid not null references tenants on delete cascade,
    number          bigint not null generated always as identity, -- begins the lexemes of its chunks
    slug            text not null,
    name            text not null,
    description     text not null default '',
    search          text not null check (search in ('full_text', 'vector', 'hybrid')),
    language        text not null,
    max_chars       integer not null default 0,
    overlap         integer not null default 0,
    embedding       json,                       -- the model of generation
    generation      integer not null default 0, -- of the embeddings that are searched
    next_embedding  json,                       -- the model of next_generation
    next_generation integer not null default 0, -- of the embeddings that are being built
    last_generation integer not null default 0, -- no number is given twice
    disabled        boolean not null default false,
    revision        bigint not null default 1,
    created_by      text not null default '',
    created_at      timestamptz not null default now(),
    updated_at      timestamptz not null default now(),
    deleted_at      timestamptz,
    primary key (tenant_id, id),
    check ((embedding is null) = (generation = 0)),
    check ((next_embedding is null) = (next_generation = 0))
);

create unique index pipelines_slug on pipelines (tenant_id, slug) where deleted_at is null;

comment on table pipelines is 'Collections of documents, and how they are searched.';

alter table pipelines enable row level security;
alter table pipelines force row level security;

create policy tenant_isolation on pipelines
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);

grant select, insert, update on pipelines to toolcrib_app;

create table documents (
    id            uuid not null,
    tenant_id     uuid not null references tenants on delete cascade,
    pipeline_id   uuid not null,
    key           text not null,
    title         text not null default '',   -- as its owner gave it
    own_title     text not null default '',   -- as its content says, where its owner gave none
    media_type    text not null check (media_type in ('text/plain', 'text/markdown', 'text/html', 'application/pdf')),
    source        text not null default '',
    metadata      jsonb not null default '{}',
    digest        text not null,              -- of the content
    bytes         integer not null,           -- of the content
    version       bigint not null default 1,  -- counts replacements
    status        text not null default 'pending' check (status in ('pending', 'ingesting', 'ready', 'failed')),
    error         text not null default '',
    chunks        integer not null default 0, -- of version
    embedded      integer not null default 0, -- of those
    live_version  bigint not null default 0,  -- which is searched, as it was called then:
    live_title    text not null default '',
    live_source   text not null default '',
    live_metadata jsonb not null default '{}',
    created_by    text not null default '',
    created_at    timestamptz not null default now(),
    updated_at    timestamptz not null default now(),
    ready_at      timestamptz,
    primary key (tenant_id, id),
    unique (tenant_id, pipeline_id, key),
    foreign key (tenant_id, pipeline_id) references pipelines (tenant_id, id) on delete cascade
);

comment on table documents is 'What pipelines were fed.';

alter table documents enable row level security;
alter table documents force row level security;

create policy tenant_isolation on documents
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);

grant select, insert, update, delete on documents to toolcrib_app;

create table document_contents (
    tenant_id   uuid not null references tenants on delete cascade,
    document_id uuid not null,
    content     bytea not null,
    primary key (tenant_id, document_id),
    foreign key (tenant_id, document_id) references documents (tenant_id, id) on delete cascade
);

comment on table document_contents is 'What documents are made of, until they are cut into chunks.';

alter table document_contents enable row level security;
alter table document_contents force row level security;

create policy tenant_isolation on document_contents
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);

grant select, insert, update, delete on document_contents to toolcrib_app;

create table chunks (
    id          uuid not null,
    tenant_id   uuid not null references tenants on delete cascade,
    document_id uuid not null,
    version     bigint not null,
    position    integer not null,
    text        text not null,
    headings    text[] not null default '{}',
    start_at    integer not null,           -- in the extracted text, in bytes
    end_at      integer not null,
    page        integer not null default 0,
    primary key (tenant_id, id),
    unique (tenant_id, document_id, version, position),
    foreign key (tenant_id, document_id) references documents (tenant_id, id) on delete cascade
);

comment on table chunks is 'Passages of documents.';

alter table chunks enable row level security;
alter table chunks force row level security;

create policy tenant_isolation on chunks
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);

grant select, insert, delete on chunks to toolcrib_app;

create table chunk_terms (
    tenant_id   uuid not null references tenants on delete cascade,
    pipeline_id uuid not null,
    document_id uuid not null,
    version     bigint not null,
    chunk_id    uuid not null,
    terms       tsvector not null,          -- title A, headings B, text D; prefixed with the pipeline's number
    primary key (chunk_id, tenant_id),      -- an index that begins with the tenant would help no search
    foreign key (tenant_id, document_id) references documents (tenant_id, id) on delete cascade
);

-- Searches rank many rows: they are read as they lie there, not unpacked.
alter table chunk_terms set (toast_tuple_target = 8160);
alter table chunk_terms alter column terms set storage external;

create index chunk_terms_document on chunk_terms (document_id, version, tenant_id);
-- A list of what was inserted lately would be read by every search.
create index chunk_terms_terms on chunk_terms using gin (terms) with (fastupdate = off);

comment on table chunk_terms is 'Passages by their words.';

alter table chunk_terms enable row level security;
alter table chunk_terms force row level security;

-- A condition of a statement may not look into rows before the policy let them
-- pass, so that the index on the words would serve nobody. Therefore what is
-- sought is the policy's own condition: a row is seen by those who ask for its
-- words, or for nothing in particular: no lexeme is without a number.
create policy tenant_isolation on chunk_terms for select
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid
        and terms @@ coalesce(nullif(current_setting('app.terms', true), ''), '!none')::tsquery);
create policy tenant_inserts on chunk_terms for insert
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
create policy tenant_deletes on chunk_terms for delete
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);

grant select, insert, delete on chunk_terms to toolcrib_app;

create table chunk_embeddings (
    tenant_id   uuid not null references tenants on delete cascade,
    pipeline_id uuid not null,
    generation  integer not null,
    document_id uuid not null,
    version     bigint not null,
    chunk_id    uuid not null,
    embedding   bytea not null,             -- of length 1; 4 bytes a number, IEEE 754, little-endian
    primary key (tenant_id, chunk_id, generation),
    foreign key (tenant_id, document_id) references documents (tenant_id, id) on delete cascade
);

alter table chunk_embeddings alter column embedding set storage external; -- nothing in it repeats

create index chunk_embeddings_document on chunk_embeddings (tenant_id, document_id, version);
create index chunk_embeddings_generation on chunk_embeddings (tenant_id, pipeline_id, generation);

comment on table chunk_embeddings is 'Passages by their meaning.';

alter table chunk_embeddings enable row level security;
alter table chunk_embeddings force row level security;

create policy tenant_isolation on chunk_embeddings
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);

grant select, insert, delete on chunk_embeddings to toolcrib_app;
