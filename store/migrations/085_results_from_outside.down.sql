alter table mcp_servers drop column if exists trusted;
alter table pending_tool_calls drop column if exists inline_bytes;
