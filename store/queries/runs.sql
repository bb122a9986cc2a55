-- name: CreateRun :one
-- Records a pending run. No row is returned when the parent call has ended, since the run
-- would not start. The lock orders this before that end. Below a paused run it is paused
-- too, unless it is detached; that lock orders it with pause_run. It is tainted as its parent is, and by what a
-- visitor of a link submitted to that.
with run as (
    insert into runs (id, tenant_id, kind, agent_id, agent, agent_version, mode, subject, permissions, scopes,
                      status, input, workflow_id, first_run_id, head_message_id, plan,
                      parent_run_id, parent_invocation_id, detached, depth,
                      pause_round, paused_at, paused_by, pause_reason, taint)
    select @id, @tenant_id, @kind, @agent_id, @agent, @agent_version, @mode, @subject, @permissions, @scopes,
           'pending', @input, @workflow_id, @first_run_id, @message_id, @plan,
           sqlc.narg('parent_run_id'), sqlc.narg('parent_invocation_id'), @detached, @depth,
           coalesce(p.pause_round, 0), p.paused_at, coalesce(p.paused_by, ''), coalesce(p.pause_reason, ''),
           (select coalesce(a.taint || '{"turn": 0}', case when a.by_link then taint_by_link(a.tenant_id, a.id) end)
            from runs a where a.tenant_id = @tenant_id and a.id = sqlc.narg('parent_run_id')::uuid)
    from (values (1)) as one (run)
    left join lateral (
        select a.pause_round, a.paused_at, a.paused_by, a.pause_reason from runs a
        where a.tenant_id = @tenant_id and a.id = sqlc.narg('parent_run_id')::uuid and not @detached::boolean
        for share) p on true
    where sqlc.narg('parent_invocation_id')::uuid is null or exists (
        select from tool_invocations i
        where i.tenant_id = @tenant_id and i.id = sqlc.narg('parent_invocation_id')::uuid
          and i.status in ('pending', 'approved', 'running', 'waiting')
        for share)
    returning *
), first as (
    insert into messages (id, tenant_id, run_id, turn, role, content)
    select r.head_message_id, r.tenant_id, r.id, 0, @role, @content from run r
)
select * from run;

-- name: BeginRun :one
-- Starts a pending run once, and sets the plan of one that started without. A run that the
-- reconciler closed as never started is started nevertheless: its workflow exists. No row
-- is returned when there is no such run, and a pending one when another transaction
-- started it concurrently. Tools that the plan omits get a warning.
with began as (
    update runs r set status = 'running', started_at = now(),
        last_seq = r.last_seq + 1 + coalesce(json_array_length(sqlc.narg('plan')::json -> 'omitted'), 0),
        plan = coalesce(r.plan, sqlc.narg('plan')::json),
        agent_version = coalesce(nullif(r.agent_version, ''), @agent_version),
        first_run_id = coalesce(nullif(r.first_run_id, ''), @first_run_id),
        ended_by = '', completed_at = null, error_kind = '', error = ''
    where r.tenant_id = @tenant_id and r.id = @id
      and (r.status = 'pending' or r.started_at is null and r.ended_by = 'reconciler')
    returning *
), event as (
    insert into run_events (tenant_id, run_id, seq, type, data)
    select b.tenant_id, b.id, b.last_seq - coalesce(json_array_length(sqlc.narg('plan')::json -> 'omitted'), 0), 'run.started',
        json_build_object('kind', b.kind, 'workflow_id', b.workflow_id, 'agent', b.agent, 'agent_version', b.agent_version)
    from began b
    union all
    select b.tenant_id, b.id, b.last_seq - json_array_length(sqlc.narg('plan')::json -> 'omitted') + o.place, 'tool.warning',
        json_build_object('tool', o.item ->> 'tool', 'reason', 'omitted', 'kind', o.item ->> 'kind', 'message', o.item ->> 'reason')
    from began b
    cross join json_array_elements(sqlc.narg('plan')::json -> 'omitted') with ordinality as o (item, place)
), planned as (
    update runs r set plan = sqlc.narg('plan')::json, agent_version = coalesce(nullif(r.agent_version, ''), @agent_version)
    where r.tenant_id = @tenant_id and r.id = @id and r.status = 'running' and r.plan is null and sqlc.narg('plan') is not null
    returning *
)
select * from began
union all
select * from planned
union all
select r.* from runs r where r.tenant_id = @tenant_id and r.id = @id
    and not exists (select from began) and not exists (select from planned);

