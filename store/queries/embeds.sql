-- name: AddEmbedOrigin :one
-- No row where the tenant allows it already.
insert into embed_origins (tenant_id, id, name, created_by)
values (@tenant_id, @id, @name, @created_by)
on conflict (tenant_id, name) do nothing
returning *;

-- name: RemoveEmbedOrigin :one
delete from embed_origins o where o.tenant_id = @tenant_id and o.id = @id
returning *;

-- name: ListEmbedOrigins :many
select * from embed_origins o where o.tenant_id = @tenant_id order by o.name;

-- name: FramingOrigins :many
-- None of a tenant that is suspended.
select o.name from embed_origins o join tenants t on t.id = o.tenant_id and t.status = 'active'
where o.tenant_id = @tenant_id order by o.name;

-- name: DropOldEmbedTokens :execrows
delete from embed_tokens e
where e.tenant_id = @tenant_id and e.id in (
    select o.id from embed_tokens o
    where o.tenant_id = @tenant_id and o.expires_at < now()
    order by o.expires_at limit 20);

-- name: CreateEmbedToken :one
-- No row where the tenant does not allow the origin.
insert into embed_tokens (
    tenant_id, id, secret_hash, origin, tool_id, tool, version, digest, caller, key_id, permission, expires_at)
select o.tenant_id, @id, @secret_hash, o.name, @tool_id, @tool, @version, @digest, @caller, @key_id, @permission,
    now() + make_interval(secs => @keep_seconds::float8)
from embed_origins o
where o.tenant_id = @tenant_id and o.name = @origin
returning *;

-- name: OpenEmbedToken :one
-- What a token allows at an origin: its tenant is active and allows the origin, its key is good, and its tool neither disabled nor gone.
select sqlc.embed(e), t.slug as tenant_slug, t.name as tenant_name
from embed_tokens e
join tenants t on t.id = e.tenant_id and t.status = 'active'
join embed_origins o on o.tenant_id = e.tenant_id and o.name = e.origin
join api_keys k on k.tenant_id = e.tenant_id and k.id = e.key_id and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())
where e.tenant_id = @tenant_id and e.id = @id and e.secret_hash = @secret_hash and e.origin = @origin and e.expires_at > now()
  and exists (
        select from tool_registry r
        where r.id = e.tool_id and r.scope_id in (e.tenant_id, '00000000-0000-0000-0000-000000000000')
          and r.status <> 'disabled' and r.is_active and r.deleted_at is null and r.quarantine = '');
