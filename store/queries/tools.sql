-- In these queries scope_id is the tenant's id, or the nil UUID for global tools.

-- name: CreateTool :one
-- A new built-in is switched on for every tenant. Other global tools are off until the
-- platform, or a tenant for itself, switches them on.
with preset as (
    insert into tool_overrides (tenant_id, tool_id, tool_scope_id, enabled, reason, changed_by)
    select sqlc.narg('tenant_id')::uuid, @id::uuid, '00000000-0000-0000-0000-000000000000'::uuid, true, 'comes with the platform', 'platform'
    where sqlc.narg('tenant_id')::uuid is null and @builtin_key::text <> ''
)
insert into tool_registry (
    id, tenant_id, slug, name, description, category, icon, schema, config_schema, interaction, implementation_type,
    egress_class, egress_rules, requires_approval, permission_policy, required_permission, tenant_slugs,
    status, is_active, is_system, builtin_key, artifact_id, artifact_version, version, published_at,
    reads_declared_by, reads_declared_at
) values (
    @id, sqlc.narg('tenant_id'), @slug, @name, @description, @category, @icon, @schema, @config_schema, @interaction, @implementation_type,
    @egress_class, @egress_rules, @requires_approval, @permission_policy, @required_permission, @tenant_slugs,
    @status, @is_active, @is_system, @builtin_key, @artifact_id, @artifact_version, @version, @published_at,
    @reads_declared_by, @reads_declared_at
) returning *;

-- name: UpdateTool :one
update tool_registry set
    slug = @slug, name = @name, description = @description, category = @category, icon = @icon,
    schema = @schema, config_schema = @config_schema, interaction = @interaction, implementation_type = @implementation_type,
    egress_class = @egress_class, egress_rules = @egress_rules, requires_approval = @requires_approval, permission_policy = @permission_policy,
    required_permission = @required_permission, tenant_slugs = @tenant_slugs,
    status = @status, is_active = @is_active, is_system = @is_system, builtin_key = @builtin_key,
    artifact_id = @artifact_id, artifact_version = @artifact_version, version = @version, published_at = @published_at,
    quarantine = @quarantine, reads_declared_by = @reads_declared_by, reads_declared_at = @reads_declared_at,
    archived_at = @archived_at, archived_by = @archived_by, revision = revision + 1, updated_at = now()
where scope_id = @scope_id and id = @id and revision = @revision
returning *;

-- name: DeleteTool :one
-- Hides a tool and frees its names; the row stays for the records that refer to it. A tool
-- of an attached MCP server is kept: the next refresh would import it again.
with brought as (
    select exists (select from mcp_remote_tools m where m.tenant_id = @scope_id and m.tool_id = @id::uuid) as by_server
), gone as (
    update tool_registry t
    set slug = 'deleted-' || t.id::text, status = 'disabled', is_active = false, deleted_at = now(), updated_at = now(),
        revision = t.revision + 1
    from brought b
    where t.scope_id = @scope_id and t.id = @id and t.revision = @revision and t.deleted_at is null and not b.by_server
    returning t.id
), ended as (
    update tool_aliases a set remove_by = '-infinity', renamed = false
    where a.scope_id = @scope_id and a.tool_id = @id and exists (select from gone)
)
select exists (select from gone) as gone, b.by_server from brought b;

-- name: FindToolsByID :many
select * from tool_registry
where scope_id in (@scope_id, '00000000-0000-0000-0000-000000000000') and id = @id and deleted_at is null
order by tenant_id nulls last;

-- name: FindToolsBySlug :many
-- The tenant's own tool comes before a global one.
select * from tool_registry
where scope_id in (@scope_id, '00000000-0000-0000-0000-000000000000') and slug = @slug and deleted_at is null
order by tenant_id nulls last;

