-- name: RequestCancel :one
-- Records that an execution of a run's workflow is to stop, and notifies the workers at
-- once. The notification is part of the transaction, which requests are rare enough for.
with requested as (
    update runs r set cancel_requested_at = now(), cancel_execution = @execution
    where r.tenant_id = @tenant_id and r.id = @id and r.status in ('pending', 'running')
    returning r.id
), notified as (
    select pg_notify('toolcrib_control', @tenant_id::uuid || ' ' || q.id) from requested q
)
select count(*) > 0 as requested from notified;

-- name: ListRequests :many
-- Runs whose cancellation was requested, or that were paused at least once.
select r.id, r.cancel_execution, r.pause_round from runs r
where r.tenant_id = @tenant_id and r.id = any (@ids::uuid[]) and (r.cancel_requested_at is not null or r.pause_round > 0);

-- name: PauseRun :one
select pause_run(@tenant_id, @id, @pause, @by::text, @reason::text, make_interval(secs => @lease_s::float8))::json as paused;

-- name: ClaimPauses :one
select claim_pauses(@most::int, make_interval(secs => @lease_s::float8))::json as claimed;

-- name: PauseDelivered :exec
-- Unless the run was paused or resumed since.
update runs r set pause_due = null
where r.tenant_id = @tenant_id and r.id = @id and r.pause_round = @round;
