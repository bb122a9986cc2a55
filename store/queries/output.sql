-- name: AppendOutput :one
-- The run's row is locked from its new number until the chunk is written, so that readers
-- by number skip nothing.
with numbered as (
    update runs r set last_seq = r.last_seq + 1
    where r.tenant_id = @tenant_id and r.id = @run_id
    returning r.last_seq
)
insert into run_output (tenant_id, run_id, seq, turn, attempt, call_id, text)
select @tenant_id, @run_id, n.last_seq, @turn, @attempt, sqlc.narg('call_id'), @text
from numbered n
returning seq;

-- name: ListStream :many
-- Events and output of a run in one order. One statement, because two would have two
-- snapshots, and the later one may have a number above one that the earlier lacks.
with events as (
    select e.seq, e.type, e.invocation_id, e.data, 0 as turn, 0 as attempt, null::text as call_id, ''::text as text, e.at
    from run_events e
    where e.tenant_id = @tenant_id and e.run_id = @run_id and e.seq > @after
    order by e.seq
    limit sqlc.arg('limit')::int
), output as (
    select o.seq, ''::text as type, null::uuid as invocation_id, null::json as data, o.turn, o.attempt, o.call_id, o.text, o.created_at as at
    from run_output o
    where o.tenant_id = @tenant_id and o.run_id = @run_id and o.seq > @after
    order by o.seq
    limit sqlc.arg('limit')::int
)
select * from events
union all
select * from output
order by seq
limit sqlc.arg('limit')::int;

-- name: RunProgress :many
select r.status, r.last_seq from runs r where r.tenant_id = @tenant_id and r.id = @run_id;
