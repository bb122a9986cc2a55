-- name: TakeLease :one
-- Takes or renews a lease that is free or the holder's own. No row is returned while
-- another process holds it, or where it is bound to another scope. A lease longer than
-- the longest was taken while the clock was ahead.
insert into leases as l (name, holder, scope, expires_at)
values (@name, @holder, @scope, now() + make_interval(secs => @seconds::float8))
on conflict (name) do update
    set holder = excluded.holder, scope = excluded.scope, expires_at = excluded.expires_at,
        fence = l.fence + case when l.holder = excluded.holder and l.expires_at > now() then 0 else 1 end
    where (l.holder = excluded.holder or l.expires_at <= now() or l.expires_at > now() + interval '5 minutes') and (l.scope = excluded.scope or @adopt::boolean)
returning l.*, now()::timestamptz as read_at;

-- name: RenewLease :one
-- Renews a lease under its fence, and records a completed pass.
update leases l set expires_at = now() + make_interval(secs => @seconds::float8),
    passed_at = case when @passed::boolean then now() else l.passed_at end
where l.name = @name and l.holder = @holder and l.fence = @fence
returning l.*, now()::timestamptz as read_at;

-- name: ReleaseLease :exec
update leases set expires_at = now() where name = @name and holder = @holder and fence = @fence;

-- name: ReadLease :one
select l.*, now()::timestamptz as read_at from leases l where l.name = @name;

-- name: ListOpenRuns :many
-- Cross-tenant: the reconciler checks runs whose workflows may be over. Rows dated in the
-- future, here and below, were written while the clock was ahead, and are not recent.
select r.tenant_id, r.id, r.kind, r.status, r.workflow_id, r.first_run_id, r.created_at
from runs r
where r.completed_at is null and (r.tenant_id, r.id) > (@after_tenant::uuid, @after_id::uuid)
  and (r.created_at < now() - make_interval(secs => @grace::float8) or r.created_at > now() + interval '5 minutes')
order by r.tenant_id, r.id
limit sqlc.arg('limit')::int;

-- name: ListStrandedRuns :many
-- Cross-tenant: the reconciler finds ended runs with calls that have not ended.
select distinct r.tenant_id, r.id
from effects e
join tool_invocations i on i.tenant_id = e.tenant_id and i.id = e.invocation_id
join runs r on r.tenant_id = i.tenant_id and r.id = i.run_id
where e.phase <> 'done' and e.created_at >= @since
  and (r.completed_at < now() - make_interval(secs => @grace::float8) or r.completed_at > now() + interval '5 minutes')
  and (e.created_at < now() - make_interval(secs => @grace::float8) or e.created_at > now() + interval '5 minutes')
order by r.tenant_id, r.id
limit sqlc.arg('limit')::int;

-- name: ListOpenDocuments :many
-- Cross-tenant: the reconciler finds documents whose ingestion has stopped.
select d.tenant_id, d.id, d.pipeline_id, d.version
from documents d
where d.status in ('pending', 'ingesting') and (d.tenant_id, d.id) > (@after_tenant::uuid, @after_id::uuid)
  and (d.updated_at < now() - make_interval(secs => @grace::float8) or d.updated_at > now() + interval '5 minutes')
order by d.tenant_id, d.id
limit sqlc.arg('limit')::int;

-- name: ListOpenGenerations :many
-- Cross-tenant: the reconciler finds generations of embeddings that are not being built.
select p.tenant_id, p.id, p.next_generation
from pipelines p
where p.next_generation <> 0 and p.deleted_at is null and (p.tenant_id, p.id) > (@after_tenant::uuid, @after_id::uuid)
  and (p.updated_at < now() - make_interval(secs => @grace::float8) or p.updated_at > now() + interval '5 minutes')
order by p.tenant_id, p.id
limit sqlc.arg('limit')::int;

-- name: ListUnknownCalls :many
-- Cross-tenant: the calls that operators must check.
select e.tenant_id, e.invocation_id, e.created_at
from effects e
where e.phase = 'done' and e.status = 'unknown' and e.created_at >= @since
order by e.created_at desc
limit sqlc.arg('limit')::int;

-- name: CloseRun :one
-- Ends a run whose workflow is over and has not recorded its end, if the run has not
-- changed since it was checked. An end that the workflow reports later replaces this one:
-- see FinishRun.
with closed as (
    update runs r set status = @status, error_kind = @error_kind, error = @error,
        output = coalesce(nullif(@output::text, ''), r.output), ended_by = @ended_by, completed_at = now(), last_seq = r.last_seq + 1
    where r.tenant_id = @tenant_id and r.id = @id and r.status = @status_seen and r.last_seq = @seq_seen
    returning r.tenant_id, r.id, r.last_seq
), event as (
    insert into run_events (tenant_id, run_id, seq, type, data)
    select c.tenant_id, c.id, c.last_seq, @event_type, @event_data::json from closed c
)
select exists (select from closed) as closed;

-- name: ListOpenCalls :many
select i.* from tool_invocations i
where i.tenant_id = @tenant_id and i.run_id = @run_id and i.status in ('pending', 'approved', 'running', 'waiting')
order by i.id
limit sqlc.arg('limit')::int;

-- name: ListKnownWorkflows :many
-- Those workflows that have runs; workflows of agents are looked up by the run's id.
select r.workflow_id from runs r
where r.tenant_id = @tenant_id and (r.id = any (@ids::uuid[]) or r.kind <> 'agent' and r.workflow_id = any (@workflow_ids::text[]));

-- name: FindEffect :one
select e.effect_id, e.phase, e.arguments_digest, e.version_digest, e.sent_before, e.attempt
from effects e where e.tenant_id = @tenant_id and e.effect_id = @effect_id;
