-- name: CreateKey :one
insert into api_keys (id, tenant_id, name, secret_hash, permissions, scopes, created_by, expires_at)
values (@id, @tenant_id, @name, @secret_hash, @permissions, @scopes, @created_by, @expires_at)
returning *;

-- name: ListKeys :many
select * from api_keys where tenant_id = @tenant_id order by id;

-- name: RevokeKey :one
update api_keys set revoked_at = coalesce(revoked_at, now())
where tenant_id = @tenant_id and id = @id
returning *;

-- name: UseKey :one
-- Reads a key with its tenant, and notes its use when the secret is right, at
-- most once a minute.
with used as (
    update api_keys u set last_used_at = now()
    where u.tenant_id = @tenant_id and u.id = @id and u.secret_hash = @secret_hash
      and u.revoked_at is null and (u.expires_at is null or u.expires_at > now())
      and (u.last_used_at is null or u.last_used_at < now() - interval '1 minute')
)
select sqlc.embed(k), n.status as tenant_status, (k.expires_at is not null and k.expires_at <= now())::boolean as expired
from api_keys k
join tenants n on n.id = k.tenant_id
where k.tenant_id = @tenant_id and k.id = @id;
