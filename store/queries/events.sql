-- name: ListEvents :many
select * from run_events
where tenant_id = @tenant_id and run_id = @run_id and seq > @after
order by seq
limit sqlc.arg('limit')::int;

-- name: ListTenantEvents :many
-- Only rows of transactions older than every open one, so that a cursor never
-- passes a row that is still to appear.
select * from run_events
where tenant_id = @tenant_id
  and (xid > (@after_xid::text)::xid8 or (xid = (@after_xid::text)::xid8 and id > @after_id))
  and xid < pg_snapshot_xmin(pg_current_snapshot())
order by xid, id
limit sqlc.arg('limit')::int;

-- name: EventHorizon :one
select pg_snapshot_xmin(pg_current_snapshot())::text;

-- name: NotifyEvents :exec
select pg_notify('toolcrib_events', n.payload) from unnest(@payloads::text[]) as n (payload);
