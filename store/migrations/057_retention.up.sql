-- How long ended records are kept: a rule for each class of records, and for single tenants in
-- its place. Effects that changed something outside outlive their runs, so that their calls are
-- not repeated.

create table retention_rules (
    tenant_id  uuid references tenants on delete cascade, -- null for all tenants
    scope_id   uuid not null generated always as (coalesce(tenant_id, '00000000-0000-0000-0000-000000000000'::uuid)) stored,
    class      text not null check (class in ('runs', 'effects', 'deliveries', 'dead_letters', 'schedule_starts',
                                              'space_messages', 'files', 'notes')),
    keep_days  integer check (keep_days > 0 and keep_days <= 36500), -- null for ever
    updated_at timestamptz not null default now(),
    primary key (scope_id, class),
    check (class <> 'effects' or keep_days >= 30)
);

comment on table retention_rules is 'How many days ended records are kept, by class.';

insert into retention_rules (class, keep_days) values
    ('runs', 90), ('effects', 400), ('deliveries', 30), ('dead_letters', 30), ('schedule_starts', 30),
    ('space_messages', null), ('files', null), ('notes', null);

alter table retention_rules enable row level security;
alter table retention_rules force row level security;

create policy tenant_isolation on retention_rules for select
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid or tenant_id is null);
create policy owner_all on retention_rules to toolcrib_owner using (true) with check (true);

grant select on retention_rules to toolcrib_app;

-- When the run of an effect was deleted. Such an effect has no record but this.
alter table effects add column run_gone_at timestamptz;

create policy left_read on effects for select to toolcrib_owner using (run_gone_at is not null);
create policy left_delete on effects for delete to toolcrib_owner using (run_gone_at is not null);

-- The time before which ended records of a tenant are due; null if they are kept for ever.
create function retention_before(tenant uuid, of_class text) returns timestamptz
    language sql stable as $$
    select now() - make_interval(days => r.keep_days) from retention_rules r
    where r.class = of_class and (r.tenant_id = tenant or r.tenant_id is null)
    order by r.tenant_id nulls last
    limit 1
$$;

-- The rows of a class that are due, as SQL: a table x, its key and a condition with the tenant
-- as $1 and the time as $2. What is open, or what something open needs, never is.
create function retention_rows(of_class text, out source text, out key text, out due text)
    language sql immutable as $$
    select v.source, v.key, v.due from (values
        ('runs', 'runs', 'id', $due$x.tenant_id = $1 and x.id < uuid_floor($2)
            and (x.status in ('completed', 'failed', 'cancelled') and x.completed_at < $2
              or x.status = 'hosted'
                and not exists (select from run_events e where e.tenant_id = $1 and e.run_id = x.id and e.at >= $2)
                and not exists (
                    select from tool_invocations i where i.tenant_id = $1 and i.run_id = x.id
                      and i.status in ('pending', 'approved', 'running', 'waiting')))
            and not exists (select from runs c where c.tenant_id = $1 and c.parent_run_id = x.id)
            and not exists (
                select from webhook_deliveries d join webhooks w on w.tenant_id = $1 and w.id = d.webhook_id
                where d.tenant_id = $1 and d.run_id = x.id and d.status = 'pending' and w.active)$due$),
        ('deliveries', 'webhook_deliveries', 'id', $due$x.tenant_id = $1 and x.id < uuid_floor($2) and x.created_at < $2
            and (x.status = 'delivered' or x.status = 'pending' and not exists (
                select from webhooks w where w.tenant_id = $1 and w.id = x.webhook_id and w.active))$due$),
        ('dead_letters', 'webhook_deliveries', 'id', $due$x.tenant_id = $1 and x.id < uuid_floor($2)
            and x.ended_at < $2 and x.status = 'failed'$due$),
        ('schedule_starts', 'schedule_starts', 'id', $due$x.tenant_id = $1 and x.id < uuid_floor($2)
            and x.created_at < $2$due$),
        ('space_messages', 'space_messages', 'id', $due$x.tenant_id = $1 and x.id < uuid_floor($2) and x.updated_at < $2
            and x.status in ('complete', 'failed') and not exists (
                select from runs r where r.tenant_id = $1 and r.id = x.run_id and r.status in ('pending', 'running'))$due$),
        ('files', 'files', 'id', $due$x.tenant_id = $1 and x.id < uuid_floor($2) and x.created_at < $2 and x.expires_at is null
            and not exists (
                select from runs r where r.tenant_id = $1 and r.id in (x.run_id, x.root_run_id)
                  and r.status in ('pending', 'running', 'hosted'))
            and not exists (
                select from tool_invocations i where i.tenant_id = $1
                  and i.status in ('pending', 'approved', 'running', 'waiting')
                  and (i.id = x.invocation_id or strpos(i.input::text, x.id::text) > 0))
            and not exists (
                select from runs r join messages m on m.tenant_id = $1 and m.run_id = r.id
                where r.tenant_id = $1 and r.status in ('pending', 'running')
                  and (strpos(r.input::text, x.id::text) > 0 or strpos(m.content::text, x.id::text) > 0))$due$),
        ('notes', 'agent_notes', 'ctid', $due$x.tenant_id = $1 and x.updated_at < $2
            and (x.kind = 'memory' or x.done)$due$)
    ) v (class, source, key, due)
    where v.class = of_class
