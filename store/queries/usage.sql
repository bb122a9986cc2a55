-- In these queries scope_id is the tenant's id, or the nil UUID for the platform's.

-- name: ReportUsage :many
-- What a tenant used on days in UTC, in the groups that are asked for: a group that is not is
-- empty. Calls of tools are no part of groups by model alone, nor turns of those by tool alone.
select (case when @by_day::boolean then to_char(u.day, 'YYYY-MM-DD') else '' end)::text as day,
       (case when @by_agent::boolean then u.agent_id::text else '' end)::text as agent_id,
       (case when @by_agent::boolean then coalesce(max(a.slug), '') else '' end)::text as agent,
       (case when @by_tool::boolean then u.tool else '' end)::text as tool,
       (case when @by_model::boolean then u.model else '' end)::text as model,
       sum(u.calls)::bigint as calls, sum(u.failed_calls)::bigint as failed_calls, sum(u.call_ms)::bigint as call_ms,
       sum(u.turns)::bigint as turns, sum(u.input_tokens)::bigint as input_tokens,
       sum(u.cached_input_tokens)::bigint as cached_input_tokens, sum(u.output_tokens)::bigint as output_tokens,
       sum(u.reasoning_tokens)::bigint as reasoning_tokens, sum(u.unpriced_turns)::bigint as unpriced_turns,
       least(sum(u.cost_micros), 9e18)::bigint as cost_micros
from usage_days u
left join agents a on a.tenant_id = u.tenant_id and a.id = u.agent_id
where u.tenant_id = @tenant_id and u.day between cast(@from_day::text as date) and cast(@to_day::text as date)
  and (not @by_tool or @by_model or u.turns = 0) and (not @by_model or @by_tool or u.calls = 0)
group by 1, 2, 4, 5
order by 1, 3, 4, 5, 2
limit sqlc.arg('limit')::int;

-- name: ListTurnCosts :many
-- The turns of a run, in the order in which they were made; those of other branches too.
select m.turn, coalesce(m.model, '')::text as model, coalesce(m.input_tokens, 0)::bigint as input_tokens,
       coalesce(m.cached_input_tokens, 0)::bigint as cached_input_tokens, coalesce(m.output_tokens, 0)::bigint as output_tokens,
       coalesce(m.reasoning_tokens, 0)::bigint as reasoning_tokens, m.cost_micros, m.created_at
from messages m
where m.tenant_id = @tenant_id and m.run_id = @run_id and m.role = 'assistant' and m.turn_key is not null
order by m.created_at, m.id;

-- name: SumRunCosts :one
-- Over a run and the runs below it: what their calls and their turns cost.
with recursive tree as (
    select r.id from runs r where r.tenant_id = @tenant_id and r.id = @run_id
    union all
    select c.id from tree p join runs c on c.tenant_id = @tenant_id and c.parent_run_id = p.id
), calls as (
    select count(*) as calls, count(*) filter (where i.status <> 'completed') as failed,
           coalesce(sum(extract(epoch from i.completed_at - i.started_at) * 1000), 0)::bigint as ms,
           least(coalesce(sum(i.cost_micros), 0), 9e18)::bigint as cost
    from tree t join tool_invocations i on i.tenant_id = @tenant_id and i.run_id = t.id
    where i.started_at is not null and i.completed_at is not null
), turns as (
    select count(*) as turns, coalesce(sum(m.input_tokens), 0)::bigint as input, coalesce(sum(m.cached_input_tokens), 0)::bigint as cached,
           coalesce(sum(m.output_tokens), 0)::bigint as output, coalesce(sum(m.reasoning_tokens), 0)::bigint as reasoning,
           count(*) filter (where m.cost_micros is null) as unpriced, least(coalesce(sum(m.cost_micros), 0), 9e18)::bigint as cost
    from tree t join messages m on m.tenant_id = @tenant_id and m.run_id = t.id
    where m.role = 'assistant' and m.turn_key is not null
)
select (select count(*) from tree)::bigint as runs, c.calls, c.failed as failed_calls, c.ms as call_ms, t.turns,
       t.input as input_tokens, t.cached as cached_input_tokens, t.output as output_tokens, t.reasoning as reasoning_tokens,
       t.unpriced as unpriced_turns, (c.cost + t.cost)::bigint as cost_micros
from calls c cross join turns t;

-- name: SetPrice :one
-- Replaces the price of the same thing from the same time on. No row is returned where the
-- tenant sees no such tool.
insert into prices as p (tenant_id, id, tool_id, tool_scope_id, version, model, valid_from, valid_until, call_micros, unit_pointer,
    unit_path, unit_micros, unit_estimate, input_micros, cached_micros, output_micros, reasoning_micros, changed_by)
select sqlc.narg('tenant_id')::uuid, @id, t.id, t.scope_id, @version, sqlc.narg('model')::text,
       coalesce(sqlc.narg('valid_from')::timestamptz, now()), sqlc.narg('valid_until')::timestamptz, sqlc.narg('call_micros')::bigint,
       sqlc.narg('unit_pointer')::text, sqlc.narg('unit_path')::text[], sqlc.narg('unit_micros')::bigint,
       @unit_estimate, sqlc.narg('input_micros')::bigint, sqlc.narg('cached_micros')::bigint, sqlc.narg('output_micros')::bigint,
       sqlc.narg('reasoning_micros')::bigint, @changed_by
from (select sqlc.narg('tool_id')::uuid as tool_id) asked
left join tool_registry t on t.scope_id in (@scope_id, '00000000-0000-0000-0000-000000000000') and t.id = asked.tool_id
                         and t.deleted_at is null
where asked.tool_id is null or t.id is not null
on conflict (scope_id, subject, version, valid_from) do update
    set valid_until = excluded.valid_until, call_micros = excluded.call_micros, unit_pointer = excluded.unit_pointer,
        unit_path = excluded.unit_path, unit_micros = excluded.unit_micros, unit_estimate = excluded.unit_estimate, input_micros = excluded.input_micros,
        cached_micros = excluded.cached_micros, output_micros = excluded.output_micros,
        reasoning_micros = excluded.reasoning_micros, changed_by = excluded.changed_by, changed_at = now()
returning p.*;

-- name: ListPrices :many
-- The tenant's and the platform's, newest first.
select sqlc.embed(p), coalesce(t.slug, '')::text as tool
from prices p
left join tool_registry t on t.scope_id in (@scope_id, '00000000-0000-0000-0000-000000000000')
                         and t.id = p.tool_id and t.scope_id = p.tool_scope_id and t.deleted_at is null
where p.scope_id in (@scope_id, '00000000-0000-0000-0000-000000000000')
  and (p.tool_id is null or t.id is not null)
  and (sqlc.narg('before')::uuid is null or p.id < sqlc.narg('before'))
order by p.id desc
limit sqlc.arg('limit')::int;

-- name: DeletePrice :one
delete from prices p where p.scope_id = @scope_id and p.id = @id
returning p.*;
