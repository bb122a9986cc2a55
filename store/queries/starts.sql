-- name: LockAcceptance :exec
-- Serializes the acceptance of runs of one tenant until the transaction ends.
select pg_advisory_xact_lock(hashtextextended('accept:' || @tenant_id::text, 0));

-- name: AcceptRun :one
-- Records a pending run, its first message if it has one, and the start of its workflow.
-- Nothing is recorded where the tenant is within margin of its limit of unfinished runs: its
-- own, or else the bound, where 0 is no limit.
-- The messages of a run that it continues are copied, because messages belong to one run:
-- a run is deleted with its messages, and with no other's. It is tainted as that run is, or as it was asked to be.
with allowed as (
    select coalesce((select t.max_unfinished_runs from tenants t where t.id = @tenant_id), nullif(@bound::int, 0)) - @margin::int
        as most
), busy as (
    select count(*) as n from (
        select from runs r
        where r.tenant_id = @tenant_id and r.status in ('pending', 'running')
        limit (select greatest(coalesce(a.most, 0), 0) from allowed a)) unfinished
), run as (
    insert into runs (id, tenant_id, kind, agent_id, agent, agent_version, mode, subject, permissions, scopes,
                      status, input, workflow_id, head_message_id, followed_until, continues_run_id, continues_turn, taint, by_link,
                      tool)
    select @id, @tenant_id, @kind, sqlc.narg('agent_id'), @agent, @agent_version, @mode, @subject, @permissions, @scopes,
           'pending', @input, @workflow_id, sqlc.narg('message_id'),
           case when @follow_s::float8 > 0 then now() + make_interval(secs => @follow_s::float8) end,
           sqlc.narg('continues_run_id'), sqlc.narg('continues_turn'),
           coalesce((select c.taint || '{"turn": 0}' from runs c where c.tenant_id = @tenant_id and c.id = sqlc.narg('continues_run_id')),
               sqlc.narg('taint')::jsonb),
           @by_link::boolean, @tool
    from busy, allowed where allowed.most is null or busy.n < allowed.most
    returning *
), before as (
    insert into messages (id, tenant_id, run_id, parent_id, turn, position, role, content, calls, call_id, is_error, created_at)
    select m.id, m.tenant_id, r.id, m.parent_id, 0, m.position, m.role, m.content, m.calls, m.call_id, m.is_error, m.created_at
    from run r
    join messages m on m.tenant_id = r.tenant_id and m.run_id = r.continues_run_id and m.id = any(@taken_over::uuid[])
), first as (
    insert into messages (id, tenant_id, run_id, parent_id, turn, role, content)
    select r.head_message_id, r.tenant_id, r.id, sqlc.narg('parent_id'), 0, @role, @content
    from run r where r.head_message_id is not null
), start as (
    insert into workflow_starts (tenant_id, workflow_id, run_id, workflow, task_queue, summary, memo, agent, input, next_at)
    select r.tenant_id, r.workflow_id, r.id, @workflow, @task_queue, @summary, @memo, r.agent, @start_input,
           now() + make_interval(secs => @lease_s::float8)
    from run r
)
select * from run;

-- name: CountUnfinishedRuns :one
-- What AcceptRun compares: the tenant's limit, 0 for none, and how many runs it has.
select coalesce((select t.max_unfinished_runs from tenants t where t.id = @tenant_id), @bound::int)::int as most,
    (select count(*) from runs r where r.tenant_id = @tenant_id and r.status in ('pending', 'running')) as n;

-- name: AddStart :execrows
-- Records the start of a workflow that has no run.
insert into workflow_starts (tenant_id, workflow_id, workflow, task_queue, summary, memo, agent, input, next_at)
values (@tenant_id, @workflow_id, @workflow, @task_queue, @summary, @memo, @agent, @input, now() + make_interval(secs => @lease_s::float8))
on conflict (tenant_id, workflow_id) do nothing;

-- name: FindStart :one
-- A pending start, with the status of its run.
select s.*, coalesce(r.status, '')::text as run_status
from workflow_starts s
left join runs r on r.tenant_id = s.tenant_id and r.id = s.run_id
where s.tenant_id = @tenant_id and s.workflow_id = @workflow_id;

-- name: DeleteStart :execrows
delete from workflow_starts
where tenant_id = @tenant_id and workflow_id = @workflow_id and run_id is not distinct from sqlc.narg('run_id')::uuid;

-- name: PostponeStart :execrows
-- Only the attempt that holds the row updates it.
update workflow_starts set next_at = now() + make_interval(secs => @delay_s::float8), last_error = @last_error
where tenant_id = @tenant_id and workflow_id = @workflow_id and attempts = @attempts;

-- name: EndPendingRun :one
-- Ends a run that has not started, and deletes its start. With a fence, only for the
-- attempt that holds the start. The workflow id of a call can be used by another run
-- afterwards, so the first execution is marked as one that never existed.
with start as (
    delete from workflow_starts s
    using runs r
    where r.tenant_id = @tenant_id and r.id = @id
      and s.tenant_id = @tenant_id and s.workflow_id = r.workflow_id and s.run_id = r.id
      and (sqlc.narg('fence')::int is null or s.attempts = sqlc.narg('fence')::int)
    returning s.run_id
), ended as (
    update runs r set status = @status, error_kind = @error_kind, error = @error, completed_at = now(), last_seq = r.last_seq + 1,
        first_run_id = case when r.kind = 'agent' then r.first_run_id else 'unbegun:' || r.id end
    where r.tenant_id = @tenant_id and r.id = @id and r.status = 'pending'
      and (sqlc.narg('fence')::int is null or exists (select from start))
    returning r.tenant_id, r.id, r.last_seq
), event as (
    insert into run_events (tenant_id, run_id, seq, type, data)
    select e.tenant_id, e.id, e.last_seq, @event_type, @event_data::json from ended e
)
select exists (select from ended) as ended;

-- name: FindRunOfWorkflow :one
-- The latest run of a call under a workflow id.
select * from runs
where tenant_id = @tenant_id and workflow_id = @workflow_id and kind <> 'agent'
order by created_at desc
limit 1;

-- name: ClaimStarts :one
select claim_workflow_starts(@most::int, make_interval(secs => @lease_s::float8))::json as claimed;

-- name: CountStarts :one
select count_workflow_starts()::json as counted;

-- name: QueueDepths :one
-- Cross-tenant: what waits and runs, by tenant.
select queue_depths(@most::int)::json as depths;
