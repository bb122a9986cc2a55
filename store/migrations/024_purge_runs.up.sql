-- Deletes at most so many runs that ended before a time, whosever they are, with
-- their messages, events, output, calls and the effects of those, and returns how
-- many it deleted. A run goes after the runs it asked for: those that have some
-- left wait for a later batch. A run of a host's workflow has no end of its own;
-- its last event counts as one.
create function purge_runs(ended_before timestamptz, most integer) returns integer
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

do $$
begin
    execute format('alter function purge_runs(timestamptz, integer) set search_path = %I, pg_temp', current_schema());
end
$$;

revoke all on function purge_runs(timestamptz, integer) from public;
grant execute on function purge_runs(timestamptz, integer) to toolcrib_maintenance;
