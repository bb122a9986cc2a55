-- name: PublishingEnabled :one
select mcp_apps_publish_enabled from tenants where id = @tenant_id;

-- name: SetPublishing :one
update tenants set mcp_apps_publish_enabled = @enabled, updated_at = now() where id = @tenant_id returning *;

-- name: CountLiveViews :one
select count(*)::int as live from published_views v
where v.tenant_id = @tenant_id and v.revoked_at is null and v.expires_at > now();

-- name: DropOldViews :execrows
delete from published_views v
where v.tenant_id = @tenant_id and v.id in (
    select o.id from published_views o
    where o.tenant_id = @tenant_id and least(o.expires_at, o.revoked_at) < now() - interval '90 days'
    order by o.expires_at limit 20 for update skip locked);

-- name: CreateView :one
-- No row where the tenant may not publish, or the tool is disabled or gone.
insert into published_views (
    tenant_id, id, name, description, kind, tool_id, tool, version, digest, run_id, secret_hash, expires_at, created_by, changed_by)
select t.id, @id, @name, @description, @kind, @tool_id, @tool, @version, @digest, sqlc.narg('run_id')::uuid, @secret_hash,
    now() + make_interval(secs => @keep_seconds::float8), @created_by, @created_by
from tenants t
where t.id = @tenant_id and t.mcp_apps_publish_enabled and exists (
        select from tool_registry r
        where r.id = @tool_id and r.scope_id in (t.id, '00000000-0000-0000-0000-000000000000')
          and r.status <> 'disabled' and r.is_active and r.deleted_at is null and r.quarantine = '')
returning *;

-- name: ListViews :many
-- A page of views, newest first, or the one with an id.
select sqlc.embed(v), (not exists (
        select from tool_registry r
        where r.id = v.tool_id and r.scope_id in (v.tenant_id, '00000000-0000-0000-0000-000000000000')
          and r.status <> 'disabled' and r.is_active and r.deleted_at is null and r.quarantine = ''))::boolean as suspended, (v.expires_at <= now())::boolean as expired
from published_views v
where v.tenant_id = @tenant_id
  and (sqlc.narg('id')::uuid is null or v.id = sqlc.narg('id'))
  and (sqlc.narg('before')::uuid is null or v.id < sqlc.narg('before'))
order by v.id desc
limit sqlc.arg('limit')::int;

-- name: OpenView :one
-- The view that a token opens, for those without a login: its tenant is active, and its tool neither disabled nor gone. What
-- the tenant switched off for its own callers does not count: the token is the access control.
select v.*
from published_views v join tenants t on t.id = v.tenant_id and t.status = 'active'
where v.tenant_id = @tenant_id and v.id = @id and v.secret_hash = @secret_hash and v.revoked_at is null and v.expires_at > now()
  and exists (
        select from tool_registry r
        where r.id = v.tool_id and r.scope_id in (v.tenant_id, '00000000-0000-0000-0000-000000000000')
          and r.status <> 'disabled' and r.is_active and r.deleted_at is null and r.quarantine = '');

-- name: RevokeView :one
update published_views v set revoked_at = coalesce(v.revoked_at, now()), changed_by = @changed_by, updated_at = now()
where v.tenant_id = @tenant_id and v.id = @id
returning *;

-- name: RotateView :one
-- Gives a view another token, and time. No row for one that was revoked, or where the tenant may not publish, or the tool is
-- disabled or gone.
update published_views v set
    secret_hash = @secret_hash, expires_at = now() + make_interval(secs => @keep_seconds::float8), rotations = v.rotations + 1,
    changed_by = @changed_by, updated_at = now()
from tenants t
where v.tenant_id = @tenant_id and v.id = @id and v.revoked_at is null and t.id = v.tenant_id and t.mcp_apps_publish_enabled
  and exists (
        select from tool_registry r
        where r.id = v.tool_id and r.scope_id in (v.tenant_id, '00000000-0000-0000-0000-000000000000')
          and r.status <> 'disabled' and r.is_active and r.deleted_at is null and r.quarantine = '')
returning v.*;
