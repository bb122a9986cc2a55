-- In these queries scope_id is the tenant's id, or the nil UUID for the platform's.

-- name: ListOverridesBySlug :many
-- The tenant's and the platform's, of the tools that a slug may mean.
select o.* from tool_registry t
join tool_overrides o on o.tool_id = t.id and o.scope_id in (@scope_id, '00000000-0000-0000-0000-000000000000')
where t.scope_id in (@scope_id, '00000000-0000-0000-0000-000000000000') and t.slug = @slug;

-- name: ListOverridesByID :many
select o.* from tool_overrides o
where o.scope_id in (@scope_id, '00000000-0000-0000-0000-000000000000') and o.tool_id = @tool_id;

-- name: ListOverrides :many
-- In the order of slugs; a tool's override by the tenant comes before the platform's.
select sqlc.embed(o), t.slug
from tool_overrides o
join tool_registry t on t.id = o.tool_id and t.scope_id = o.tool_scope_id
where o.scope_id in (@scope_id, '00000000-0000-0000-0000-000000000000') and t.deleted_at is null
  and (t.slug, o.tool_id, o.tenant_id is null) > (@after_slug::text, @after_id::uuid, @after_platform::boolean)
order by t.slug, o.tool_id, o.tenant_id is null
limit sqlc.arg('limit')::int;

-- name: SetOverride :one
-- No row is returned where the tenant sees no such tool.
insert into tool_overrides as o (tenant_id, tool_id, tool_scope_id, enabled, requires_approval, reason, changed_by)
select sqlc.narg('tenant_id')::uuid, t.id, t.scope_id, sqlc.narg('enabled')::boolean, @requires_approval, @reason, @changed_by
from tool_registry t
where t.scope_id in (@scope_id, '00000000-0000-0000-0000-000000000000')
  and t.id = @tool_id and t.deleted_at is null
on conflict (scope_id, tool_id) do update
    set enabled = excluded.enabled, requires_approval = excluded.requires_approval, reason = excluded.reason,
        changed_by = excluded.changed_by, changed_at = now()
returning o.*;

-- name: DeleteOverride :execrows
delete from tool_overrides o where o.scope_id = @scope_id and o.tool_id = @tool_id;
