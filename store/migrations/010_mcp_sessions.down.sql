drop function take_expired_mcp_sessions(integer);
drop table mcp_sessions;