-- name: BeginHostRun :one
-- Starts a run that was recorded under the id, or records a workflow on first sight, and
-- sets the plan of one that was recorded without. No row, or a pending one, is returned
-- when another transaction did so concurrently. A run that ended before it started is
-- returned unchanged, unless the reconciler closed it as never started: its workflow
-- exists, so it starts.
with stored as (
    select r.* from runs r
    where r.tenant_id = @tenant_id and r.workflow_id = @workflow_id and r.first_run_id = @first_run_id and r.kind <> 'agent'
), begun as (
    update runs r set status = @status, started_at = now(), last_seq = r.last_seq + 1,
        first_run_id = @first_run_id, plan = coalesce(r.plan, sqlc.narg('plan')::json),
        ended_by = '', completed_at = null, error_kind = '', error = ''
    where r.tenant_id = @tenant_id and r.id = @id and r.workflow_id = @workflow_id and r.kind <> 'agent'
      and (r.status = 'pending' or r.started_at is null and r.ended_by = 'reconciler')
    returning r.*
), refused as (
    select r.* from runs r
    where r.tenant_id = @tenant_id and r.id = @id and r.workflow_id = @workflow_id and r.kind <> 'agent'
      and r.status in ('completed', 'failed', 'cancelled') and r.started_at is null and r.ended_by = ''
), recorded as (
    insert into runs (id, tenant_id, kind, agent_id, agent, agent_version, mode, subject, permissions, scopes,
                      status, input, workflow_id, first_run_id, plan, started_at, last_seq)
    select @id, @tenant_id, @kind, @agent_id, @agent, @agent_version, @mode, @subject, @permissions, @scopes,
           @status, @input, @workflow_id, @first_run_id, sqlc.narg('plan')::json, now(), 1
    where not exists (select from stored) and not exists (select from begun) and not exists (select from refused)
    on conflict do nothing
    returning *
), event as (
    insert into run_events (tenant_id, run_id, seq, type, data)
    select b.tenant_id, b.id, b.last_seq, 'run.started', json_build_object(
        'kind', b.kind, 'workflow_id', b.workflow_id, 'agent', b.agent, 'agent_version', b.agent_version)
    from (select * from begun union all select * from recorded) b
), planned as (
    update runs r set plan = sqlc.narg('plan')::json
    from stored s
    where r.tenant_id = s.tenant_id and r.id = s.id and r.status in ('running', 'hosted')
      and r.plan is null and sqlc.narg('plan') is not null
    returning r.*
)
select * from begun
union all
select * from recorded
union all
select * from planned
union all
select * from refused
union all
select * from stored where not exists (select from begun) and not exists (select from planned);

-- name: FindRun :one
select * from runs where tenant_id = @tenant_id and id = @id;

-- name: ListAncestors :many
-- A run and its ancestors, the run first.
with recursive line as (
    select r.id, r.agent_id, r.agent, r.detached, r.parent_run_id, 0 as above
    from runs r where r.tenant_id = @tenant_id and r.id = @id
    union all
    select r.id, r.agent_id, r.agent, r.detached, r.parent_run_id, l.above + 1
    from line l join runs r on r.tenant_id = @tenant_id and r.id = l.parent_run_id
    where l.above < @most::int
)
select l.id::uuid as id, l.agent_id, l.agent::text as agent, l.detached::boolean as detached from line l order by l.above;

-- name: ListRuns :many
-- The time of a run is in its id.
select * from runs
where tenant_id = @tenant_id
  and (sqlc.narg('before')::uuid is null or id < sqlc.narg('before'))
  and (@status::text = '' or status = @status)
  and (@kind::text = '' or kind = @kind)
  and (sqlc.narg('agent_id')::uuid is null or agent_id = sqlc.narg('agent_id'))
  and (@subject::text = '' or subject = @subject)
  and (@mode::text = '' or mode = @mode)
  and (sqlc.narg('parent_run_id')::uuid is null or parent_run_id = sqlc.narg('parent_run_id'))
  and (not @top::boolean or parent_run_id is null)
  and (not @paused::boolean or paused_at is not null and completed_at is null)
  and (sqlc.narg('since')::timestamptz is null or id >= uuid_floor(sqlc.narg('since')))
  and (sqlc.narg('until')::timestamptz is null or id < uuid_floor(sqlc.narg('until')))
order by id desc
limit sqlc.arg('limit')::int;

