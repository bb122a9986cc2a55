drop trigger run_events_seals on run_events;
drop function drop_event_seals();
drop function seal_events(uuid, integer);
drop table event_seals;
drop table tenant_event_heads;
