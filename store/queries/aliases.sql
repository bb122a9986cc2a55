-- In these queries scope_id is the tenant's id, or the nil UUID for global tools.

-- name: KeepToolAliases :many
-- Sets further names of a tool, each with its last day or the empty text, and returns
-- those that it now has: names of other tools are left out.
insert into tool_aliases as a (tenant_id, alias, tool_id, remove_by)
select @tenant_id, n.alias, @tool_id, nullif(n.remove_by, '')::date
from (select unnest(@aliases::text[]) as alias, unnest(@last_days::text[]) as remove_by) n
order by n.alias
on conflict (scope_id, alias) do update
    set tool_id = excluded.tool_id, remove_by = excluded.remove_by
    where a.tool_id = excluded.tool_id or a.remove_by < (now() at time zone 'utc')::date
returning a.alias;

-- name: FindToolsByAlias :many
-- The tenant's own tool comes before a global one.
select sqlc.embed(t), coalesce(a.remove_by::text, '')::text as remove_by
from tool_aliases a
join tool_registry t on t.id = a.tool_id and t.scope_id = a.scope_id
where a.scope_id in (@scope_id, '00000000-0000-0000-0000-000000000000') and a.alias = @alias
  and (a.remove_by is null or a.remove_by >= (now() at time zone 'utc')::date)
order by t.tenant_id nulls last;

-- name: ListVersionsByAlias :many
select v.tool_id, v.id, v.version, v.digest, v.published, coalesce(c.withheld, 0)::int as withheld
from tool_aliases a
join tool_versions v on v.tool_id = a.tool_id and v.scope_id = a.scope_id
left join tool_canaries c on c.tenant_id = @scope_id and c.version_id = v.id
where a.scope_id in (@scope_id, '00000000-0000-0000-0000-000000000000') and a.alias = @alias
order by v.id;

-- name: KeepFormerSlug :many
-- Keeps a tool's old slug as a former name until its last day. No row is returned where
-- it is a further name of another tool.
insert into tool_aliases as a (tenant_id, alias, tool_id, remove_by, renamed)
values (@tenant_id, @alias, @tool_id, (@last_day::text)::date, true)
on conflict (scope_id, alias) do update
    set tool_id = excluded.tool_id, remove_by = excluded.remove_by, renamed = true
    where a.tool_id = excluded.tool_id or a.remove_by < (now() at time zone 'utc')::date
returning a.alias;

-- name: LockNames :exec
-- Serializes transactions that assign names to tools of a scope, as slugs or further
-- names.
select pg_advisory_xact_lock(k.key)
from (select distinct hashtextextended(@scope_id::text || ' ' || n.name, 33) as key from unnest(@names::text[]) as n (name) order by key) k;

-- name: FindFurtherNames :many
-- Those names that are further names of tools of a scope.
select a.alias as name, t.id, t.slug, coalesce(a.remove_by::text, '')::text as remove_by
from tool_aliases a
join tool_registry t on t.id = a.tool_id and t.scope_id = a.scope_id
where a.scope_id = @scope_id and a.alias = any (@names::text[])
  and (a.remove_by is null or a.remove_by >= (now() at time zone 'utc')::date)
order by a.alias;

-- name: FindSlugs :many
-- Those names that are slugs of tools of a scope.
select t.slug from tool_registry t
where t.scope_id = @scope_id and t.slug = any (@names::text[]) and t.deleted_at is null
order by t.slug;

-- name: EndFormerNames :exec
-- Removes all former names of a tool, and keeps its aliases.
update tool_aliases set remove_by = '-infinity', renamed = false
where scope_id = @scope_id and tool_id = @tool_id and remove_by is not null;

-- name: EndToolAlias :exec
-- Removes a further name of a tool.
update tool_aliases set remove_by = '-infinity', renamed = false
where scope_id = @scope_id and alias = @alias and tool_id = @tool_id;

-- name: FindFormerSlug :many
-- The tool that has a slug as a current former name: the tenant's own before a global
-- one.
select t.id, t.slug, a.scope_id, a.remove_by::text as remove_by
from tool_aliases a
join tool_registry t on t.id = a.tool_id and t.scope_id = a.scope_id
where a.scope_id in (@scope_id, '00000000-0000-0000-0000-000000000000') and a.alias = @alias
  and a.remove_by >= (now() at time zone 'utc')::date
order by t.tenant_id nulls last;
