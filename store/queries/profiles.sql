-- name: CreateProfile :one
-- No row is returned where the tenant has a profile with the name.
insert into profiles (tenant_id, id, name, description, denied, requires_approval, permission_policy, egress_class,
    required_permission, rate_calls, rate_per, rate_burst, max_concurrency, changed_by)
values (@tenant_id, @id, @name, @description, @denied, @requires_approval, @permission_policy, @egress_class,
    @required_permission, sqlc.narg('rate_calls'), sqlc.narg('rate_per'), sqlc.narg('rate_burst'),
    sqlc.narg('max_concurrency'), @changed_by)
on conflict (tenant_id, name) do nothing
returning *;

-- name: ReplaceProfile :one
-- Replaces a profile whose revision is the expected one, or any where that is zero. Its buckets are no
-- emptier than the new rate can make them.
with changed as (
    update profiles p set description = @description, denied = @denied, requires_approval = @requires_approval,
    permission_policy = @permission_policy, egress_class = @egress_class, required_permission = @required_permission,
    rate_calls = sqlc.narg('rate_calls'), rate_per = sqlc.narg('rate_per'), rate_burst = sqlc.narg('rate_burst'),
    max_concurrency = sqlc.narg('max_concurrency'), changed_by = @changed_by, revision = p.revision + 1, updated_at = now()
    where p.tenant_id = @tenant_id and p.name = @name and (@revision::bigint = 0 or p.revision = @revision)
    returning p.*
), capped as (
    update rate_buckets b set full_at = least(b.full_at, now() + ('1 ' || c.rate_per)::interval / c.rate_calls * c.rate_burst)
    from changed c
    where b.tenant_id = @tenant_id and b.profile_id = c.id and c.rate_calls is not null
)
select * from changed;

-- name: FindProfile :one
select sqlc.embed(p), (select count(*) from tool_assignments a where a.tenant_id = p.tenant_id and a.profile_id = p.id)::int as assignments
from profiles p
where p.tenant_id = @tenant_id and p.name = @name;

-- name: ListProfiles :many
-- By name; where an agent is given, those that its assignments use.
select sqlc.embed(p), (select count(*) from tool_assignments a where a.tenant_id = p.tenant_id and a.profile_id = p.id)::int as assignments
from profiles p
where p.tenant_id = @tenant_id and p.name > @after::text
  and (sqlc.narg('agent_id')::uuid is null or exists (
      select from tool_assignments a where a.tenant_id = p.tenant_id and a.profile_id = p.id
        and (a.agent_id is null or a.agent_id = sqlc.narg('agent_id'))))
order by p.name
limit sqlc.arg('limit')::int;

-- name: DeleteProfile :one
-- Deletes a profile that no assignment uses, with its budgets: nothing of the tenant is reserved or
-- spent meanwhile.
with locked as materialized (select lock_budgets(@tenant_id))
delete from profiles p using locked l
where p.tenant_id = @tenant_id and p.name = @name and (@revision::bigint = 0 or p.revision = @revision)
  and not exists (select from tool_assignments a where a.tenant_id = @tenant_id and a.profile_id = p.id)
returning p.*;

