-- What a tenant sees of itself at a glance. Every count stops at a limit, so that each query reads a bounded part of
-- an index.

-- name: CountWaiting :one
select (select count(*) from (
           select from approvals a where a.tenant_id = @tenant_id and a.status = 'pending' limit @most::int) x)::bigint as approvals,
       (select count(*) from (
           select from pending_tool_calls p
           where p.tenant_id = @tenant_id and p.status in ('waiting', 'pending') and p.implementation_type <> 'input'
           limit @most::int) x)::bigint as calls,
       (select count(*) from (
           select from pending_tool_calls p
           where p.tenant_id = @tenant_id and p.status in ('waiting', 'pending') and p.implementation_type = 'input'
           limit @most::int) x)::bigint as inputs,
       (select count(*) from (
           select from mcp_remote_tools m
           join tool_registry t on t.scope_id = m.tenant_id and t.id = m.tool_id
           where m.tenant_id = @tenant_id and m.tool_id is not null and t.quarantine <> '' and t.deleted_at is null
           limit @most::int) x)::bigint as quarantined,
       (select count(*) from (
           select from runs r where r.tenant_id = @tenant_id and r.completed_at is null and r.paused_at is not null
           limit @most::int) x)::bigint as paused_runs,
       (select count(*) from (
           select from tool_overrides o where o.scope_id = @tenant_id and not o.enabled limit @most::int) x)::bigint as switched_off,
       (select count(*) from (
           select from webhooks w where w.tenant_id = @tenant_id and (w.disabled_at is not null or w.failing_since is not null)
           limit @most::int) x)::bigint as failing_webhooks,
       (select count(*) from (
           select from schedules s where s.tenant_id = @tenant_id and s.paused and s.deleted_at is null
           limit @most::int) x)::bigint as paused_schedules,
       (select count(*) from (
           select t.id from tool_registry t where t.scope_id = @tenant_id and t.deleted_at is null order by t.slug limit 1) x)::bigint as tools,
       (select count(*) from (select r.id from runs r where r.tenant_id = @tenant_id order by r.id limit 1) x)::bigint as runs;

-- name: CountRuns :many
-- Runs of each status that began since a time.
select s.status::text as status, (
    select count(*) from (
        select from runs r where r.tenant_id = @tenant_id and r.status = s.status and r.id >= uuid_floor(@since::timestamptz)
        limit @most::int) x)::bigint as runs
from unnest(@statuses::text[]) with ordinality s (status, place)
order by s.place;

-- name: CountCallsByHour :many
-- Calls that began in each hour, and those of them that failed.
select h.hour::timestamptz as hour, (
    select count(*) from (
        select from tool_invocations i
        where i.tenant_id = @tenant_id and i.id >= uuid_floor(h.hour) and i.id < uuid_floor(h.hour + interval '1 hour')
        limit @most::int) x)::bigint as calls, (
    select count(*) from (
        select from tool_invocations i
        where i.tenant_id = @tenant_id and i.failed_status in ('failed', 'expired', 'unknown')
          and i.id >= uuid_floor(h.hour) and i.id < uuid_floor(h.hour + interval '1 hour')
        limit @most::int) x)::bigint as failed
from generate_series(@from_hour::timestamptz, @to_hour::timestamptz, interval '1 hour') h (hour)
order by h.hour;

-- name: ListFailingTools :many
-- Of the last failures since a time, the tools that have most of them.
select f.tool, count(*)::bigint as failures, (array_agg(f.error_kind order by f.id desc))[1]::text as kind,
       (array_agg(f.id order by f.id desc))[1]::uuid as last_id, (sum(count(*)) over ())::bigint as total
from (
    select i.id, i.tool, i.error_kind from tool_invocations i
    where i.tenant_id = @tenant_id and i.failed_status in ('failed', 'expired', 'unknown')
      and i.id >= uuid_floor(@since::timestamptz)
    limit @most::int
) f
group by f.tool
order by failures desc, f.tool
limit sqlc.arg('limit')::int;

-- name: SumSpend :one
-- What was used on a day in UTC.
select coalesce(sum(u.calls), 0)::bigint as calls, coalesce(sum(u.turns), 0)::bigint as turns,
       least(coalesce(sum(u.cost_micros), 0), 9e18)::bigint as cost_micros, coalesce(sum(u.unpriced_turns), 0)::bigint as unpriced_turns
from usage_days u
where u.tenant_id = @tenant_id and u.day = cast(@day::text as date);

