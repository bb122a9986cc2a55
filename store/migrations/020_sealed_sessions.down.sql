truncate mcp_sessions;

comment on column mcp_sessions.session_id is null;
