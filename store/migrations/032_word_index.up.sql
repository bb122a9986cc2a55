-- Full text search ranks every passage that holds a word of the query: postings
-- of words, packed for many passages together, are read and scored as a whole.
-- chunk_terms stays for binaries of the version before.

-- The text with its punctuation taken out, so that what stands between is words.
create function plain_words(body text) returns text language sql immutable strict parallel safe as $$
    select translate(body, '!"#$%&()*+,-./:;<=>?@[\]^_`{|}~', repeat(' ', 31))
$$;

-- The same with words cut where their case changes or digits begin:
-- "replicationDLQV2" is "replication DLQ V 2".
create function part_words(body text) returns text language sql immutable strict parallel safe as $$
    select regexp_replace(regexp_replace(regexp_replace(plain_words(body),
        '([a-z0-9])([A-Z])', '\1 \2', 'g'), '([A-Z])([A-Z][a-z]|V[0-9])', '\1 \2', 'g'),
        '([A-Za-z])([0-9])|([0-9])([a-z])', '\1\3 \2\4', 'g')
$$;

-- What a text is indexed by, in order: its words, followed by the parts of those
-- that have some. Only these are looked at for parts, which takes long.
create function split_words(body text) returns text language sql immutable strict parallel safe as $$
    select plain_words(body) || coalesce((
        select e'\n' || part_words(string_agg(found.word[1], ' '))
        from regexp_matches(body, '[A-Za-z0-9]*(?:[a-z][A-Z]|[A-Z]{2}[a-z]|[0-9][A-Za-z]|[A-Za-z][0-9])[A-Za-z0-9]*', 'g') found (word)
        where length(found.word[1]) <= 128), '')
$$;

-- The identifiers of a text that punctuation holds together, whole and in lower
-- case: "SO-1007", "snake_case", "history.retry".
create function whole_words(body text) returns text[] language sql immutable strict parallel safe as $$
    select coalesce(array_agg(distinct lower(found.word[1]) collate "C"), '{}')
    from unnest(array['[A-Za-z0-9_]+(?:[-.:/@#]+[A-Za-z0-9_]+)+', '[A-Za-z0-9]+(?:[-_]+[A-Za-z0-9]+)+']) pattern,
         regexp_matches(body, pattern, 'g') found (word)
    where length(found.word[1]) <= 128
$$;

-- What a text is found by. Whole identifiers have no place in it.
create function index_words(language regconfig, body text) returns tsvector language sql immutable strict parallel safe as $$
    select to_tsvector(language, split_words(body)) || array_to_tsvector(whole_words(body))
$$;

-- A text's words as a language reduces them, each with its place before it: "3 retri".
create function word_sequence(language regconfig, words text) returns text[] language sql immutable strict parallel safe as $$
    select coalesce(array_agg(place || ' ' || u.lexeme order by place), '{}')
    from unnest(to_tsvector(language, words)) u, unnest(u.positions) place
$$;

-- The same as before, ten times as fast.
create or replace function metadata_fulfils(metadata jsonb, conditions jsonb) returns boolean language plpgsql immutable strict parallel safe as $$
declare
    c jsonb;
    have jsonb;
    wanted jsonb;
    holds boolean;
