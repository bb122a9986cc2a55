-- What was agreed with MCP servers, so that a run goes on with a session on
-- whatever worker. The id of a session is a secret: who has it speaks for the run.

create table mcp_sessions (
    tenant_id  uuid not null,
    run_id     uuid not null,
    server_key text not null check (server_key ~ '^[0-9a-f]{64}$'), -- digest of the server as it is configured
    session_id text not null, -- empty for servers without sessions
    protocol   text not null, -- the negotiated version
    handshake  json not null, -- what the server answered then
    server     json not null, -- where it is, without any secret, for ending the session
    created_at timestamptz not null default now(),
    expires_at timestamptz not null, -- put off while it is used
    primary key (tenant_id, run_id, server_key),
    foreign key (tenant_id, run_id) references runs (tenant_id, id) on delete cascade
);

create index mcp_sessions_expired on mcp_sessions (expires_at);

comment on table mcp_sessions is 'Sessions with MCP servers, of one run each; ended when nobody has used them for an hour.';

alter table mcp_sessions enable row level security;
alter table mcp_sessions force row level security;

create policy tenant_isolation on mcp_sessions
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
create policy expired_read on mcp_sessions for select to toolcrib_owner using (expires_at <= now());
create policy expired_delete on mcp_sessions for delete to toolcrib_owner using (expires_at <= now());

grant select, insert, update on mcp_sessions to toolcrib_app;

-- Deletes so many sessions at most whose time is over, whosever they are, and
-- returns them, for ending them at their servers.
create function take_expired_mcp_sessions(most integer)
    returns table (tenant_id uuid, session_id text, protocol text, server json)
    language sql security definer as $$
    delete from mcp_sessions s where s.expires_at <= now() and s.ctid = any (array(
        select e.ctid from mcp_sessions e where e.expires_at <= now() order by e.expires_at limit most))
    returning s.tenant_id, s.session_id, s.protocol, s.server;
$$;

do $$
begin
    execute format('alter function take_expired_mcp_sessions(integer) set search_path = %I, pg_temp', current_schema());
end
$$;

revoke all on function take_expired_mcp_sessions(integer) from public;
grant execute on function take_expired_mcp_sessions(integer) to toolcrib_app, toolcrib_maintenance;
