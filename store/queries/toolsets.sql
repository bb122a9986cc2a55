-- name: CreateToolset :one
insert into toolsets (tenant_id, id, slug, name, instructions, catalog, status, tools, servers, created_by, changed_by)
values (@tenant_id, @id, @slug, @name, @instructions, @catalog, @status, @tools, @servers, @created_by, @created_by)
returning *;

-- name: UpdateToolset :one
update toolsets set
    name = @name, instructions = @instructions, catalog = @catalog, status = @status, tools = @tools, servers = @servers,
    changed_by = @changed_by, revision = revision + 1, updated_at = now()
where tenant_id = @tenant_id and id = @id and revision = @revision
returning *;

-- name: FindToolsetTools :many
-- The tools that names mean for the tenant, by slug or id, its own before a global one; no row for a name of none.
select n.place::int as place, t.id, t.slug
from unnest(@names::text[]) with ordinality as n (name, place)
join tenants o on o.id = @tenant_id
cross join lateral (
    select r.id, r.slug from tool_registry r
    where r.scope_id in (@tenant_id, '00000000-0000-0000-0000-000000000000') and r.deleted_at is null
      and (r.slug = n.name or r.id::text = n.name)
      and (r.tenant_id is not null or r.tenant_slugs = '{}' or o.slug = any (r.tenant_slugs))
    order by r.tenant_id nulls last
    limit 1
) t
order by n.place;

-- name: FindToolsetServers :many
-- The attached servers that names mean, by slug or id.
select n.place::int as place, m.id, m.slug
from unnest(@names::text[]) with ordinality as n (name, place)
join mcp_servers m on m.tenant_id = @tenant_id and m.detached_at is null and (m.slug = n.name or m.id::text = n.name)
order by n.place;

-- name: ListToolsets :many
-- A page of toolsets, or the one with an id or a slug, with the present names of their tools and servers. Tools that were
-- deleted and servers that were detached are left out.
select sqlc.embed(s),
    (select json_agg(json_build_object('id', t.id, 'slug', t.slug, 'version', x.tool ->> 'version') order by t.slug)
     from json_array_elements(s.tools) as x (tool)
     join tool_registry t on t.id = (x.tool ->> 'tool_id')::uuid and t.deleted_at is null
         and t.scope_id in (@tenant_id, '00000000-0000-0000-0000-000000000000'))::json as named_tools,
    (select json_agg(json_build_object('id', m.id, 'slug', m.slug) order by m.slug)
     from mcp_servers m where m.tenant_id = @tenant_id and m.id = any (s.servers) and m.detached_at is null)::json as named_servers
from toolsets s
where s.tenant_id = @tenant_id and s.slug > @after_slug
  and (sqlc.narg('id')::uuid is null or s.id = sqlc.narg('id'))
  and (sqlc.narg('slug')::text is null or s.slug = sqlc.narg('slug'))
order by s.slug
limit sqlc.arg('limit')::int;

-- name: DeleteToolset :one
-- Deletes a toolset and revokes its keys.
with gone as (
    delete from toolsets s where s.tenant_id = @tenant_id and s.id = @id and s.revision = @revision
    returning s.id
), revoked as (
    update api_keys k set revoked_at = now()
    from gone g
    where k.tenant_id = @tenant_id and k.toolset_id = g.id and k.revoked_at is null
    returning k.id
)
select g.id, (select count(*) from revoked)::int as revoked from gone g;

-- name: FindOffer :one
-- A toolset as clients use it: all its tools, those that its servers brought included, with their constraints. A tool that
-- is there by itself and by a server has its own constraint.
select s.id, s.slug, s.revision, s.instructions, s.catalog, m.tool_ids, m.versions
from toolsets s
cross join lateral (
    select coalesce(array_agg(u.tool_id), '{}')::uuid[] as tool_ids, coalesce(array_agg(u.version), '{}')::text[] as versions
    from (
        select distinct on (a.tool_id) a.tool_id, a.version
        from (
            select (x.tool ->> 'tool_id')::uuid as tool_id, coalesce(x.tool ->> 'version', '') as version, 0 as place
            from json_array_elements(s.tools) as x (tool)
            union all
            select r.tool_id, '', 1 from mcp_remote_tools r
            where r.tenant_id = @tenant_id and r.server_id = any (s.servers) and r.tool_id is not null
        ) a
        order by a.tool_id, a.place
    ) u
) m
where s.tenant_id = @tenant_id and s.slug = @slug and s.status = 'active';
