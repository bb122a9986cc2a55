-- The checks mean what they meant.
create index if not exists tool_invocations_status on tool_invocations (tenant_id, status, id desc);
drop index if exists effects_open;
drop index if exists tool_invocations_failed_status;
