create index run_events_stream on run_events (tenant_id, xid, id);
drop index run_events_order;
