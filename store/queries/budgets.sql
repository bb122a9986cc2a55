-- name: SetBudget :one
-- Replaces the budget with the same name, of the tenant or of the platform for it. What was spent
-- of it stays. No row is returned where the tenant has no such agent, tool or profile.
insert into budgets as b (tenant_id, id, name, by_platform, agent_id, tool_id, tool_scope_id, profile_id, period, limit_micros, changed_by)
select @tenant_id, @id, @name, @by_platform::boolean, g.id, t.id, t.scope_id, p.id, @period, @limit_micros, @changed_by
from (select sqlc.narg('agent_id')::uuid as agent_id, sqlc.narg('tool_id')::uuid as tool_id, sqlc.narg('profile_id')::uuid as profile_id) asked
left join agents g on g.tenant_id = @tenant_id and g.id = asked.agent_id
left join tool_registry t on t.scope_id in (@tenant_id, '00000000-0000-0000-0000-000000000000') and t.id = asked.tool_id
                         and t.deleted_at is null
left join profiles p on p.tenant_id = @tenant_id and p.id = asked.profile_id
where (asked.agent_id is null or g.id is not null) and (asked.tool_id is null or t.id is not null)
  and (asked.profile_id is null or p.id is not null)
on conflict (tenant_id, by_platform, name) do update
    set agent_id = excluded.agent_id, tool_id = excluded.tool_id, tool_scope_id = excluded.tool_scope_id,
        profile_id = excluded.profile_id, period = excluded.period,
        limit_micros = excluded.limit_micros, changed_by = excluded.changed_by, changed_at = now()
returning b.*;

-- name: ListBudgets :many
-- Those of the tenant and of the platform for it, by name, with what is spent and reserved of them
-- now: of budgets of runs, by the run that used most of it, of those that are open and the last hundred.
select sqlc.embed(b), coalesce(g.slug, '')::text as agent, coalesce(t.slug, '')::text as tool, coalesce(p.name, '')::text as profile,
       coalesce(w.spent_micros, 0)::bigint as spent_micros, coalesce(w.held, 0)::bigint as reserved_micros,
       now()::timestamptz as at
from budgets b
left join agents g on g.tenant_id = b.tenant_id and g.id = b.agent_id
left join tool_registry t on t.scope_id in (@tenant_id, '00000000-0000-0000-0000-000000000000') and t.id = b.tool_id
left join profiles p on p.tenant_id = b.tenant_id and p.id = b.profile_id
left join lateral (
    select w.spent_micros, coalesce((
        select sum(h.micros) from budget_holds h
        where h.tenant_id = @tenant_id and h.budget_id = b.id and h.span = w.span and not (
            h.turn_of is not null and exists (
                select from runs r where r.tenant_id = @tenant_id and r.id = h.turn_of and r.completed_at is not null))), 0) as held
    from (
        select w.* from budget_windows w
        where b.period <> 'run' and w.tenant_id = @tenant_id and w.budget_id = b.id
          and w.span = case b.period when 'day' then to_char(now() at time zone 'UTC', 'YYYY-MM-DD')
                           when 'month' then to_char(now() at time zone 'UTC', 'YYYY-MM') end
        union all
        select w.* from (
            select r.id from runs r where r.tenant_id = @tenant_id and r.completed_at is null
            union
            (select r.id from runs r where r.tenant_id = @tenant_id order by r.id desc limit 100)
        ) r
        join budget_windows w on w.tenant_id = @tenant_id and w.budget_id = b.id and w.run_id = r.id
        where b.period = 'run'
    ) w
    order by w.spent_micros desc, w.span desc
    limit 1
) w on true
where b.tenant_id = @tenant_id
  and (sqlc.narg('name')::text is null or b.name = sqlc.narg('name'))
  and (b.name, b.by_platform) > (@after::text, @after_platform::boolean)
order by b.name, b.by_platform
limit sqlc.arg('limit')::int;

