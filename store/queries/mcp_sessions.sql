-- name: LoadMCPSession :one
-- Extends the session while it is used.
with used as (
    update mcp_sessions u set expires_at = now() + make_interval(secs => @keep_s::float8)
    where u.tenant_id = @tenant_id and u.run_id = @run_id and u.server_key = @server_key
      and u.expires_at > now() and u.expires_at < now() + make_interval(secs => @keep_s::float8) / 2
)
select s.session_id, s.protocol, s.handshake, s.server, s.created_at
from mcp_sessions s
where s.tenant_id = @tenant_id and s.run_id = @run_id and s.server_key = @server_key and s.expires_at > now();

-- name: SaveMCPSession :one
-- Stores a session unless there is one that has not expired, and returns the stored one.
-- No row is returned when another transaction wrote it meanwhile.
with kept as (
    insert into mcp_sessions as k (tenant_id, run_id, server_key, session_id, protocol, handshake, server, expires_at)
    values (@tenant_id, @run_id, @server_key, @session_id, @protocol, @handshake, @server, now() + make_interval(secs => @keep_s::float8))
    on conflict (tenant_id, run_id, server_key) do update
        set session_id = excluded.session_id,
            protocol   = excluded.protocol,
            handshake  = excluded.handshake,
            server     = excluded.server,
            created_at = now(),
            expires_at = excluded.expires_at
        where k.expires_at <= now()
    returning k.session_id, k.protocol, k.handshake, k.server, k.created_at
)
select k.session_id, k.protocol, k.handshake, k.server, k.created_at from kept k
union all
select s.session_id, s.protocol, s.handshake, s.server, s.created_at
from mcp_sessions s
where s.tenant_id = @tenant_id and s.run_id = @run_id and s.server_key = @server_key and s.expires_at > now()
  and not exists (select from kept);

-- name: DropMCPSession :exec
-- Expires the session, so that the next one replaces it.
update mcp_sessions set expires_at = now()
where tenant_id = @tenant_id and run_id = @run_id and server_key = @server_key
  and session_id = @session_id and protocol = @protocol;

-- name: TakeExpiredMCPSessions :many
select t.tenant_id::uuid as tenant_id, t.session_id::text as session_id, t.protocol::text as protocol, t.server::json as server
from take_expired_mcp_sessions(@most::int) t;
