-- name: AddInboxItem :execrows
-- Puts something into the inbox of a run. A message is for a run that goes on; a result is
-- kept for the run that continues one that is over.
with run as (
    update runs r set inbox = r.inbox + 1
    where r.tenant_id = @tenant_id and r.id = @run_id and (@kind::text <> 'message' or r.status in ('pending', 'running'))
    returning r.tenant_id, r.id
)
insert into inbox_items (tenant_id, id, run_id, kind, content, call_id, author, space_id, from_seq, upto_seq, hops)
select r.tenant_id, @id, r.id, @kind, @content::json, sqlc.narg('call_id')::uuid, @author, sqlc.narg('space_id')::uuid,
    sqlc.narg('from_seq')::bigint, sqlc.narg('upto_seq')::bigint, sqlc.narg('hops')::int from run r;

-- name: FindInboxRun :one
-- The run that takes up what comes for a run: the nearest of it and the agents above it that
-- goes on, or else the outermost of them, which can be continued.
with recursive line as (
    select r.id, r.parent_run_id, r.kind, r.status, 0 as above
    from runs r
    where r.tenant_id = @tenant_id and r.id = @id
    union all
    select r.id, r.parent_run_id, r.kind, r.status, l.above + 1
    from line l
    join runs r on r.tenant_id = @tenant_id and r.id = l.parent_run_id
    where l.above < @most::int
)
select l.id::uuid as id from line l
where l.above = 0 or l.kind = 'agent'
order by case when l.status in ('pending', 'running') then l.above end nulls last, l.above desc
limit 1;

-- name: ListInbox :many
-- What no turn has taken up, in the order in which it came.
select * from inbox_items i
where i.tenant_id = @tenant_id and i.run_id = @run_id and i.message_id is null
order by i.created_at, i.id
limit sqlc.arg('limit')::int;

-- name: TakeInboxItems :exec
update inbox_items i set message_id = @message_id::uuid, taken_at = now()
where i.tenant_id = @tenant_id and i.id = any(@ids::uuid[]);

-- name: LockRunOfInbox :one
-- Locks a run that takes up its inbox, and returns its taint with the tenant's rule.
select r.taint, n.taint as taint_rule
from runs r join tenants n on n.id = r.tenant_id
where r.tenant_id = @tenant_id and r.id = @run_id
for no key update of r;

-- name: TaintByInbox :many
-- Taints a run that takes up what comes of an untrusted source: a late result of such a tool, of a tainted run or
-- of a visitor of a link, or messages in its space of tainted runs and of those that such a visitor began.
-- The calls of the turn that takes it up are affected. It returns the taint, if it is new.
with brought as (
    select coalesce(o.taint, jsonb_build_object(
            'run_id', i.run_id, 'invocation_id', i.id, 'tool', i.tool, 'version', i.version, 'at', now())
        || case when a.by_link then '{"source": "link"}'::jsonb else '{}' end) as taint
    from inbox_items x
    join tool_invocations i on i.tenant_id = @tenant_id and i.id = x.call_id
    join runs o on o.tenant_id = @tenant_id and o.id = i.run_id
    left join pending_tool_calls a on a.tenant_id = @tenant_id and a.id = x.call_id
    where x.tenant_id = @tenant_id and x.id = any(@ids::uuid[])
      and (o.taint is not null or a.by_link or exists (
          select from json_array_elements(o.plan -> 'tools') p (pin)
          where p.pin ->> 'slug' = i.tool and (p.pin ->> 'taints')::boolean))
    union all
    select coalesce(w.taint, taint_by_link(w.tenant_id, w.id))
    from inbox_items x
    join space_messages m on m.tenant_id = @tenant_id and m.space_id = x.space_id and m.seq between x.from_seq and x.upto_seq
    join runs w on w.tenant_id = @tenant_id and w.id = m.run_id and (w.taint is not null or w.by_link)
    where x.tenant_id = @tenant_id and x.id = any(@ids::uuid[])
    limit 1
), numbered as (
    update runs r set taint = b.taint || jsonb_build_object('turn', sqlc.arg('before')::int), last_seq = r.last_seq + 1
    from brought b
    where r.tenant_id = @tenant_id and r.id = @run_id and r.taint is null
    returning r.id, r.last_seq, r.taint
), said as (
    insert into run_events (tenant_id, run_id, seq, type, invocation_id, data)
    select @tenant_id, n.id, n.last_seq, 'run.tainted', nullif(n.taint ->> 'invocation_id', '')::uuid, n.taint::json
    from numbered n
)
select n.taint from numbered n;

-- name: AddInboxMessage :exec
-- What a turn took up, as a message after the head, which it becomes.
with message as (
    insert into messages (id, tenant_id, run_id, parent_id, turn, role, content)
    values (@id, @tenant_id, @run_id, @parent_id::uuid, @turn, 'user', @content::json)
    returning tenant_id, run_id, id, parent_id
), numbered as (
    update runs r set inbox = greatest(r.inbox - @taken::int, 0), last_seq = r.last_seq + 1,
        head_message_id = case when r.head_message_id is null or r.head_message_id = m.parent_id then m.id else r.head_message_id end
    from message m
    where r.tenant_id = m.tenant_id and r.id = m.run_id
    returning r.tenant_id, r.id, r.last_seq
)
insert into run_events (tenant_id, run_id, seq, type, data)
select n.tenant_id, n.id, n.last_seq, @event_type, @event_data::json from numbered n;

-- name: MoveInbox :exec
-- Gives what no turn of a run has taken up to the run that continues it.
with moved as (
    update inbox_items i set run_id = @to_run_id::uuid
    where i.tenant_id = @tenant_id and i.run_id = @from_run_id::uuid and i.message_id is null
    returning 1
), counted as (
    select count(*)::int as n from moved
)
update runs r set inbox = case when r.id = @to_run_id::uuid then r.inbox + c.n else 0 end
from counted c
where r.tenant_id = @tenant_id and r.id in (@from_run_id::uuid, @to_run_id::uuid) and c.n > 0;
