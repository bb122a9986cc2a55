-- Formerly the terms of passages lay beside their keys, and had two more indexes.
alter table chunk_terms drop constraint if exists chunk_terms_pkey;
alter table chunk_terms set (toast_tuple_target = 128);
alter table chunk_terms alter column chunk_id set not null, alter column tenant_id set not null;

drop index if exists chunk_terms_document;
create index chunk_terms_document on chunk_terms (document_id, version);
