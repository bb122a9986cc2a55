-- Takes a document out of the index. The postings of a block go when none of its
-- documents is left.
create or replace function unindex_document(of_tenant uuid, of_document uuid) returns void language plpgsql as $$
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
create or replace function index_document(of_tenant uuid, of_document uuid) returns void language plpgsql as $$
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
create or replace function merge_words(of_tenant uuid, of_pipeline uuid, most_blocks integer default 256, most_passages integer default 4096)
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

-- Indexes at most so many documents of a tenant that are searched and are not in
-- the index yet, and returns how many it indexed.
create or replace function index_documents(of_tenant uuid, most integer) returns integer language plpgsql as $$
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

drop function remove_postings(uuid, bigint, bigint, integer);
alter table word_documents drop column form;
revoke update on word_postings from toolcrib_app;