-- name: SearchNames :many
-- What has all words in its names, of the kinds that are asked for, the best match first: the name itself, then what
-- begins with the text, then what has it anywhere. Tools are those that callers with the permissions may know of; who
-- manages the tenant's knows of them all.
with words as (
    select array(select lower(w) from unnest(@words::text[]) w) as all_of, lower(@text::text) as whole
), named as (
    (select 'tool'::text as kind, r.id::text as id, r.slug as name, r.name as title, r.status as state from tool_registry r, words w
     where 'tool' = any (@kinds::text[]) and r.scope_id in (@tenant_id, '00000000-0000-0000-0000-000000000000')
       and r.deleted_at is null and r.archived_at is null
       and (r.required_permission = '' or r.required_permission = any (@permissions::text[]) or '*' = any (@permissions)
            or @manages::boolean and r.tenant_id is not null)
       and (@manages or r.interaction ->> 'visibility' is distinct from 'internal')
       and not exists (select from unnest(w.all_of) x where strpos(lower(r.slug || ' ' || r.name), x) = 0)
     order by lower(r.slug) <> w.whole, not starts_with(lower(r.slug), w.whole), r.slug limit @most::int)
    union all
    (select 'agent', a.id::text, a.slug, a.name, a.status from agents a, words w
     where 'agent' = any (@kinds) and a.tenant_id = @tenant_id
       and not exists (select from unnest(w.all_of) x where strpos(lower(a.slug || ' ' || a.name), x) = 0)
     order by a.slug limit @most)
    union all
    (select 'pipeline', p.id::text, p.slug, p.name, '' from pipelines p, words w
     where 'pipeline' = any (@kinds) and p.tenant_id = @tenant_id and p.deleted_at is null
       and not exists (select from unnest(w.all_of) x where strpos(lower(p.slug || ' ' || p.name), x) = 0)
     order by p.slug limit @most)
    union all
    (select 'space', s.id::text, s.slug, s.name, '' from spaces s, words w
     where 'space' = any (@kinds) and s.tenant_id = @tenant_id and s.archived_at is null
       and (@member::text = '' or exists (
           select from space_members m
           where m.tenant_id = s.tenant_id and m.space_id = s.id and m.kind = 'person' and m.name = @member))
       and not exists (select from unnest(w.all_of) x where strpos(lower(s.slug || ' ' || s.name), x) = 0)
     order by s.slug limit @most)
    union all
    (select 'credential', c.id::text, c.ref, '', '' from credentials c, words w
     where 'credential' = any (@kinds) and c.tenant_id = @tenant_id and c.revoked_at is null
       and not exists (select from unnest(w.all_of) x where strpos(lower(c.ref), x) = 0)
     order by c.ref limit @most)
    union all
    (select 'key', k.id::text, k.name, '', case when k.expires_at <= now() then 'expired' else '' end from api_keys k, words w
     where 'key' = any (@kinds) and k.tenant_id = @tenant_id and k.revoked_at is null
       and not exists (select from unnest(w.all_of) x where strpos(lower(k.name), x) = 0)
     order by k.name limit @most)
    union all
    (select 'toolset', t.id::text, t.slug, t.name, '' from toolsets t, words w
     where 'toolset' = any (@kinds) and t.tenant_id = @tenant_id
       and not exists (select from unnest(w.all_of) x where strpos(lower(t.slug || ' ' || t.name), x) = 0)
     order by t.slug limit @most)
    union all
    (select 'schedule', s.id::text, s.name, '', case when s.paused then 'paused' else '' end from schedules s, words w
     where 'schedule' = any (@kinds) and s.tenant_id = @tenant_id and s.deleted_at is null
       and not exists (select from unnest(w.all_of) x where strpos(lower(s.name), x) = 0)
     order by s.name limit @most)
    union all
    (select 'mcp_server', m.id::text, m.slug, m.name, m.status from mcp_servers m, words w
     where 'mcp_server' = any (@kinds) and m.tenant_id = @tenant_id
       and not exists (select from unnest(w.all_of) x where strpos(lower(m.slug || ' ' || m.name), x) = 0)
     order by m.slug limit @most)
    union all
    (select 'profile', p.id::text, p.name, '', '' from profiles p, words w
     where 'profile' = any (@kinds) and p.tenant_id = @tenant_id
       and not exists (select from unnest(w.all_of) x where strpos(lower(p.name), x) = 0)
     order by p.name limit @most)
    union all
    (select 'role', o.id::text, o.name, '', '' from roles o, words w
     where 'role' = any (@kinds) and o.tenant_id = @tenant_id
       and not exists (select from unnest(w.all_of) x where strpos(lower(o.name), x) = 0)
     order by o.name limit @most)
    union all
    (select 'budget', b.id::text, b.name, '', '' from budgets b, words w
     where 'budget' = any (@kinds) and b.tenant_id = @tenant_id
       and not exists (select from unnest(w.all_of) x where strpos(lower(b.name), x) = 0)
     order by b.name limit @most)
    union all
    (select 'webhook', h.id::text, h.url, '', case when h.active then '' else 'disabled' end from webhooks h, words w
     where 'webhook' = any (@kinds) and h.tenant_id = @tenant_id
       and not exists (select from unnest(w.all_of) x where strpos(lower(h.url), x) = 0)
     order by h.id limit @most)
    union all
    (select 'tool_session', e.id::text, e.name, e.tool, e.status from tool_sessions e, words w
     where 'tool_session' = any (@kinds) and e.tenant_id = @tenant_id
       and not exists (select from unnest(w.all_of) x where strpos(lower(e.tool || ' ' || e.name), x) = 0)
     order by e.id desc limit @most)
    union all
    (select 'view', v.id::text, v.name, v.tool, case when v.revoked_at is not null then 'revoked'
         when v.expires_at <= now() then 'expired' else '' end from published_views v, words w
     where 'view' = any (@kinds) and v.tenant_id = @tenant_id
       and not exists (select from unnest(w.all_of) x where strpos(lower(v.tool || ' ' || v.name), x) = 0)
     order by v.id desc limit @most)
)
select n.kind, n.id, n.name, n.title, n.state
from named n, words w
order by lower(n.name) <> w.whole, not starts_with(lower(n.name), w.whole), not starts_with(lower(n.title), w.whole),
         strpos(lower(n.name), w.whole) = 0, n.name, n.kind
limit sqlc.arg('limit')::int;