-- name: FinishRun :one
-- Ends a run once for each execution of its workflow: one that was reset after its end
-- runs, and ends, again. Its turns are then those of the later execution. An end that the
-- platform wrote (ended_by = '') is replaced by an execution's report, unless the run
-- never started and the execution only repeats its end. An execution that confirms the
-- status adds no second event. A run whose inbox has items stays open, where the end asks for
-- that.
with before as (
    select b.tenant_id, b.id, b.ended_by = '' and b.status = @status and @execution::text <> '' as confirmed
    from runs b
    where b.tenant_id = @tenant_id and b.id = @id
      and (b.status not in ('completed', 'failed', 'cancelled')
        or @execution::text <> '' and b.ended_by <> @execution
          and (b.ended_by <> '' or b.started_at is not null or b.status <> @status or b.error <> @error))
      and not (@unless_inbox::boolean and b.inbox > 0 and b.status = 'running')
    for update
), ended as (
    update runs r set status = @status, error_kind = @error_kind, error = @error,
        output = coalesce(nullif(@output::text, ''), (
            select string_agg(block.item ->> 'text', '' order by block.place)
            from messages m
            cross join json_array_elements(m.content) with ordinality as block (item, place)
            where m.tenant_id = r.tenant_id and m.run_id = r.id and m.role = 'assistant'
              and m.id = coalesce(sqlc.narg('head_message_id')::uuid, r.head_message_id)
              and block.item ->> 'type' = 'text'), ''),
        head_message_id = coalesce(sqlc.narg('head_message_id')::uuid, r.head_message_id),
        turns = case when @execution::text = '' then greatest(r.turns, @turns) else @turns end,
        calls = @calls, ended_by = @execution, completed_at = now(),
        last_seq = r.last_seq + case when b.confirmed then 0 else 1 end
    from before b
    where r.tenant_id = b.tenant_id and r.id = b.id
    returning r.tenant_id, r.id, r.last_seq, b.confirmed
), event as (
    insert into run_events (tenant_id, run_id, seq, type, data)
    select e.tenant_id, e.id, e.last_seq, @event_type, @event_data::json from ended e where not e.confirmed
)
select exists (select from ended) as ended,
       exists (select from runs r where r.tenant_id = @tenant_id and r.id = @id) as known,
       exists (select from runs r where r.tenant_id = @tenant_id and r.id = @id and r.inbox > 0 and r.status = 'running'
               and @unless_inbox::boolean) as has_inbox;

-- name: ListTurnCalls :many
-- The calls of a run's turns, in order, with the times of request and start. A turn that
-- was repeated after a reset counts with its last answer.
with turns as (
    select distinct on (m.turn) m.tenant_id, m.turn, m.prepared, m.created_at
    from messages m
    where m.tenant_id = @tenant_id and m.run_id = @run_id and m.role = 'assistant'
    order by m.turn, m.id desc
)
select t.turn, coalesce(c.item ->> 'slug', '')::text as slug, (c.item -> 'refused' is not null)::boolean as refused,
       t.created_at as asked_at, i.started_at
from turns t
cross join json_array_elements(t.prepared) with ordinality as c (item, place)
left join tool_invocations i on i.tenant_id = t.tenant_id and i.id = (c.item ->> 'invocation_id')::uuid
order by t.turn, c.place;

-- name: FollowRun :exec
-- Records until when the output of a running run has a follower. Followers of one run
-- share one write per half of that time.
update runs r set followed_until = now() + make_interval(secs => @lease_s::float8)
where r.tenant_id = @tenant_id and r.id = @run_id and r.status in ('pending', 'running', 'hosted')
  and (r.followed_until is null or r.followed_until < now() + make_interval(secs => @lease_s::float8) / 2);

-- name: RunSurroundings :many
-- Whether a run's output has followers, and its tenant budgets.
select coalesce(r.followed_until > now(), false)::boolean as followed,
       exists (select from budgets b where b.tenant_id = @tenant_id) as budgeted,
       coalesce(case when r.taint is not null then (select n.taint from tenants n where n.id = @tenant_id) end, '')::text as taint_rule
from runs r
where r.tenant_id = @tenant_id and r.id = @run_id;

-- name: FindCallEnd :one
-- How the run of a single call ended; its status alone while it has not. A failure is
-- explained by the call's effect and the pinned version's execution.
select r.status, r.ended_by, r.error_kind, r.error,
       coalesce(i.id::text, '')::text as invocation_id,
       coalesce(i.status, '')::text as call_status,
       i.output::json as output,
       coalesce(i.error_kind, '')::text as call_kind,
       coalesce(i.error, '')::text as call_error,
       coalesce(e.sent_before, false)::boolean as sent,
       (case when r.status = 'failed' then r.plan -> 'tools' -> 0 -> 'execution' end)::json as execution
from runs r
left join lateral (
    select c.* from tool_invocations c
    where c.tenant_id = @tenant_id and c.run_id = r.id and c.parent_id is null
      and r.status in ('completed', 'failed', 'cancelled')
    order by c.id desc limit 1
) i on true
left join effects e on e.tenant_id = @tenant_id and e.effect_id = i.effect_id and e.invocation_id = i.id
where r.tenant_id = @tenant_id and r.id = @id;
