-- What a model is shown of a result, as it was limited when the call was offered; null for calls of before.
alter table pending_tool_calls add column inline_bytes integer;

-- Whether an administrator said that the results of a server do not taint runs.
alter table mcp_servers add column trusted boolean not null default false;