-- name: SetAssignment :one
-- Replaces the assignment of a tool to an agent, or to every caller. No row is returned where the
-- tenant has no such tool, agent or profile. What counted the calls that ran at once under another profile
-- is deleted.
with dropped as (
    delete from tool_slots s using tool_assignments was
    where was.tenant_id = @tenant_id and was.tool_id = @tool_id and was.agent_id is not distinct from sqlc.narg('agent_id')::uuid
      and was.profile_id is distinct from sqlc.narg('profile_id')::uuid
      and s.tenant_id = @tenant_id
      and s.scope = 'profile/' || was.profile_id::text || '/' || was.tool_id::text || '/' || coalesce(was.agent_id::text, '')
)
insert into tool_assignments as o (tenant_id, id, tool_id, tool_scope_id, agent_id, profile_id, changed_by)
select @tenant_id, @id, t.id, t.scope_id, g.id, p.id, @changed_by
from (select sqlc.narg('agent_id')::uuid as agent_id, sqlc.narg('profile_id')::uuid as profile_id) asked
join tool_registry t on t.scope_id in (@tenant_id, '00000000-0000-0000-0000-000000000000') and t.id = @tool_id and t.deleted_at is null
left join agents g on g.tenant_id = @tenant_id and g.id = asked.agent_id
left join profiles p on p.tenant_id = @tenant_id and p.id = asked.profile_id
where (asked.agent_id is null or g.id is not null) and (asked.profile_id is null or p.id is not null)
on conflict (tenant_id, tool_id, coalesce(agent_id, '00000000-0000-0000-0000-000000000000'::uuid)) do update
    set profile_id = excluded.profile_id, changed_by = excluded.changed_by, changed_at = now()
returning o.*;

-- name: FindAssignment :one
select sqlc.embed(a), t.slug as tool, coalesce(g.slug, '')::text as agent, coalesce(p.name, '')::text as profile
from tool_assignments a
join tool_registry t on t.scope_id in (@tenant_id, '00000000-0000-0000-0000-000000000000') and t.id = a.tool_id
left join agents g on g.tenant_id = a.tenant_id and g.id = a.agent_id
left join profiles p on p.tenant_id = a.tenant_id and p.id = a.profile_id
where a.tenant_id = @tenant_id and a.id = @id;

-- name: ListAssignments :many
-- By tool; that of every caller comes before those of agents.
select sqlc.embed(a), t.slug as tool, coalesce(g.slug, '')::text as agent, coalesce(p.name, '')::text as profile
from tool_assignments a
join tool_registry t on t.scope_id in (@tenant_id, '00000000-0000-0000-0000-000000000000') and t.id = a.tool_id
left join agents g on g.tenant_id = a.tenant_id and g.id = a.agent_id
left join profiles p on p.tenant_id = a.tenant_id and p.id = a.profile_id
where a.tenant_id = @tenant_id
  and (sqlc.narg('tool_id')::uuid is null or a.tool_id = sqlc.narg('tool_id'))
  and (sqlc.narg('agent_id')::uuid is null or a.agent_id = sqlc.narg('agent_id'))
  and (sqlc.narg('profile_id')::uuid is null or a.profile_id = sqlc.narg('profile_id'))
  and (t.slug, coalesce(g.slug, ''), a.id) > (@after_tool::text, @after_agent::text, @after_id::uuid)
order by t.slug, coalesce(g.slug, ''), a.id
limit sqlc.arg('limit')::int;

-- name: DeleteAssignment :one
delete from tool_assignments a where a.tenant_id = @tenant_id and a.id = @id
returning *;

-- name: DropSlots :exec
-- The slots of a scope that is not limited any more.
delete from tool_slots s where s.tenant_id = @tenant_id and s.scope = @scope;

-- name: ListAssignedTools :many
-- The tools that an agent has by assignments.
select a.tool_id from tool_assignments a
where a.tenant_id = @tenant_id and a.agent_id = @agent_id
order by a.tool_id;

-- name: ListProfileUses :one
-- The profiles that apply to calls of a tool, by an agent or by others, as admission reads them.
select coalesce((
    select json_agg(y order by y.agent_id nulls first)
    from (
        select a.agent_id, p.id, p.name, p.denied, p.requires_approval, p.permission_policy, p.egress_class, p.required_permission,
               p.rate_calls, p.rate_per, p.rate_burst, p.max_concurrency
        from tool_assignments a join profiles p on p.tenant_id = a.tenant_id and p.id = a.profile_id
        where a.tenant_id = @tenant_id and a.tool_id = @tool_id and (a.agent_id is null or a.agent_id = sqlc.narg('agent_id')::uuid)
    ) y), '[]')::json as profiles;

-- name: SweepRateBuckets :one
select sweep_rate_buckets(@most::int)::int as gone;
