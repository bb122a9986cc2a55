-- migrate: online
-- Sealing reads a tenant's events in the order of their ids. The index on
-- transaction ids served the cursors before; no query needs it now.
create index concurrently run_events_order on run_events (tenant_id, id);

drop index concurrently if exists run_events_stream;
