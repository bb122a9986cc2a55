create or replace function purge_runs(ended_before timestamptz, most integer) returns integer
    language plpgsql security definer as $$
declare
    tenant uuid;
    gone uuid[];
    purged integer := 0;
begin
    for tenant in select t.id from tenants t order by t.id loop
        perform set_config('app.tenant_id', tenant::text, true);
        gone := array(
            select r.id from runs r
            where r.tenant_id = tenant and r.id < uuid_floor(ended_before)
              and (r.status in ('completed', 'failed', 'cancelled') and r.completed_at < ended_before
                or r.status = 'hosted' and not exists (
                    select from run_events e where e.tenant_id = tenant and e.run_id = r.id and e.at >= ended_before))
              and not exists (select from runs c where c.tenant_id = tenant and c.parent_run_id = r.id)
            order by r.id
            limit most - purged
            for update skip locked);
        delete from effects e using tool_invocations i
        where i.tenant_id = tenant and i.run_id = any (gone) and e.tenant_id = tenant and e.effect_id = i.effect_id;
        delete from runs r where r.tenant_id = tenant and r.id = any (gone);
        purged := purged + cardinality(gone);
        exit when purged >= most;
    end loop;
    perform set_config('app.tenant_id', '', true);
    return purged;
end
$$;

create or replace function sweep_webhook_deliveries(most integer) returns integer
    language sql security definer as $$
    with gone as (
        delete from webhook_deliveries d using (
            select o.tenant_id, o.id from webhook_deliveries o
            where o.created_at < now() - interval '30 days'
            order by o.created_at
            limit most) old
        where d.tenant_id = old.tenant_id and d.id = old.id
        returning 1
    )
    select count(*)::integer from gone
$$;

create or replace function sweep_schedule_starts(most integer) returns integer
    language sql security definer as $$
    with gone as (
        delete from schedule_starts d using (
            select o.tenant_id, o.id from schedule_starts o
            where o.created_at < now() - interval '30 days'
            order by o.created_at
            limit most) old
        where d.tenant_id = old.tenant_id and d.id = old.id
        returning 1
    )
    select count(*)::integer from gone
$$;

do $$
declare
    name text;
begin
    foreach name in array array['purge_runs(timestamptz, integer)', 'sweep_webhook_deliveries(integer)',
        'sweep_schedule_starts(integer)']
    loop
        execute format('alter function %s set search_path = %I, pg_temp', name, current_schema());
    end loop;
end
$$;

drop function drop_empty_partitions();
drop function retention_state(uuid, boolean);
drop function sweep_retention(text, uuid, integer, integer);
drop function purge_tenant_runs(uuid, timestamptz, integer);
drop function retention_rows(text);
drop function retention_before(uuid, text);
drop policy left_delete on effects;
drop policy left_read on effects;
alter table effects drop column run_gone_at;
drop table retention_rules;
