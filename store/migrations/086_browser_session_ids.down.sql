drop index if exists web_sessions_id;
