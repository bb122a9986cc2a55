create index if not exists tool_invocations_tool on tool_invocations (tenant_id, tool_id, id desc) where tool_id is not null;
drop index if exists tool_invocations_tool_version;
drop index if exists tool_invocations_agent_failed;