-- name: ListTools :many
-- Walks the index of each scope in the order of slugs and stops when the page is full. The
-- conditions on a row are in the order of their cost. SearchTools is for a search in ASCII.
select t.*
from (select @scope_id::uuid as id union select '00000000-0000-0000-0000-000000000000'::uuid) s
cross join lateral (
    select r.* from tool_registry r
    where r.scope_id = s.id and r.deleted_at is null and (r.archived_at is not null) = @archived::boolean
      and r.slug >= @after_slug and (r.slug > @after_slug or r.id > @after_id::uuid)
      and case
        when @status::text <> '' and r.status <> @status then false
        when r.updated_at < sqlc.narg('updated_since')::timestamptz then false
        when @search::text <> '' and 0 = strpos(lower(r.slug || ' ' || r.name || ' ' || r.description), lower(@search))
            and r.id <> all (array(
                select o.tool_id from tool_overrides o
                where o.scope_id in (@scope_id, '00000000-0000-0000-0000-000000000000') and strpos(lower(o.description), lower(@search)) > 0))
            then false
        when @implementation::text <> '' and @implementation <>
            coalesce(nullif(r.implementation_type, ''), r.config_schema -> 'implementation' ->> 'type', '') then false
        when @bucket::text <> '' and @bucket <> case
            when r.is_system or r.builtin_key <> '' then 'built_in'
            when 'mcp' in (r.implementation_type, r.config_schema -> 'implementation' ->> 'type') then 'mcp'
            when r.artifact_id <> '' or 'artifact' =
                coalesce(nullif(r.implementation_type, ''), r.config_schema -> 'implementation' ->> 'type') then 'artifact'
            else 'custom' end then false
        when @category::text <> '' and r.category <> @category then false
        when @switched_off::boolean and r.id <> all (array(
            select o.tool_id from tool_overrides o where o.scope_id = @scope_id and not o.enabled)) then false
        when @egress::text <> '' and r.egress_class <> @egress then false
        when @risk::text <> '' and @risk <> case
            when r.egress_class = 'write' or r.interaction -> 'risk' ->> 'level' = 'high' then 'high'
            when r.egress_class = 'read_only' or r.interaction -> 'risk' ->> 'level' = 'medium' then 'medium'
            else 'low' end then false
        else true end
    order by r.slug
    limit sqlc.arg('limit')::int
) t
order by t.slug, t.id
limit sqlc.arg('limit')::int;

-- name: SearchTools :many
-- ListTools with a search in ASCII, in lower case, which ignores the case of ASCII letters alone. Searches the
-- index that has the text of most tools, and the rows of those whose text is too long for it.
select t.*
from (select @scope_id::uuid as id union select '00000000-0000-0000-0000-000000000000'::uuid) s
cross join lateral (
    select r.*
    from (
        (select x.id, x.slug from tool_registry x
        where x.scope_id = s.id and x.deleted_at is null
          and (x.tenant_id is not null and x.tenant_slugs = '{}' and octet_length(x.name) + octet_length(x.description) <= 1000)
          and (x.archived_at is not null) = @archived::boolean
          and x.slug >= @after_slug and (x.slug > @after_slug or x.id > @after_id::uuid)
          and (strpos(lower((x.slug || ' ' || x.name || ' ' || x.description) collate "C"), @search::text) > 0
            or x.id = any (array(
                select o.tool_id from tool_overrides o
                where o.scope_id in (@scope_id, '00000000-0000-0000-0000-000000000000') and strpos(lower(o.description), @search) > 0)))
        order by x.slug)
        union all
        (select x.id, x.slug from tool_registry x
        where x.scope_id = s.id and x.deleted_at is null
          and not (x.tenant_id is not null and x.tenant_slugs = '{}' and octet_length(x.name) + octet_length(x.description) <= 1000)
          and (x.archived_at is not null) = @archived
          and x.slug >= @after_slug and (x.slug > @after_slug or x.id > @after_id)
          and (strpos(lower((x.slug || ' ' || x.name || ' ' || x.description) collate "C"), @search) > 0
            or x.id = any (array(
                select o.tool_id from tool_overrides o
                where o.scope_id in (@scope_id, '00000000-0000-0000-0000-000000000000') and strpos(lower(o.description), @search) > 0)))
        order by x.slug)
    ) f
    join tool_registry r on r.scope_id = s.id and r.id = f.id
    where case
        when @status::text <> '' and r.status <> @status then false
        when r.updated_at < sqlc.narg('updated_since')::timestamptz then false
        when @implementation::text <> '' and @implementation <>
            coalesce(nullif(r.implementation_type, ''), r.config_schema -> 'implementation' ->> 'type', '') then false
        when @bucket::text <> '' and @bucket <> case
            when r.is_system or r.builtin_key <> '' then 'built_in'
            when 'mcp' in (r.implementation_type, r.config_schema -> 'implementation' ->> 'type') then 'mcp'
            when r.artifact_id <> '' or 'artifact' =
                coalesce(nullif(r.implementation_type, ''), r.config_schema -> 'implementation' ->> 'type') then 'artifact'
            else 'custom' end then false
        when @category::text <> '' and r.category <> @category then false
        when @switched_off::boolean and r.id <> all (array(
            select o.tool_id from tool_overrides o where o.scope_id = @scope_id and not o.enabled)) then false
        when @egress::text <> '' and r.egress_class <> @egress then false
        when @risk::text <> '' and @risk <> case
            when r.egress_class = 'write' or r.interaction -> 'risk' ->> 'level' = 'high' then 'high'
            when r.egress_class = 'read_only' or r.interaction -> 'risk' ->> 'level' = 'medium' then 'medium'
            else 'low' end then false
        else true end
    order by f.slug
    limit sqlc.arg('limit')::int
) t
order by t.slug, t.id
limit sqlc.arg('limit')::int;

