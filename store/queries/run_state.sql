-- name: ReadState :one
-- A value as an attempt of a call sees it: as it was before the call, where another attempt of
-- it made the last change.
select case when s.effect_id = @effect_id and s.fence <> @fence then s.before_value else s.value end::json as value,
       (case when s.effect_id = @effect_id and s.fence <> @fence then s.before_revision else s.revision end)::bigint as revision
from run_state s
where s.tenant_id = @tenant_id and s.run_id = @run_id and s.key = @key;

-- name: LockState :exec
-- Serializes the changes of a run's state, for its size.
select pg_advisory_xact_lock(hashtextextended('run_state/' || @run_id::text, 0));

-- name: WriteState :one
-- Changes a value for the latest attempt of a call that runs. The lock on the effect keeps
-- another attempt from being admitted before the change is there.
with call as (
    select e.effect_id from effects e
    where e.tenant_id = @tenant_id and e.effect_id = @effect_id and e.fence = @fence and e.phase in ('admitted', 'sent')
    for share
), seen as (
    select case when s.effect_id = @effect_id and s.fence <> @fence then s.before_revision else s.revision end as revision
    from run_state s
    where s.tenant_id = @tenant_id and s.run_id = @run_id and s.key = @key
), others as (
    select count(*) as keys, coalesce(sum(octet_length(s.value::text)), 0) as bytes
    from run_state s
    where s.tenant_id = @tenant_id and s.run_id = @run_id and s.key <> @key
), verdict as (
    select case
               when not exists (select from call) then 'stale'
               when coalesce((select s.revision from seen s), 0) <> coalesce(sqlc.narg('expected')::bigint, coalesce((select s.revision from seen s), 0))
                   then 'changed'
               when o.keys >= @max_keys::int then 'keys'
               when o.bytes + coalesce(octet_length(sqlc.narg('value')::json::text), 0) > @max_bytes::int then 'bytes'
               else 'ok'
           end as verdict
    from others o
), written as (
    insert into run_state as s (tenant_id, run_id, key, value, revision, effect_id, fence)
    select @tenant_id, @run_id, @key, sqlc.narg('value')::json, 1, @effect_id, @fence
    from verdict v
    where v.verdict = 'ok'
    on conflict (tenant_id, run_id, key) do update
        set value = excluded.value, revision = s.revision + 1, effect_id = excluded.effect_id, fence = excluded.fence,
            before_value = case when s.effect_id = excluded.effect_id then s.before_value else s.value end,
            before_revision = case when s.effect_id = excluded.effect_id then s.before_revision else s.revision end
    returning s.revision
)
select v.verdict::text as verdict, coalesce((select w.revision from written w), 0)::bigint as revision
from verdict v;