$$;

-- Deletes at most so many runs of a tenant that are due, with all that belongs to them. Effects
-- that may have changed something outside stay.
create function purge_tenant_runs(tenant uuid, before timestamptz, most integer) returns integer
    language plpgsql as $$
declare
    gone uuid[];
begin
    execute format('select array(select x.id from runs x where %s order by x.id limit $3 for update skip locked)',
        (retention_rows('runs')).due) into gone using tenant, before, most;
    update effects e set run_gone_at = now() from tool_invocations i
    where i.tenant_id = tenant and i.run_id = any (gone) and e.tenant_id = tenant and e.effect_id = i.effect_id
      and (i.egress_class not in ('none', 'read_only') or e.status = 'unknown')
      and (e.phase = 'sent' or e.sent_before or e.status = 'unknown' or e.result is not null);
    delete from effects e using tool_invocations i
    where i.tenant_id = tenant and i.run_id = any (gone) and e.tenant_id = tenant and e.effect_id = i.effect_id
      and e.run_gone_at is null;
    delete from runs r where r.tenant_id = tenant and r.id = any (gone);
    return cardinality(gone);
end
$$;

create or replace function purge_runs(ended_before timestamptz, most integer) returns integer
    language plpgsql security definer as $$
declare
    tenant uuid;
    purged integer := 0;
begin
    for tenant in select t.id from tenants t order by t.id loop
        perform set_config('app.tenant_id', tenant::text, true);
        purged := purged + purge_tenant_runs(tenant, ended_before, most - purged);
        exit when purged >= most;
    end loop;
    perform set_config('app.tenant_id', '', true);
    return purged;
end
$$;

-- Deletes at most so many rows of a class that are due, of at most so many tenants after one.
-- Returns how many, the tenant to go on after, and whether there may be more. While another
-- transaction sweeps the class it does nothing, and says that it is busy.
create function sweep_retention(of_class text, after_tenant uuid, most integer, tenants_at_once integer) returns json
    language plpgsql security definer as $$
declare
    tenant uuid;
    before timestamptz;
    rows_of record;
    seen integer := 0;
    n integer;
    removed integer := 0;
begin
    if not pg_try_advisory_xact_lock(hashtextextended('retention/' || of_class, 0)) then
        return json_build_object('busy', true, 'removed', 0, 'after', after_tenant, 'more', false);
    end if;
    if of_class = 'effects' then
        with gone as (
            delete from effects e using (
                select o.tenant_id, o.effect_id from effects o
                where o.run_gone_at is not null
                  and o.created_at < now() - (select make_interval(days => min(r.keep_days)) from retention_rules r
                                              where r.class = 'effects')
                  and o.created_at < retention_before(o.tenant_id, 'effects')
                order by o.created_at
                limit most) due
            where e.tenant_id = due.tenant_id and e.effect_id = due.effect_id
            returning 1
        )
        select count(*) into removed from gone;
        return json_build_object('busy', false, 'removed', removed, 'after', after_tenant, 'more', removed >= most);
    end if;
    rows_of := retention_rows(of_class);
    for tenant in select t.id from tenants t where t.id > after_tenant order by t.id limit tenants_at_once loop
        seen := seen + 1;
        before := retention_before(tenant, of_class);
        if before is not null then
            perform set_config('app.tenant_id', tenant::text, true);
            if of_class = 'runs' then
                removed := removed + purge_tenant_runs(tenant, before, most - removed);
            else
                execute format('delete from %1$I d where d.tenant_id = $1 and d.%2$s = any (array(
                        select x.%2$s from %1$I x where %3$s limit $3 for update skip locked))',
                    rows_of.source, rows_of.key, rows_of.due)
                    using tenant, before, most - removed;
                get diagnostics n = row_count;
                removed := removed + n;
            end if;
            exit when removed >= most;
        end if;
        after_tenant := tenant;
    end loop;
    perform set_config('app.tenant_id', '', true);
    return json_build_object('busy', false, 'removed', removed, 'after', after_tenant,
        'more', removed >= most or seen >= tenants_at_once);
end
$$;

