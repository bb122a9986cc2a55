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

-- name: ListCancelRequests :many
select r.id, r.cancel_execution from runs r
where r.tenant_id = @tenant_id and r.id = any (@ids::uuid[]) and r.cancel_requested_at is not null;
