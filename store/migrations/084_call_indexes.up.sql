-- migrate: online
-- The failed calls of an agent. The status itself is in no index, so that a turn updates its rows in
-- place; calls that completed are most, and those that have not ended are found by their effects.
create index concurrently tool_invocations_agent_failed on tool_invocations (tenant_id, agent_id, failed_status, id desc)
    where agent_id is not null and failed_status is not null;

-- The calls of a tool, with their version: what runs a canary of a busy tool is found without reading the rows of other calls.
create index concurrently tool_invocations_tool_version on tool_invocations (tenant_id, tool_id, id desc, version)
    where tool_id is not null;
drop index if exists tool_invocations_tool;
