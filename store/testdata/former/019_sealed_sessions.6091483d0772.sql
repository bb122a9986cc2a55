-- The ids of sessions with MCP servers are encrypted from now on. What is there
-- in plain goes: a call that finds no session begins one.

truncate mcp_sessions;

comment on column mcp_sessions.session_id is 'Encrypted by the data key of the tenant; empty for servers without sessions.';
