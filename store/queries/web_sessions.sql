-- name: BeginWebSession :exec
-- Signs a browser in to a tenant. Sessions of the tenant that have ended go, and one that the browser had.
with gone as (
    delete from web_sessions g
    where g.tenant_id = @tenant_id and g.token_hash <> @token_hash and (g.idle_ends_at <= now() or g.ends_at <= now())
)
insert into web_sessions (tenant_id, token_hash, id, key_id, subject, roles, browser, idle_ends_at, ends_at)
values (@tenant_id, @token_hash, @id, sqlc.narg('key_id')::uuid, sqlc.narg('subject')::text, @roles, @browser,
    now() + make_interval(secs => @idle_seconds::float8), now() + make_interval(secs => @longest_seconds::float8));

-- name: LeaveWebSession :exec
-- Ends the session of a browser with a tenant.
delete from web_sessions w where w.tenant_id = @tenant_id and w.token_hash = @token_hash;

-- name: ListWebSessions :many
-- Sessions of a tenant that last, of one subject or of all, newest first.
select w.id, coalesce(w.subject, 'key:' || w.key_id::text)::text as of_subject, w.browser, w.created_at, w.last_used_at,
    least(w.idle_ends_at, w.ends_at)::timestamptz as until, (w.token_hash = @current::bytea)::boolean as current
from web_sessions w
left join api_keys k on k.tenant_id = @tenant_id and k.id = w.key_id
where w.tenant_id = @tenant_id and w.idle_ends_at > now() and w.ends_at > now()
  and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())
  and (@subject::text = '' or coalesce(w.subject, 'key:' || w.key_id::text) = @subject)
  and (sqlc.narg('before')::uuid is null or w.id < sqlc.narg('before')::uuid)
order by w.id desc
limit @max;

-- name: EndWebSession :one
-- Ends a session of a tenant, of one subject or of any, and returns the digest of its browser's secret.
delete from web_sessions w
where w.tenant_id = @tenant_id and w.id = @id
  and (@subject::text = '' or coalesce(w.subject, 'key:' || w.key_id::text) = @subject)
returning w.token_hash;

-- name: EndOtherWebSessions :many
-- Ends the sessions of a subject but that of one browser.
delete from web_sessions w
where w.tenant_id = @tenant_id and coalesce(w.subject, 'key:' || w.key_id::text) = @subject::text
  and w.token_hash <> @current::bytea
returning w.token_hash;

-- name: EndKeySessions :exec
-- Ends the sessions that began with keys that are revoked.
delete from web_sessions w using api_keys k
where w.tenant_id = @tenant_id and k.tenant_id = @tenant_id and k.id = w.key_id and k.revoked_at is not null;

-- name: UseWebSession :one
-- Reads the session of a browser with the digest of its key's secret, and records its use by a person, at
-- most once a minute.
with used as (
    update web_sessions u set last_used_at = now(), idle_ends_at = now() + make_interval(secs => @idle_seconds::float8)
    where @attended::boolean
      and u.tenant_id = @tenant_id and u.token_hash = @token_hash and u.idle_ends_at > now() and u.ends_at > now()
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
