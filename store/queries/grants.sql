-- name: AddGrant :one
insert into approval_grants (tenant_id, id, tool, version, agent, requester, condition, uses, reason, created_by, expires_at)
values (@tenant_id, @id, @tool, @version, @agent, @requester, @condition, @uses, @reason, @created_by,
    now() + make_interval(secs => @expires_s::float8))
returning *;

-- name: FindGrant :one
select sqlc.embed(g), (g.expires_at <= now())::boolean as overdue from approval_grants g
where g.tenant_id = @tenant_id and g.id = @id;

-- name: ListGrants :many
-- The newest first. Those that may be used are neither revoked, expired nor used up.
select sqlc.embed(g), (g.expires_at <= now())::boolean as overdue from approval_grants g
where g.tenant_id = @tenant_id
  and (sqlc.narg('before')::uuid is null or g.id < sqlc.narg('before'))
  and (@tool::text = '' or g.tool = @tool)
  and (not @live::boolean or g.revoked_at is null and g.expires_at > now() and g.used < g.uses)
order by g.id desc
limit sqlc.arg('limit')::int;

-- name: RevokeGrant :execrows
update approval_grants g set revoked_at = now(), revoked_by = @revoked_by
where g.tenant_id = @tenant_id and g.id = @id and g.revoked_at is null;

-- name: TakeGrant :execrows
-- Takes one use of a grant that may be used.
update approval_grants g set used = g.used + 1
where g.tenant_id = @tenant_id and g.id = @id and g.revoked_at is null and g.expires_at > now() and g.used < g.uses;

-- name: PermissionsOfKey :one
-- What the key of a subject is permitted now, before its scopes narrow it.
select k.permissions, k.scopes, k.roles, permissions_of_roles(@tenant_id, k.roles)::text[] as role_permissions from api_keys k
where k.tenant_id = @tenant_id and 'key:' || k.id::text = @subject::text
  and k.revoked_at is null and (k.expires_at is null or k.expires_at > now());
