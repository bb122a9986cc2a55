-- The index of words, mended in two ways.
--
-- A word of the title or a heading that a passage holds 255 times or more had more
-- places than the byte that counts them can say, and its postings could not be read.
-- Nothing tells such postings from others but to read all of them, so every document
-- is indexed again: by the command that migrates, after the steps, ten documents at a
-- time and each in place of what was there, so that it is searched meanwhile. That
-- takes 2 to 5 ms for a passage of 150 words, up to an hour and a half for a million
-- of them. It goes on where it was stopped.
--
-- And the postings of a document go with it. They stayed until half of its block was
-- gone: words, and where they stood.

alter table word_documents add column form smallint not null default 1;
comment on column word_documents.form is 'Of the postings: 2 where they are as index_document writes them now.';

grant update on word_postings to toolcrib_app;

-- Takes the postings of a document out of a block that others share. The block is
-- locked.
create function remove_postings(of_tenant uuid, of_block bigint, of_number bigint, of_passages integer) returns void language plpgsql as $$
declare
    needle constant bytea := int8send(of_number);
    p record;
    entries bytea;
    total integer;
    at integer;
    size integer;
    entry integer;
    held integer;
    words bigint := 0;
begin
    for p in
        -- Other bytes may look like the number too, hence the walk below.
        select w.pipeline_id, w.word, w.passages, w.entries || ''::bytea as entries from word_postings w
        where w.tenant_id = of_tenant and w.block = of_block and position(needle in w.entries) > 0
    loop
        entries := p.entries;
        total := octet_length(entries);
        at := 0;
        while at < total loop
            size := (get_byte(entries, at + 8) << 24) + (get_byte(entries, at + 9) << 16) + (get_byte(entries, at + 10) << 8) + get_byte(entries, at + 11);
            exit when substring(entries from at + 1 for 8) = needle;
            at := at + 12 + size;
        end loop;
        continue when at >= total;
        held := 0;
        entry := at + 12;
        while entry + 3 < at + 12 + size loop
            held := held + 1;
            words := words + get_byte(entries, entry + 3);
            entry := entry + 4 + 2 * get_byte(entries, entry + 3);
        end loop;
        if total = 12 + size then
            delete from word_postings w
            where w.tenant_id = of_tenant and w.pipeline_id = p.pipeline_id and w.word = p.word and w.block = of_block;
        else
            update word_postings w
            set entries = substring(p.entries from 1 for at) || substring(p.entries from at + 13 + size),
                passages = greatest(p.passages - held, 1)
            where w.tenant_id = of_tenant and w.pipeline_id = p.pipeline_id and w.word = p.word and w.block = of_block;
        end if;
    end loop;
    update word_blocks b
    set passages = b.passages - of_passages, live = b.live - of_passages, length = greatest(b.length - words, 0)
    where b.tenant_id = of_tenant and b.number = of_block;
end
$$;

-- Takes a document out of the index, and its postings.
create or replace function unindex_document(of_tenant uuid, of_document uuid) returns void language plpgsql as $$
declare
    b bigint;
    gone record;
    missing boolean;
begin
    loop
        select w.block into b from word_documents w where w.tenant_id = of_tenant and w.document_id = of_document;
        exit when not found;
        -- Blocks are locked before their documents, everywhere.
        perform from word_blocks where tenant_id = of_tenant and number = b for update;
        missing := not found; -- It went with its pipeline, and its postings did.
        delete from word_documents w
        where w.tenant_id = of_tenant and w.document_id = of_document and w.block = b returning w.number, w.passages into gone;
        continue when not found; -- Its block was merged into another meanwhile.
        exit when missing;
        if exists (select from word_documents w where w.tenant_id = of_tenant and w.block = b) then
            perform remove_postings(of_tenant, b, gone.number, gone.passages);
        else
            delete from word_postings where tenant_id = of_tenant and block = b;
            delete from word_blocks where tenant_id = of_tenant and number = b;
        end if;
        exit;
    end loop;
end
$$;

-- Puts the searched version of a document into the index, as a block of its own,
-- in place of what was there. One byte counts the places of a word in a passage:
-- of more than 255 the first are kept.
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
    insert into word_documents (tenant_id, document_id, version, block, passages, form)
    values (of_tenant, of_document, d.live_version, b, d.passages, 2) returning number into n;
    title := setweight(index_words(d.language, d.live_title), 'A');
    with vectors as materialized (
        select c.position, title || setweight(index_words(d.language, array_to_string(c.headings, e'\n')), 'B') || index_words(d.language, c.text) as terms
        from chunks c
        where c.tenant_id = of_tenant and c.document_id = of_document and c.version = d.live_version
    ), measured as materialized (
        select v.position, v.terms, (select coalesce(sum(cardinality(u.positions[1:255])), 0) from unnest(v.terms) u)::integer as length from vectors v
    ), entries as (
        select u.lexeme, m.position,
            int2send(m.position::smallint) || substring(int4send(least(m.length / 8, 255) * 256 + coalesce(cardinality(u.positions[1:255]), 0)) from 3)
            || case
                when cardinality(u.positions) = 1 and u.weights[1] = 'D' then int2send(u.positions[1])
                else coalesce((
                    select string_agg(int2send((case o.weight when 'A' then -o.at when 'B' then o.at + 16384 else o.at end)::smallint), '' order by o.at)
                    from unnest(u.positions[1:255], u.weights[1:255]) o (at, weight)), '')
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

-- Keeps a pipeline's index in few blocks: small ones become one. Where another
-- transaction does so, it does nothing. Blocks with postings of what is gone,
-- which steps before this one left, stay apart: they go when the last of their
-- documents is indexed anew.
create or replace function merge_words(of_tenant uuid, of_pipeline uuid, most_blocks integer default 256, most_passages integer default 4096)
    returns void language plpgsql as $$
declare
    small constant integer := 512;
    b bigint;
    merged bigint[];
begin
    if not exists (
        select from word_blocks w where w.tenant_id = of_tenant and w.pipeline_id = of_pipeline and w.live < small and w.live = w.passages
        having count(*) >= most_blocks or sum(w.live) >= most_passages)
        or not pg_try_advisory_xact_lock(hashtextextended(of_pipeline::text, 29)) then
        return;
    end if;
    merged := array(
        select w.number from word_blocks w
        where w.tenant_id = of_tenant and w.pipeline_id = of_pipeline and w.live < small and w.live = w.passages
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

-- Indexes at most so many documents of a tenant that are searched and are in the
-- index as steps before this one wrote it, or not at all, and returns how many it
-- indexed.
create or replace function index_documents(of_tenant uuid, most integer) returns integer language plpgsql as $$
declare
    next record;
    indexed integer := 0;
begin
    for next in
        select d.id, d.pipeline_id from word_documents w
        join documents d on d.tenant_id = w.tenant_id and d.id = w.document_id
        where w.tenant_id = of_tenant and w.form < 2
        order by w.number limit most for no key update of d
    loop
        perform index_document(of_tenant, next.id);
        perform merge_words(of_tenant, next.pipeline_id);
        indexed := indexed + 1;
    end loop;
    if indexed > 0 then
        return most; -- There may be more.
    end if;
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
