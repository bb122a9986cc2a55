drop table tool_session_submissions;
drop table tool_sessions;
