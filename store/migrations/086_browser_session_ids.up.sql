-- migrate: online
-- A session of a browser is found by its id, and no two of a tenant have the same.
create unique index concurrently web_sessions_id on web_sessions (tenant_id, id);

alter table web_sessions validate constraint web_sessions_browser_check;
