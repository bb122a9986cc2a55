drop function queue_depths(integer);
drop policy waiting_read on pending_tool_calls;
drop policy open_read on runs;
alter table tenants drop column max_unfinished_runs;