-- What there is of each class, as a list: how many rows are due, and the time of the oldest row.
-- Of one tenant, or of all. Counting is left out unless it is asked for.
create function retention_state(of_tenant uuid, counting boolean) returns json
    language plpgsql security definer as $$
declare
    tenant uuid;
    classes text[] := array['runs', 'effects', 'deliveries', 'dead_letters', 'schedule_starts', 'space_messages', 'files', 'notes'];
    due bigint[] := array_fill(0::bigint, array[8]);
    oldest timestamptz[] := array_fill(null::timestamptz, array[8]);
    rows_of record;
    before timestamptz;
    n bigint;
    at timestamptz;
begin
    for tenant in select t.id from tenants t where of_tenant is null or t.id = of_tenant loop
        perform set_config('app.tenant_id', tenant::text, true);
        for k in 1 .. 8 loop
            before := retention_before(tenant, classes[k]);
            n := 0;
            if classes[k] = 'effects' then
                continue;
            end if;
            rows_of := retention_rows(classes[k]);
            if counting and before is not null then
                execute format('select count(*) from %I x where %s', rows_of.source, rows_of.due) into n using tenant, before;
            end if;
            execute format('select x.created_at from %I x where x.tenant_id = $1 %s order by x.%s limit 1', rows_of.source,
                case classes[k] when 'deliveries' then $q$and x.status <> 'failed'$q$
                    when 'dead_letters' then $q$and x.status = 'failed'$q$ else '' end,
                case rows_of.key when 'id' then 'id' else 'created_at' end) into at using tenant;
            due[k] := due[k] + n;
            oldest[k] := least(oldest[k], at);
        end loop;
    end loop;
    perform set_config('app.tenant_id', '', true);
    select min(e.created_at) into at from effects e
    where e.run_gone_at is not null and (of_tenant is null or e.tenant_id = of_tenant);
    oldest[2] := at;
    if counting then
        select count(*) into n from effects e
        where e.run_gone_at is not null and (of_tenant is null or e.tenant_id = of_tenant)
          and e.created_at < retention_before(e.tenant_id, 'effects');
        due[2] := n;
    end if;
    return (select json_agg(json_build_object('class', classes[g], 'due', due[g], 'oldest', oldest[g]) order by g)
        from generate_series(1, 8) g);
end
$$;

-- Older binaries sweep by these; they follow the rules too.
create or replace function sweep_webhook_deliveries(most integer) returns integer
    language sql security definer as $$
    select (sweep_retention('deliveries', '00000000-0000-0000-0000-000000000000', most, 2147483647) ->> 'removed')::integer
$$;

create or replace function sweep_schedule_starts(most integer) returns integer
    language sql security definer as $$
    select (sweep_retention('schedule_starts', '00000000-0000-0000-0000-000000000000', most, 2147483647) ->> 'removed')::integer
$$;

-- Drops the partitions of tool_invocations of months long over that hold no row, and returns how
-- many. A partition whose rows are deleted is empty once it is vacuumed.
create function drop_empty_partitions() returns integer
    language plpgsql security definer as $$
declare
    name text;
    dropped integer := 0;
begin
    for name in
        select c.relname from pg_inherits h join pg_class c on c.oid = h.inhrelid
        where h.inhparent = 'tool_invocations'::regclass and c.relname ~ '^tool_invocations_\d{4}_\d{2}$'
          and to_date(right(c.relname, 7), 'YYYY_MM') + interval '2 months' < now() and pg_relation_size(c.oid) = 0
    loop
        lock table tool_invocations in access exclusive mode;
        if pg_relation_size(name::regclass) = 0 then
            execute format('drop table %I', name);
            dropped := dropped + 1;
        end if;
    end loop;
    return dropped;
exception when lock_not_available then
    return 0; -- The next sweep drops them.
end
$$;

do $$
declare
    name text;
begin
    foreach name in array array['purge_runs(timestamptz, integer)', 'sweep_retention(text, uuid, integer, integer)',
        'retention_state(uuid, boolean)', 'sweep_webhook_deliveries(integer)', 'sweep_schedule_starts(integer)',
        'drop_empty_partitions()']
    loop
        execute format('alter function %s set search_path = %I, pg_temp', name, current_schema());
    end loop;
end
$$;

alter function drop_empty_partitions() set lock_timeout = '200ms';

revoke all on function retention_before(uuid, text), retention_rows(text), purge_tenant_runs(uuid, timestamptz, integer),
    sweep_retention(text, uuid, integer, integer), retention_state(uuid, boolean), drop_empty_partitions() from public;
grant execute on function sweep_retention(text, uuid, integer, integer), retention_state(uuid, boolean),
    drop_empty_partitions() to toolcrib_app;
