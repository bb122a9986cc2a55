-- Who uses a tool, canaries, gates and replays. Texts are searched for the names of a tool; the caller reads
-- what was found, and decides.

-- name: ListNamesOfTool :many
-- The further names of a tool that still work.
select a.alias from tool_aliases a
where a.scope_id = @scope_id and a.tool_id = @tool_id
  and (a.remove_by is null or a.remove_by >= (now() at time zone 'utc')::date)
order by a.alias;

-- name: ListAgentsNaming :many
-- The version of an agent that was published last, and its draft where that differs.
select a.id, a.slug, a.status, (case when x.published then v.version else '' end)::text as version, x.published::boolean as published,
       (case when x.published then v.snapshot else a.definition end)::json as content
from agents a
left join lateral (
    select v.version, v.snapshot from agent_versions v
    where v.tenant_id = @tenant_id and v.agent_id = a.id and v.published
    order by v.id desc
    limit 1
) v on true
cross join unnest('{true,false}'::boolean[]) as x (published)
where a.tenant_id = @tenant_id and (a.slug, not x.published) > (@after_slug::text, @after_draft::boolean)
  and (x.published and v.version is not null
       or not x.published and (v.version is null or a.definition::text <> v.snapshot::text))
  and exists (select from unnest(@names::text[]) as n (name)
              where strpos((case when x.published then v.snapshot else a.definition end)::text, n.name) > 0)
order by a.slug, not x.published
limit sqlc.arg('limit')::int;

-- name: ListToolsNaming :many
-- Tools of the tenant whose draft, or the version that was published last, has the names; with that version.
select sqlc.embed(t), coalesce(v.version, '')::text as published_version, coalesce(v.schema_snapshot, '{}')::json as published_snapshot
from tool_registry t
left join lateral (
    select v.version, v.schema_snapshot from tool_versions v
    where v.scope_id = @scope_id and v.tool_id = t.id and v.published
    order by v.id desc
    limit 1
) v on true
where t.scope_id = @scope_id and t.deleted_at is null and t.archived_at is null and t.id <> @tool_id and t.slug > @after_slug
  and exists (select from unnest(@names::text[]) as n (name)
              where strpos(t.config_schema::text, n.name) > 0 or strpos(v.schema_snapshot::text, n.name) > 0)
order by t.slug
limit sqlc.arg('limit')::int;

-- name: ListToolsetsWith :many
-- Toolsets that have a tool, by itself or with all tools of its server.
select s.id, s.slug, s.status, coalesce(x.tool ->> 'version', '')::text as version_constraint
from toolsets s
left join lateral (
    select e.tool from json_array_elements(s.tools) as e (tool) where (e.tool ->> 'tool_id')::uuid = @tool_id::uuid limit 1
) x on true
left join lateral (
    select m.server_id from mcp_remote_tools m
    where m.tenant_id = @tenant_id and m.tool_id = @tool_id::uuid and m.server_id = any (s.servers)
    limit 1
) m on true
where s.tenant_id = @tenant_id and s.slug > @after_slug and (x.tool is not null or m.server_id is not null)
order by s.slug
limit sqlc.arg('limit')::int;

-- name: ListSchedulesNaming :many
-- Schedules of agents whose version that was published last has the names.
select s.id, s.name, s.paused, a.slug as agent, v.snapshot
from schedules s
join agents a on a.tenant_id = @tenant_id and (a.slug = s.agent or a.id::text = s.agent)
join lateral (
    select v.snapshot from agent_versions v
    where v.tenant_id = @tenant_id and v.agent_id = a.id and v.published
    order by v.id desc
    limit 1
) v on true
where s.tenant_id = @tenant_id and s.deleted_at is null and (s.name, s.id) > (@after_name::text, @after_id::uuid)
  and exists (select from unnest(@names::text[]) as n (name) where strpos(v.snapshot::text, n.name) > 0)
order by s.name, s.id
limit sqlc.arg('limit')::int;

