-- name: CreateKey :one
-- The creating key is locked until the new key is written, so that a revocation finds
-- the new key.
with maker as (
    select m.id from api_keys m
    where m.tenant_id = @tenant_id and m.id = sqlc.narg('maker_id')::uuid and m.revoked_at is null
    for share
)
insert into api_keys (id, tenant_id, name, secret_hash, permissions, scopes, roles, owner, requests_per_second, burst,
    bytes_per_minute, created_by, expires_at, toolset_id)
select @id, @tenant_id, @name, @secret_hash, @permissions, @scopes, @roles, @owner,
    sqlc.narg('requests_per_second')::int, sqlc.narg('burst')::int, sqlc.narg('bytes_per_minute')::bigint,
    @created_by, @expires_at, sqlc.narg('toolset_id')
where sqlc.narg('maker_id')::uuid is null or exists (select from maker)
returning *;

-- name: LockToolset :one
-- The toolset that a key is made for, which is not deleted meanwhile.
select s.id, s.slug from toolsets s where s.tenant_id = @tenant_id and s.slug = @slug for share;

-- name: ListKeys :many
select sqlc.embed(k), coalesce(s.slug, '')::text as toolset
from api_keys k
left join toolsets s on s.tenant_id = @tenant_id and s.id = k.toolset_id
where k.tenant_id = @tenant_id order by k.id;

-- name: FindKey :one
select sqlc.embed(k), coalesce(s.slug, '')::text as toolset
from api_keys k
left join toolsets s on s.tenant_id = @tenant_id and s.id = k.toolset_id
where k.tenant_id = @tenant_id and k.id = @id;

-- name: LockKeysShared :exec
-- Keys may be created while this is held, and none is revoked.
select pg_advisory_xact_lock_shared(hashtextextended('api_keys of ' || @tenant_id::text, 0));

-- name: LockKeys :exec
-- No key is created while this is held.
select pg_advisory_xact_lock(hashtextextended('api_keys of ' || @tenant_id::text, 0));

-- name: RevokeKey :one
update api_keys set revoked_at = coalesce(revoked_at, now())
where tenant_id = @tenant_id and id = @id
returning *;

-- name: RevokeMadeKeys :execrows
-- Revokes the keys that a key created, recursively.
with recursive made as (
    select c.id from api_keys c where c.tenant_id = @tenant_id and c.created_by = 'key:' || @id::text
    union
    select c.id from api_keys c join made m on c.created_by = 'key:' || m.id::text where c.tenant_id = @tenant_id
)
update api_keys a set revoked_at = now()
where a.tenant_id = @tenant_id and a.revoked_at is null and a.id in (select made.id from made);

-- name: UseKey :one
-- Reads a key with its tenant and what its roles permit, and records its use when the secret is
-- right, at most once a minute. Where it has a limit, requests are taken from its bucket.
with used as (
    update api_keys u set last_used_at = now()
    where u.tenant_id = @tenant_id and u.id = @id and u.secret_hash = @secret_hash
      and u.revoked_at is null and (u.expires_at is null or u.expires_at > now())
      and (u.last_used_at is null or u.last_used_at < now() - interval '1 minute')
)
select sqlc.embed(k), n.status as tenant_status, (k.expires_at is not null and k.expires_at <= now())::boolean as expired,
       coalesce(s.slug, '')::text as toolset,
    (case when k.roles = '{}' then '{}' else permissions_of_roles(@tenant_id, k.roles) end)::text[] as role_permissions,
    (case
        when @take::boolean and k.secret_hash = @secret_hash and k.revoked_at is null
            and (k.expires_at is null or k.expires_at > now()) and n.status = 'active'
            and (coalesce(k.requests_per_second, @rate::int) > 0 or coalesce(k.bytes_per_minute, @bytes_per_minute::bigint) > 0)
        then take_requests(@tenant_id, 'key:' || k.id::text, coalesce(k.requests_per_second, @rate::int),
            coalesce(k.burst, k.requests_per_second, @burst::int), coalesce(k.bytes_per_minute, @bytes_per_minute::bigint),
            @unused::float8, @bytes::float8)
        else '{}' end)::float8[] as taken
from api_keys k
join tenants n on n.id = k.tenant_id
left join toolsets s on s.tenant_id = @tenant_id and s.id = k.toolset_id
where k.tenant_id = @tenant_id and k.id = @id;
