-- The sessions with MCP servers of a run expire with it, whatever ends it; a sweep then ends them at
-- their servers.
create function expire_run_sessions() returns trigger language plpgsql as $$
begin
    update mcp_sessions s set expires_at = now()
    where s.tenant_id = new.tenant_id and s.run_id = new.id and s.expires_at > now();
    return null;
end
$$;

do $$
begin
    execute format('alter function expire_run_sessions() set search_path = %I, pg_temp', current_schema());
end
$$;

create trigger runs_end_sessions
    after update of status on runs
    for each row
    when (new.status in ('completed', 'failed', 'cancelled'))
    execute function expire_run_sessions();
