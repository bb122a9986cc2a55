drop function end_web_sessions(bytea);
drop function move_web_sessions(bytea, bytea);
drop function web_session_tenants(bytea);
drop table web_sessions;
