drop table run_events;
drop table messages;
drop table runs;
