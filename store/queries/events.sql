-- name: ListEvents :many
select e.run_id, e.seq, e.type, e.invocation_id, e.data, e.at from run_events e
where e.tenant_id = @tenant_id and e.run_id = @run_id and e.seq > @after
order by e.seq
limit sqlc.arg('limit')::int;

-- name: SealEvents :one
select seal_events(@tenant_id::uuid, @most::int)::int as sealed;

-- name: ListTenantEvents :many
select s.seq as place, e.run_id, e.seq, e.type, e.invocation_id, e.data, e.at
from event_seals s
join run_events e on e.tenant_id = s.tenant_id and e.run_id = s.run_id and e.seq = s.run_seq
where s.tenant_id = @tenant_id and s.seq > @after
order by s.seq
limit sqlc.arg('limit')::int;

-- name: EventHead :many
-- The last number of a tenant's stream; no row before its first event.
select h.last_seq from tenant_event_heads h where h.tenant_id = @tenant_id;

-- name: NotifyEvents :exec
select pg_notify('toolcrib_events', n.payload) from unnest(@payloads::text[]) as n (payload);

-- name: RecordModelRetry :many
-- Adds an event for a model's failed attempt to a running run, once for each attempt of a
-- turn and each fallback within it.
with numbered as (
    update runs r set last_seq = r.last_seq + 1
    where r.tenant_id = @tenant_id and r.id = @run_id and r.status in ('pending', 'running')
      and not exists (
          select from run_events e
          where e.tenant_id = @tenant_id and e.run_id = @run_id and e.type = 'model.retrying'
            and e.data ->> 'turn_id' = @turn_id::text and (e.data ->> 'attempt')::int = @attempt::int
            and coalesce(e.data ->> 'next_model', '') = @next_model::text)
    returning r.last_seq
)
insert into run_events (tenant_id, run_id, seq, type, data)
select @tenant_id, @run_id, n.last_seq, 'model.retrying', @data::json
from numbered n
returning seq;

-- name: RecordWarning :many
-- Adds a warning of a tool to a running run, once for each tool and reason.
with numbered as (
    update runs r set last_seq = r.last_seq + 1
    where r.tenant_id = @tenant_id and r.id = @run_id and r.status in ('pending', 'running')
      and not exists (
          select from run_events e
          where e.tenant_id = @tenant_id and e.run_id = @run_id and e.type = 'tool.warning'
            and e.data ->> 'tool' = @tool::text and e.data ->> 'reason' = @reason::text)
    returning r.last_seq
)
insert into run_events (tenant_id, run_id, seq, type, data)
select @tenant_id, @run_id, n.last_seq, 'tool.warning', @data::json
from numbered n
returning seq;

-- name: ListModelRetries :many
-- The last failed attempts of a run's models, the newest first.
select e.data, e.at from run_events e
where e.tenant_id = @tenant_id and e.run_id = @run_id and e.type = 'model.retrying'
order by e.seq desc
limit sqlc.arg('limit')::int;

-- name: ListCallEvents :many
-- The events of one call, without its output.
select e.run_id, e.seq, e.type, e.invocation_id, e.data, e.at from run_events e
where e.tenant_id = @tenant_id and e.run_id = @run_id and e.invocation_id = @invocation_id::uuid
  and e.type not like '%.output\_appended'
order by e.seq
limit sqlc.arg('limit')::int;