-- name: CountTools :many
-- Counts tools by what people filter by. It reads the first of each scope in the order of slugs,
-- so that it costs no more in a larger registry.
select t.bucket, t.implementation, t.status, t.egress_class, t.risk, t.category, t.required_permission, t.internal,
    (t.tenant_id is null)::boolean as global, count(*)::int as tools
from (select @scope_id::uuid as id union select '00000000-0000-0000-0000-000000000000'::uuid) s
cross join lateral (
    select r.tenant_id, r.status, r.egress_class, r.category, r.required_permission,
        coalesce(nullif(r.implementation_type, ''), r.config_schema -> 'implementation' ->> 'type', '')::text as implementation,
        coalesce(r.interaction ->> 'visibility' = 'internal', false)::boolean as internal,
        (case
            when r.is_system or r.builtin_key <> '' then 'built_in'
            when 'mcp' in (r.implementation_type, r.config_schema -> 'implementation' ->> 'type') then 'mcp'
            when r.artifact_id <> '' or 'artifact' =
                coalesce(nullif(r.implementation_type, ''), r.config_schema -> 'implementation' ->> 'type') then 'artifact'
            else 'custom' end)::text as bucket,
        (case
            when r.egress_class = 'write' or r.interaction -> 'risk' ->> 'level' = 'high' then 'high'
            when r.egress_class = 'read_only' or r.interaction -> 'risk' ->> 'level' = 'medium' then 'medium'
            else 'low' end)::text as risk
    from tool_registry r
    where r.scope_id = s.id and r.deleted_at is null and r.archived_at is null
    order by r.slug
    limit @most::int
) t
group by 1, 2, 3, 4, 5, 6, 7, 8, 9;

-- name: ListEntries :many
-- The tools of a page of slugs, with their versions. A slug is on the page if one of its
-- tools, the tenant's own or the global one, may pass the filters. The filters only save
-- work: they let tools through whose configuration alone names their type.
with page as (
    select f.slug
    from (select @scope_id::uuid as id union select '00000000-0000-0000-0000-000000000000'::uuid) s
    cross join lateral (
        select r.slug from tool_registry r
        where r.scope_id = s.id and r.deleted_at is null and r.slug > @after_slug
          and (sqlc.narg('within')::uuid[] is null or r.id = any (sqlc.narg('within')))
          and case
            when @implementation::text <> '' and r.implementation_type not in ('', @implementation) then false
            when @bucket::text <> '' and (@bucket = 'built_in') <> (r.is_system or r.builtin_key <> '') then false
            when @bucket = 'artifact' and r.implementation_type not in ('', 'artifact') and r.artifact_id = '' then false
            when @bucket = 'custom' and (r.implementation_type in ('mcp', 'artifact') or r.artifact_id <> '') then false
            when @bucket = 'mcp' and r.implementation_type not in ('', 'mcp')
                and strpos(r.config_schema::text, 'mcp') + strpos(r.config_schema::text, '\u') = 0 then false
            when @search::text = '' then true
            else strpos(lower((r.slug || e'\n' || r.name || e'\n' || r.description) collate "C"), @search) > 0
                or r.id = any (array(
                    select o.tool_id from tool_overrides o
                    where o.scope_id in (@scope_id, '00000000-0000-0000-0000-000000000000')
                      and strpos(lower(o.description collate "C"), @search) > 0)) end
        order by r.slug
        limit sqlc.arg('limit')::int
    ) f
    group by f.slug
    order by f.slug
    limit sqlc.arg('limit')::int
)
select t.*, v.ids, v.numbers, v.digests, v.published, v.declared_by, v.declared_at, v.withheld,
       (select json_agg(o) from tool_overrides o
        where o.tool_id = t.id and o.scope_id in (@scope_id, '00000000-0000-0000-0000-000000000000'))::json as overrides
