-- migrate: online
-- What the reconciler looks for, in the order of its pages. No index holds a
-- column that changes between a row's first state and its end, so that what
-- happens in between updates rows in place.
create index concurrently if not exists runs_open on runs (tenant_id, id) where completed_at is null;

create index concurrently if not exists documents_open on documents (tenant_id, id) where status in ('pending', 'ingesting');

create index concurrently if not exists pipelines_building on pipelines (tenant_id, id) where next_generation <> 0;