-- name: BudgetsOfCall :many
-- The budgets that a call counts in, as reserve_budgets finds them, with what is spent and reserved of
-- each now, and with what the call reserves in it: -1 where it has no price.
with recursive line as (
    select r.id, r.agent_id, r.parent_run_id, 0 as above from runs r where r.tenant_id = @tenant_id and r.id = sqlc.narg('run_id')::uuid
    union all
    select r.id, r.agent_id, r.parent_run_id, l.above + 1
    from line l join runs r on r.tenant_id = @tenant_id and r.id = l.parent_run_id
    where l.above < 100
), within as (
    select l.id, coalesce(l.agent_id, case when l.above = 0 then sqlc.narg('agent_id')::uuid end) as agent_id,
           l.above = (select max(x.above) from line x) as outermost
    from line l
    union all
    select null, sqlc.narg('agent_id')::uuid, true where not exists (select from line)
), applies as (
    select distinct b.id,
           case b.period when 'day' then to_char(now() at time zone 'UTC', 'YYYY-MM-DD')
               when 'month' then to_char(now() at time zone 'UTC', 'YYYY-MM') else coalesce(w.id::text, '') end as span
    from budgets b
    join within w on b.agent_id is null or b.agent_id = w.agent_id
    where b.tenant_id = @tenant_id and (b.tool_id is null or b.tool_id = @tool_id)
      and (b.profile_id is null or exists (
          select from tool_assignments x
          where x.tenant_id = @tenant_id and x.tool_id = @tool_id and x.profile_id = b.profile_id
            and (x.agent_id is null or x.agent_id = sqlc.narg('agent_id')::uuid)))
      and (b.period <> 'run' or b.agent_id is not null or w.outermost)
)
select sqlc.embed(b), coalesce(g.slug, '')::text as agent, coalesce(t.slug, '')::text as tool, coalesce(p.name, '')::text as profile,
       coalesce(w.spent_micros, 0)::bigint as spent_micros,
       coalesce((
           select sum(h.micros) from budget_holds h
           where h.tenant_id = @tenant_id and h.budget_id = a.id and h.span = a.span and not (
               h.turn_of is not null and exists (
                   select from runs r where r.tenant_id = @tenant_id and r.id = h.turn_of and r.completed_at is not null))), 0)::bigint as reserved_micros,
       coalesce(reserved_call(@tenant_id, b.by_platform, @tool_id, @version::text), -1)::bigint as price_micros,
       now()::timestamptz as at
from applies a
join budgets b on b.tenant_id = @tenant_id and b.id = a.id
left join budget_windows w on w.tenant_id = @tenant_id and w.budget_id = a.id and w.span = a.span
left join agents g on g.tenant_id = b.tenant_id and g.id = b.agent_id
left join tool_registry t on t.scope_id in (@tenant_id, '00000000-0000-0000-0000-000000000000') and t.id = b.tool_id
left join profiles p on p.tenant_id = b.tenant_id and p.id = b.profile_id
order by b.by_platform desc, b.name, a.span;

-- name: DeleteBudget :one
-- Nothing of the tenant is reserved or spent meanwhile.
with locked as materialized (select lock_budgets(@tenant_id))
delete from budgets b using locked l
where b.tenant_id = @tenant_id and b.by_platform = @by_platform and b.name = @name
returning b.*;

-- name: ReserveTurn :one
-- Reserves for a turn what it is expected to cost with the dearest of the models that may answer.
select reserve_budgets(@tenant_id, r.id::text || '/' || @turn_key::text, r.id, null, r.id, r.agent_id, null, c.micros, c.platform_micros)::json
    as refused
from runs r
cross join lateral (
    select max(priced_tokens(@tenant_id, false, m.model, @input_tokens::bigint, 0, @output_tokens::bigint, 0)) as micros,
           max(priced_tokens(@tenant_id, true, m.model, @input_tokens::bigint, 0, @output_tokens::bigint, 0)) as platform_micros
    from unnest(@models::text[]) as m (model)
) c
where r.tenant_id = @tenant_id and r.id = @run_id;

-- name: ReleaseCall :exec
-- Takes back what a call reserved that waits for an approval again.
delete from budget_holds h where h.tenant_id = @tenant_id and h.holder = sqlc.arg('invocation_id')::text;

-- name: CountRefused :exec
-- Counts and spends what a turn used that is not stored.
select count_refused_turn(@tenant_id, @run_id, @turn_key, @model, @input_tokens, @cached_tokens, @output_tokens, @reasoning_tokens);
