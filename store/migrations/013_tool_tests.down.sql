update runs set kind = 'tool_call' where kind = 'tool_test';
alter table runs drop constraint runs_kind_check;
alter table runs add constraint runs_kind_check check (kind in ('agent', 'tool_call', 'host'));