-- name: ListAssignmentsOfTool :many
select w.id, coalesce(a.slug, '')::text as agent, coalesce(a.status, '')::text as agent_status, coalesce(p.name, '')::text as profile
from tool_assignments w
left join agents a on a.tenant_id = @tenant_id and a.id = w.agent_id
left join profiles p on p.tenant_id = @tenant_id and p.id = w.profile_id
where w.tenant_id = @tenant_id and w.tool_id = @tool_id and (w.agent_id is not null) = @with_agent::boolean and w.id > @after_id::uuid
order by w.id
limit sqlc.arg('limit')::int;

-- name: ListRunsPinning :many
-- Runs that have not ended and whose plan pins a tool.
select r.id from runs r
where r.tenant_id = @tenant_id and r.status in ('pending', 'running') and strpos(r.plan::text, @tool_id::text) > 0
order by r.id
limit sqlc.arg('limit')::int;

-- name: FindGate :many
-- The gate of a tool, else that of the tenant.
select g.* from tool_gates g
where g.tenant_id = @tenant_id and (g.tool_id = sqlc.narg('tool_id')::uuid or g.tool_id is null)
order by g.tool_id nulls last
limit 1;

-- name: SetGate :one
-- No row is returned where the tenant has no such tool of its own.
insert into tool_gates as g (tenant_id, id, tool_id, replay, max_different, changed_by)
select @tenant_id, @id, sqlc.narg('tool_id')::uuid, @replay, @max_different, @changed_by
where sqlc.narg('tool_id')::uuid is null or exists (
    select from tool_registry t where t.scope_id = @tenant_id and t.id = sqlc.narg('tool_id')::uuid and t.deleted_at is null)
on conflict (tenant_id, coalesce(tool_id, '00000000-0000-0000-0000-000000000000'::uuid)) do update
    set replay = excluded.replay, max_different = excluded.max_different, changed_by = excluded.changed_by, changed_at = now()
returning g.*;

-- name: DeleteGate :execrows
delete from tool_gates g
where g.tenant_id = @tenant_id and g.tool_id is not distinct from sqlc.narg('tool_id')::uuid;

-- name: CreateReplay :one
insert into tool_replays (tenant_id, id, tool_id, version, digest, asked, state, calls, same, different, skipped, started_by, ended_at)
values (@tenant_id, @id, @tool_id, @version, @digest, @asked, @state, @calls, @same, @different, @skipped, @started_by, @ended_at)
returning *;

-- name: DeleteOldReplays :exec
-- Those of a tool that ended, or began and did not end, more than thirty days ago.
delete from tool_replays r
where r.tenant_id = @tenant_id and r.tool_id = @tool_id and r.started_at < now() - interval '30 days';

-- name: FindReplay :one
select * from tool_replays r where r.tenant_id = @tenant_id and r.tool_id = @tool_id and r.id = @id;

-- name: EndReplay :execrows
-- Writes what has been compared so far. A replay that has ended is never changed.
update tool_replays r set state = @state, calls = @calls, same = @same, different = @different, skipped = @skipped, ended_at = @ended_at
where r.tenant_id = @tenant_id and r.id = @id and r.state = 'running';

-- name: ListReplays :many
-- Newest first; of a digest, or of all.
select * from tool_replays r
where r.tenant_id = @tenant_id and r.tool_id = @tool_id and (@digest::text = '' or r.digest = @digest)
  and (sqlc.narg('before')::uuid is null or r.id < sqlc.narg('before'))
order by r.id desc
limit sqlc.arg('limit')::int;

-- name: ListReplayable :many
-- The last calls of a tool in production that ended with an answer or a failure. Those that were refused before they
-- reached it say nothing about it.
select * from tool_invocations i
where i.tenant_id = @tenant_id and i.tool_id = @tool_id and i.mode = 'production' and i.status in ('completed', 'failed')
  and (i.status = 'completed' or i.started_at is not null)
order by i.id desc
limit sqlc.arg('limit')::int;

-- name: StartCanary :one
-- One that was taken back or stopped before is started anew. No row is returned where the version is given to
-- every run already.
insert into tool_canaries as c (tenant_id, id, tool_id, version_id, version, digest, share, until_calls, max_error_percent, min_calls,
    promote, started_by)
values (@tenant_id, @id, @tool_id, @version_id, @version, @digest, @share, @until_calls, @max_error_percent, @min_calls, @promote,
    @started_by)
