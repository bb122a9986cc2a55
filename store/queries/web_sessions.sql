-- name: BeginWebSession :exec
-- Signs a browser in to a tenant. Sessions of the tenant that have ended go.
with gone as (
    delete from web_sessions g
    where g.tenant_id = @tenant_id and g.token_hash <> @token_hash and (g.idle_ends_at <= now() or g.ends_at <= now())
)
insert into web_sessions as w (tenant_id, token_hash, key_id, subject, roles, idle_ends_at, ends_at)
values (@tenant_id, @token_hash, sqlc.narg('key_id')::uuid, sqlc.narg('subject')::text, @roles,
    now() + make_interval(secs => @idle_seconds::float8), now() + make_interval(secs => @longest_seconds::float8))
on conflict (token_hash, tenant_id) do update set key_id = excluded.key_id, subject = excluded.subject,
    roles = excluded.roles, created_at = now(), last_used_at = now(), idle_ends_at = excluded.idle_ends_at,
    ends_at = excluded.ends_at;

-- name: UseWebSession :one
-- Reads the session of a browser with the digest of its key's secret, and records its use, at most
-- once a minute.
with used as (
    update web_sessions u set last_used_at = now(), idle_ends_at = now() + make_interval(secs => @idle_seconds::float8)
    where u.tenant_id = @tenant_id and u.token_hash = @token_hash and u.idle_ends_at > now() and u.ends_at > now()
      and u.last_used_at < now() - interval '1 minute'
)
select w.key_id, w.subject, w.roles, k.secret_hash
from web_sessions w
left join api_keys k on k.tenant_id = @tenant_id and k.id = w.key_id
where w.tenant_id = @tenant_id and w.token_hash = @token_hash and w.idle_ends_at > now() and w.ends_at > now();

-- name: MoveWebSessions :exec
select move_web_sessions(@from_hash::bytea, @to_hash::bytea);

-- name: WebSessionTenants :one
select web_session_tenants(@token_hash::bytea);

-- name: EndWebSessions :exec
select end_web_sessions(@token_hash::bytea);
