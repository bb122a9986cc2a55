drop table chunk_embeddings;
drop table chunk_terms;
drop table chunks;
drop table document_contents;
drop table documents;
drop table pipelines;
drop function metadata_fulfils(jsonb, jsonb);
drop function prefix_lexemes(text, text);