from page p
join tool_registry t on t.slug = p.slug and t.scope_id in (@scope_id, '00000000-0000-0000-0000-000000000000')
cross join lateral (
    select coalesce(array_agg(v.id), '{}')::uuid[] as ids, coalesce(array_agg(v.version), '{}')::text[] as numbers,
           coalesce(array_agg(v.digest), '{}')::text[] as digests, coalesce(array_agg(v.published), '{}')::boolean[] as published,
           coalesce(array_agg(v.reads_declared_by), '{}')::text[] as declared_by,
           coalesce(array_agg(coalesce(v.reads_declared_at, 'epoch')), '{}')::timestamptz[] as declared_at,
           coalesce(array_agg(coalesce(c.withheld, 0)), '{}')::int[] as withheld
    from tool_versions v
    left join tool_canaries c on c.tenant_id = @scope_id and c.version_id = v.id
    where v.tool_id = t.id and v.scope_id = t.scope_id
) v
order by t.slug, t.id;

-- name: ListToolPolicies :many
-- As they are for callers that are no agents.
select t.id, t.tenant_id, t.egress_class, t.egress_rules, (t.requires_approval or coalesce(own.requires_approval, false) or coalesce(preset.requires_approval, false))::boolean as requires_approval,
       t.permission_policy, t.required_permission, t.tenant_slugs,
       (select json_agg(y order by y.agent_id nulls first)
        from (
            select w.agent_id, p.id, p.name, p.denied, p.requires_approval, p.permission_policy, p.egress_class, p.required_permission,
                   p.rate_calls, p.rate_per, p.rate_burst, p.max_concurrency
            from tool_assignments w join profiles p on p.tenant_id = w.tenant_id and p.id = w.profile_id
            where w.tenant_id = @scope_id and w.tool_id = t.id and w.agent_id is null
        ) y)::json as profiles
from tool_registry t
left join tool_overrides own on own.scope_id = @scope_id and own.tool_id = t.id
left join tool_overrides preset on preset.scope_id in (@scope_id, '00000000-0000-0000-0000-000000000000') and preset.tool_id = t.id
    and preset.tenant_id is null
where t.scope_id in (@scope_id, '00000000-0000-0000-0000-000000000000') and t.id = any (@tool_ids::uuid[]);

-- name: ListPinnedPolicies :many
-- The current policies of the tools that a run's plan pins, without those that it got by
-- assignments which are revoked.
select t.id, t.tenant_id, t.egress_class, t.egress_rules, (t.requires_approval or coalesce(own.requires_approval, false) or coalesce(preset.requires_approval, false))::boolean as requires_approval,
       t.permission_policy, t.required_permission, t.tenant_slugs,
       (select json_agg(y order by y.agent_id nulls first)
        from (
            select w.agent_id, q.id, q.name, q.denied, q.requires_approval, q.permission_policy, q.egress_class, q.required_permission,
                   q.rate_calls, q.rate_per, q.rate_burst, q.max_concurrency
            from tool_assignments w join profiles q on q.tenant_id = w.tenant_id and q.id = w.profile_id
            where w.tenant_id = r.tenant_id and w.tool_id = t.id and (w.agent_id is null or w.agent_id = r.agent_id)
        ) y)::json as profiles
