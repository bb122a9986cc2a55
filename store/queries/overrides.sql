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
-- Where a revision is expected, no row is returned when the override has another; one that does
-- not exist has revision 0.
insert into tool_overrides as o (tenant_id, tool_id, tool_scope_id, enabled, requires_approval, description, defaults, limits, reason, changed_by)
select sqlc.narg('tenant_id')::uuid, t.id, t.scope_id, sqlc.narg('enabled')::boolean, @requires_approval, @description,
       sqlc.narg('defaults')::json, sqlc.narg('limits')::json, @reason, @changed_by
from tool_registry t
where t.scope_id in (@scope_id, '00000000-0000-0000-0000-000000000000')
  and t.id = @tool_id and t.deleted_at is null
  and (sqlc.narg('expected')::bigint is null or sqlc.narg('expected') = coalesce(
      (select c.revision from tool_overrides c where c.scope_id = @scope_id and c.tool_id = t.id), 0))
on conflict (scope_id, tool_id) do update
    set enabled = excluded.enabled, requires_approval = excluded.requires_approval, description = excluded.description,
        defaults = excluded.defaults, limits = excluded.limits, reason = excluded.reason,
        changed_by = excluded.changed_by, changed_at = now()
    where sqlc.narg('expected')::bigint is null or o.revision = sqlc.narg('expected')
returning o.*;

-- name: DeleteOverride :execrows
delete from tool_overrides o
where o.scope_id = @scope_id and o.tool_id = @tool_id
  and (sqlc.narg('expected')::bigint is null or o.revision = sqlc.narg('expected'));

-- name: ListOverridesOf :many
-- The tenant's and the platform's, about several tools.
select o.* from tool_overrides o
where o.scope_id in (@scope_id, '00000000-0000-0000-0000-000000000000') and o.tool_id = any (@tool_ids::uuid[]);

-- name: ListOverrideVersions :many
-- Newest first; the tenant's and the platform's apart, as own says.
select v.* from tool_override_versions v
where (v.scope_id = @scope_id and @own::boolean or v.scope_id = '00000000-0000-0000-0000-000000000000' and not @own::boolean)
  and v.tool_id = @tool_id and (@before::bigint = 0 or v.revision < @before)
order by v.revision desc
limit sqlc.arg('limit')::int;

-- name: FindOverrideVersions :many
-- One revision of the tenant's and one of the platform's, for those that are not 0.
select v.* from tool_override_versions v
where v.tool_id = @tool_id
  and (v.scope_id = @scope_id and v.revision = @tenant_revision::bigint
    or v.scope_id = '00000000-0000-0000-0000-000000000000' and v.revision = @platform_revision::bigint);
