-- Tests of tools are recorded as runs of a kind of their own.

alter table runs drop constraint runs_kind_check;
alter table runs add constraint runs_kind_check check (kind in ('agent', 'tool_call', 'tool_test', 'host'));