from runs r
cross join json_array_elements(r.plan -> 'tools') as p (pin)
join tool_registry t on t.id = (p.pin ->> 'tool_id')::uuid
                    and t.scope_id in (r.tenant_id, '00000000-0000-0000-0000-000000000000')
left join tool_overrides own on own.scope_id = r.tenant_id and own.tool_id = t.id
left join tool_overrides preset on preset.scope_id in (r.tenant_id, '00000000-0000-0000-0000-000000000000') and preset.tool_id = t.id
    and preset.tenant_id is null
where r.tenant_id = @tenant_id and r.id = @run_id
  and (not coalesce((p.pin ->> 'assigned')::boolean, false) or exists (
      select from tool_assignments a where a.tenant_id = r.tenant_id and a.tool_id = t.id and a.agent_id = r.agent_id));

-- name: AddToolVersion :one
-- Keeps an existing version with the same content, and publishes it if requested. No row
-- is returned when its content differs. Publishing removes the tool's further names that
-- are not listed, except for its former slugs.
with ended as (
    update tool_aliases a set remove_by = '-infinity'
    where a.scope_id = @scope_id and a.tool_id = @tool_id and @published::boolean and a.alias <> all (@keep::text[])
      and not a.renamed
)
insert into tool_versions as v (id, tool_id, tenant_id, version, digest, schema_snapshot, published, published_at, created_by,
    reads_declared_by, reads_declared_at)
values (@id, @tool_id, @tenant_id, @version, @digest, @schema_snapshot, @published, @published_at, @created_by,
    @reads_declared_by, @reads_declared_at)
on conflict (tool_id, scope_id, version) do update
    set published    = v.published or excluded.published,
        published_at = case when v.published then v.published_at else excluded.published_at end
    where v.digest = excluded.digest
returning *;

-- name: ListToolVersions :many
select sqlc.embed(v), coalesce(c.withheld, 0)::int as withheld from tool_versions v
left join tool_canaries c on c.tenant_id = @scope_id and c.version_id = v.id
where v.scope_id in (@scope_id, '00000000-0000-0000-0000-000000000000') and v.tool_id = @tool_id
order by v.id desc;

-- name: FindToolVersion :one
select sqlc.embed(v), t.slug from tool_versions v
join tool_registry t on t.id = v.tool_id and t.scope_id = v.scope_id
where v.scope_id in (@scope_id, '00000000-0000-0000-0000-000000000000') and v.tool_id = @tool_id and v.digest = @digest
order by v.published desc, v.id desc
limit 1;

-- name: FindToolVersions :many
-- FindToolVersion for several tools, each with its digest.
select distinct on (v.tool_id, v.digest) sqlc.embed(v), t.slug
from unnest(@tool_ids::uuid[]) with ordinality as a (tool_id, place)
join tool_versions v on v.scope_id in (@scope_id, '00000000-0000-0000-0000-000000000000') and v.tool_id = a.tool_id
                    and v.digest = (@digests::text[])[a.place]
join tool_registry t on t.id = v.tool_id and t.scope_id = v.scope_id
order by v.tool_id, v.digest, v.published desc, v.id desc;

-- name: ListVersionsBySlug :many
select v.tool_id, v.id, v.version, v.digest, v.published, v.reads_declared_by, v.reads_declared_at,
       coalesce(c.withheld, 0)::int as withheld
from tool_registry t
join tool_versions v on v.tool_id = t.id and v.scope_id = t.scope_id
left join tool_canaries c on c.tenant_id = @scope_id and c.version_id = v.id
where t.scope_id in (@scope_id, '00000000-0000-0000-0000-000000000000') and t.slug = @slug
order by v.id;

-- name: ListVersionsByID :many
select v.tool_id, v.id, v.version, v.digest, v.published, v.reads_declared_by, v.reads_declared_at,
       coalesce(c.withheld, 0)::int as withheld
from tool_versions v
left join tool_canaries c on c.tenant_id = @scope_id and c.version_id = v.id
where v.scope_id in (@scope_id, '00000000-0000-0000-0000-000000000000') and v.tool_id = @tool_id
order by v.id;
