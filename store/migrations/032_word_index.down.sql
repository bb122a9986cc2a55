alter table pipelines drop column embedding_error;
drop table document_texts;
drop trigger documents_words on documents;
drop trigger documents_words_gone on documents;
drop function index_documents(uuid, integer);
drop function keep_words();
drop function merge_words(uuid, uuid, integer, integer);
drop function index_document(uuid, uuid);
drop function unindex_document(uuid, uuid);
drop table word_postings, word_documents, word_blocks;
drop function word_sequence(regconfig, text);
drop function index_words(regconfig, text);
drop function whole_words(text);
drop function split_words(text);
drop function part_words(text);
drop function plain_words(text);

create or replace function metadata_fulfils(metadata jsonb, conditions jsonb) returns boolean language sql immutable strict parallel safe as $$
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