on conflict (tenant_id, version_id) do update
    set state = 'running', share = excluded.share, until_calls = excluded.until_calls, min_calls = excluded.min_calls,
        max_error_percent = excluded.max_error_percent, promote = excluded.promote, started_by = excluded.started_by,
        started_at = now(), judged_at = now(), ended_at = null, ended_by = '', reason = '', calls = 0, failures = 0,
        stable_calls = 0, stable_failures = 0
    where c.state in ('returned', 'stopped')
returning *;

-- name: IsPublished :one
-- Whether a number of a tool is published, and whether another version is.
select coalesce(bool_or(v.published and v.version = @version), false)::boolean as it,
       coalesce(bool_or(v.published and v.version <> @version and coalesce(c.withheld, 0) = 0), false)::boolean as another
from tool_versions v
left join tool_canaries c on c.tenant_id = @scope_id and c.version_id = v.id
where v.scope_id = @scope_id and v.tool_id = @tool_id;

-- name: PromoteCanary :exec
-- A canary that is published is given to every run.
update tool_canaries c set state = 'promoted', ended_at = now(), ended_by = @ended_by, reason = 'it was published'
where c.tenant_id = @tenant_id and c.version_id = @version_id and c.state <> 'promoted';

-- name: EndCanary :many
update tool_canaries c set state = @state, ended_at = now(), ended_by = @ended_by, reason = @reason
where c.tenant_id = @tenant_id and c.tool_id = @tool_id and c.state in ('running', 'passed')
returning *;

-- name: ListCanaries :many
-- Newest first; of a tool, or of all.
select c.*, t.slug from tool_canaries c
join tool_registry t on t.scope_id = @tenant_id and t.id = c.tool_id
where c.tenant_id = @tenant_id and t.deleted_at is null
  and (sqlc.narg('tool_id')::uuid is null or c.tool_id = sqlc.narg('tool_id'))
  and (sqlc.narg('before')::uuid is null or c.id < sqlc.narg('before'))
order by c.id desc
limit sqlc.arg('limit')::int;

-- name: CanaryTenants :one
select canary_tenants(@most::int)::json as tenants;

-- name: ClaimCanaries :many
-- Locks those that are due, so that each is judged by one process.
select * from tool_canaries c
where c.tenant_id = @tenant_id and c.state = 'running' and c.judged_at < now() - make_interval(secs => @idle_s::float8)
order by c.judged_at
limit sqlc.arg('limit')::int
for update skip locked;

-- name: CountOutcomes :one
-- The calls of a tool in production since a canary began, and how many of them failed, by whether they ran
-- the canary: the first of each, so that many of the other versions do not hide those of the canary. Those of the
-- canary are found in the index; the others are for comparison only, and few of them do.
select c.calls, c.failures, s.calls as stable_calls, s.failures as stable_failures
from (
    select count(*)::int as calls, (count(*) filter (where i.failed))::int as failures
    from (
        select v.status <> 'completed' or v.is_error as failed
        from tool_invocations v
        where v.tenant_id = @tenant_id and v.tool_id = @tool_id and v.id >= uuid_floor(@since::timestamptz)
          and v.mode = 'production' and v.status in ('completed', 'failed', 'unknown', 'expired') and v.version = @version
        order by v.id
        limit @until_calls::int
    ) i
) c
cross join (
    select count(*)::int as calls, (count(*) filter (where i.failed))::int as failures
    from (
        select v.status <> 'completed' or v.is_error as failed
        from tool_invocations v
        where v.tenant_id = @tenant_id and v.tool_id = @tool_id and v.id >= uuid_floor(@since::timestamptz)
          and v.mode = 'production' and v.status in ('completed', 'failed', 'unknown', 'expired') and v.version <> @version
        order by v.id
        limit 10000
    ) i
) s;

-- name: JudgeCanary :exec
update tool_canaries c set calls = @calls, failures = @failures, stable_calls = @stable_calls, stable_failures = @stable_failures,
    state = @state, reason = @reason, judged_at = now(),
    ended_at = case when @state::text in ('promoted', 'returned') then now() end,
    ended_by = case when @state::text in ('promoted', 'returned') then 'platform' else '' end
where c.tenant_id = @tenant_id and c.id = @id;