begin
    for i in 0 .. jsonb_array_length(conditions) - 1 loop
        c := conditions -> i;
        have := metadata -> (c ->> 'field');
        wanted := c -> 'values' -> 0;
        holds := false;
        case c ->> 'comparison'
            when 'in' then
                for j in 0 .. jsonb_array_length(c -> 'values') - 1 loop
                    holds := coalesce(have @> (c -> 'values' -> j), false);
                    exit when holds;
                end loop;
            when 'exists' then
                holds := (have is not null) = wanted::boolean;
            when 'gte' then
                if jsonb_typeof(have) = 'number' and jsonb_typeof(wanted) = 'number' then
                    holds := have::numeric >= wanted::numeric;
                elsif jsonb_typeof(have) = 'string' and jsonb_typeof(wanted) = 'string' then
                    holds := (have #>> '{}') collate "C" >= (wanted #>> '{}');
                end if;
            when 'lte' then
                if jsonb_typeof(have) = 'number' and jsonb_typeof(wanted) = 'number' then
                    holds := have::numeric <= wanted::numeric;
                elsif jsonb_typeof(have) = 'string' and jsonb_typeof(wanted) = 'string' then
                    holds := (have #>> '{}') collate "C" <= (wanted #>> '{}');
                end if;
            else -- It is unknown, and holds for nothing.
        end case;
        if holds is not true then
            return false;
        end if;
    end loop;
    return true;
end
$$;

create table word_blocks (
    tenant_id   uuid not null references tenants on delete cascade,
    pipeline_id uuid not null,
    number      bigint not null generated always as identity,
    passages    integer not null, -- that its postings are of
    live        integer not null, -- of those, in documents that are there still
    length      bigint not null,  -- of all passages together, in words
    primary key (tenant_id, number),
    foreign key (tenant_id, pipeline_id) references pipelines (tenant_id, id) on delete cascade
);

create index word_blocks_pipeline on word_blocks (tenant_id, pipeline_id);

comment on table word_blocks is 'Parts of the index of words: the passages of some documents.';

create table word_documents (
    tenant_id   uuid not null references tenants on delete cascade,
    number      bigint not null generated always as identity, -- names it in postings
    document_id uuid not null,
    version     bigint not null,
    block       bigint not null,
    passages    integer not null,
    primary key (tenant_id, number),
    unique (tenant_id, document_id),
    foreign key (tenant_id, block) references word_blocks (tenant_id, number) on delete cascade
);

create index word_documents_block on word_documents (tenant_id, block);

comment on table word_documents is 'The version of each document that is in the index of words.';

create table word_postings (
    tenant_id   uuid not null references tenants on delete cascade,
    pipeline_id uuid not null,
    word        text collate "C" not null,
    block       bigint not null,
    passages    integer not null,
    -- By document: its number (8 bytes), how many bytes follow (4), and of each
    -- passage its position (2), its length in 8 words (1), how many times it holds
    -- the word (1), and where (2 each): negative in the title, from 16384 on in
    -- headings. All of them big-endian.
    entries     bytea not null,
    primary key (tenant_id, pipeline_id, word, block)
);

-- No reference to word_blocks is checked: that took as long as all the rest.

alter table word_postings alter column entries set storage external; -- It is read as a whole, and quickly.

create index word_postings_block on word_postings (tenant_id, block);

comment on table word_postings is 'Which passages hold a word, and where.';

alter table word_blocks enable row level security;
alter table word_blocks force row level security;
alter table word_documents enable row level security;
alter table word_documents force row level security;
alter table word_postings enable row level security;
alter table word_postings force row level security;

create policy tenant_isolation on word_blocks
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
create policy tenant_isolation on word_documents
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
create policy tenant_isolation on word_postings
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);

grant select, insert, update, delete on word_blocks, word_documents to toolcrib_app;
grant select, insert, delete on word_postings to toolcrib_app;

-- Takes a document out of the index. The postings of a block go when none of its
-- documents is left.
create function unindex_document(of_tenant uuid, of_document uuid) returns void language plpgsql as $$
declare
    b bigint;
    n integer;
begin
    loop
        select w.block into b from word_documents w where w.tenant_id = of_tenant and w.document_id = of_document;
        exit when not found;
        -- Blocks are locked before their documents, everywhere.
        perform from word_blocks where tenant_id = of_tenant and number = b for update;
        delete from word_documents w
        where w.tenant_id = of_tenant and w.document_id = of_document and w.block = b returning w.passages into n;
        continue when not found; -- Its block was merged into another meanwhile.
        update word_blocks set live = live - n where tenant_id = of_tenant and number = b and live > n;
        if not found then
            delete from word_postings where tenant_id = of_tenant and block = b;
            delete from word_blocks where tenant_id = of_tenant and number = b;
        end if;
        exit;
    end loop;
end
$$;

-- Puts the searched version of a document into the index, as a block of its own,
-- in place of what was there.
create function index_document(of_tenant uuid, of_document uuid) returns void language plpgsql as $$
declare
    d record;
    b bigint;
    n bigint;
    title tsvector;
begin
    perform unindex_document(of_tenant, of_document);
    select x.pipeline_id, x.live_version, x.live_title, p.language::regconfig as language,
           (select count(*)::integer from chunks c where c.tenant_id = of_tenant and c.document_id = x.id and c.version = x.live_version) as passages
    into d
    from documents x join pipelines p on p.tenant_id = x.tenant_id and p.id = x.pipeline_id
    where x.tenant_id = of_tenant and x.id = of_document;
    if not found or d.passages = 0 then
        return;
    end if;
    insert into word_blocks (tenant_id, pipeline_id, passages, live, length)
    values (of_tenant, d.pipeline_id, d.passages, d.passages, 0) returning number into b;
    insert into word_documents (tenant_id, document_id, version, block, passages)
    values (of_tenant, of_document, d.live_version, b, d.passages) returning number into n;
    title := setweight(index_words(d.language, d.live_title), 'A');
    with vectors as materialized (
        select c.position, title || setweight(index_words(d.language, array_to_string(c.headings, e'\n')), 'B') || index_words(d.language, c.text) as terms
        from chunks c
        where c.tenant_id = of_tenant and c.document_id = of_document and c.version = d.live_version
    ), measured as materialized (
        select v.position, v.terms, (select coalesce(sum(cardinality(u.positions)), 0) from unnest(v.terms) u)::integer as length from vectors v
    ), entries as (
        select u.lexeme, m.position,
            int2send(m.position::smallint) || substring(int4send(least(m.length / 8, 255) * 256 + coalesce(cardinality(u.positions), 0)) from 3)
            || case
                when cardinality(u.positions) = 1 and u.weights[1] = 'D' then int2send(u.positions[1])
                else coalesce((
                    select string_agg(int2send((case o.weight when 'A' then -o.at when 'B' then o.at + 16384 else o.at end)::smallint), '' order by o.at)
                    from unnest(u.positions, u.weights) o (at, weight)), '')
            end as entry
        from measured m, unnest(m.terms) u
    ), packed as (
        select e.lexeme, count(*)::integer as passages, string_agg(e.entry, '' order by e.position) as entries from entries e group by e.lexeme
    ), kept as (
        insert into word_postings (tenant_id, pipeline_id, word, block, passages, entries)
        select of_tenant, d.pipeline_id, p.lexeme, b, p.passages, int8send(n) || int4send(octet_length(p.entries)) || p.entries from packed p
    )
    update word_blocks set length = (select sum(m.length) from measured m) where tenant_id = of_tenant and number = b;
end
$$;

-- Keeps a pipeline's index in few blocks: documents whose block has lost half of
-- its passages are indexed anew, which drops the postings of those, and small
-- blocks become one. Where another transaction does so, it does nothing.
create function merge_words(of_tenant uuid, of_pipeline uuid, most_blocks integer default 256, most_passages integer default 4096)
    returns void language plpgsql as $$
declare
    small constant integer := 512;
    b bigint;
    merged bigint[];
    stale uuid;
begin
    if not exists (
        select from word_blocks w where w.tenant_id = of_tenant and w.pipeline_id = of_pipeline
        having count(*) filter (where w.live < small) >= most_blocks or sum(w.live) filter (where w.live < small) >= most_passages
            or bool_or(w.live * 2 < w.passages))
        or not pg_try_advisory_xact_lock(hashtextextended(of_pipeline::text, 29)) then
        return;
    end if;
    -- A document that is being changed leaves its block by itself.
    for stale in
        select d.id from documents d
        where d.tenant_id = of_tenant and d.id in (
            select m.document_id from word_blocks w join word_documents m on m.tenant_id = w.tenant_id and m.block = w.number
            where w.tenant_id = of_tenant and w.pipeline_id = of_pipeline and w.live * 2 < w.passages)
        for no key update skip locked
    loop
        perform index_document(of_tenant, stale);
    end loop;
    merged := array(
        select w.number from word_blocks w
        where w.tenant_id = of_tenant and w.pipeline_id = of_pipeline and w.live < small
        order by w.number for update skip locked);
    if cardinality(merged) < 2 or cardinality(merged) < most_blocks and most_passages > (
        select sum(w.live) from word_blocks w where w.tenant_id = of_tenant and w.number = any (merged)) then
        return;
    end if;
    insert into word_blocks (tenant_id, pipeline_id, passages, live, length)
    select of_tenant, of_pipeline, sum(w.passages), sum(w.live), sum(w.length) from word_blocks w
    where w.tenant_id = of_tenant and w.number = any (merged)
    returning number into b;
    insert into word_postings (tenant_id, pipeline_id, word, block, passages, entries)
    select of_tenant, of_pipeline, p.word, b, sum(p.passages), string_agg(p.entries, '' order by p.block) from word_postings p
    where p.tenant_id = of_tenant and p.block = any (merged) group by p.word;
    update word_documents set block = b where tenant_id = of_tenant and block = any (merged);
    delete from word_postings where tenant_id = of_tenant and block = any (merged);
    delete from word_blocks where tenant_id = of_tenant and number = any (merged);
end
$$;

create function keep_words() returns trigger language plpgsql as $$
begin
    if tg_op = 'DELETE' then
        perform unindex_document(old.tenant_id, old.id);
    else
        perform index_document(new.tenant_id, new.id);
    end if;
    perform merge_words(old.tenant_id, old.pipeline_id);
    return null;
end
$$;

create trigger documents_words after update of live_version on documents
    for each row when (new.live_version <> old.live_version) execute function keep_words();
create trigger documents_words_gone after delete on documents
    for each row when (old.live_version > 0) execute function keep_words();

-- Indexes at most so many documents of a tenant that are searched and are not in
-- the index yet, and returns how many it indexed.
create function index_documents(of_tenant uuid, most integer) returns integer language plpgsql as $$
declare
    next record;
    indexed integer := 0;
begin
    for next in
        select d.id, d.pipeline_id from documents d
        where d.tenant_id = of_tenant and d.live_version > 0 and not exists (
            select from word_documents w where w.tenant_id = of_tenant and w.document_id = d.id)
          and exists (select from chunks c where c.tenant_id = of_tenant and c.document_id = d.id and c.version = d.live_version)
        limit most for no key update of d
    loop
        perform index_document(of_tenant, next.id);
        perform merge_words(of_tenant, next.pipeline_id);
        indexed := indexed + 1;
    end loop;
    return indexed;
end
$$;

create table document_texts (
    tenant_id   uuid not null references tenants on delete cascade,
    document_id uuid not null,
    version     bigint not null,
    text        text not null, -- as extracted: chunks.start_at and end_at are offsets into it
    primary key (tenant_id, document_id, version),
    foreign key (tenant_id, document_id) references documents (tenant_id, id) on delete cascade
);

comment on table document_texts is 'What documents say: the text that their passages were cut of.';

alter table document_texts enable row level security;
alter table document_texts force row level security;

create policy tenant_isolation on document_texts
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);

grant select, insert, delete on document_texts to toolcrib_app;

-- Why the last generation of embeddings that was begun was given up.
alter table pipelines add column embedding_error text not null default '';
