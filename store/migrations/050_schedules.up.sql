-- Schedules: agents that are run at certain times. The rows are the record; Temporal has a
-- schedule for each, which servers keep equal to its row.

create table schedules (
    tenant_id          uuid not null references tenants on delete cascade,
    id                 uuid not null,
    name               text not null check (name <> ''),
    agent              text not null check (agent <> ''), -- slug
    version_constraint text not null default '',
    input              json not null,                     -- of each run
    crons              text[] not null default '{}',
    every_s            bigint not null default 0,         -- an interval; 0 where there are crons
    offset_s           bigint not null default 0,         -- of the interval, from its multiples since 1970
    time_zone          text not null default 'UTC',       -- of the crons
    start_at           timestamptz,                       -- no time before is meant
    end_at             timestamptz,                       -- nor after
    jitter_s           bigint not null default 0,
    overlap            text not null check (overlap in ('skip', 'buffer_one', 'buffer_all', 'cancel_other', 'allow_all')),
    catchup_s          bigint not null,
    paused             boolean not null default false,
    note               text not null default '',          -- why it is paused, or was resumed
    starts_left        bigint check (starts_left >= 0),   -- null for no limit
    created_by         text not null,                     -- subject whose authority the runs have
    revision           bigint not null default 1,
    applied_revision   bigint not null default 0,         -- that Temporal is known to have
    sync_due           timestamptz not null default now(), -- when Temporal's is compared next
    sync_lease         timestamptz,                       -- while a server does
    sync_fence         bigint not null default 0,         -- counts the leases
    sync_failures      integer not null default 0,        -- in a row
    sync_error         text not null default '',          -- why Temporal does not have the revision
    deleted_at         timestamptz,                       -- until Temporal has deleted its own
    created_at         timestamptz not null default now(),
    updated_at         timestamptz not null default now(),
    primary key (tenant_id, id),
    check ((cardinality(crons) > 0) <> (every_s > 0))
) with (fillfactor = 70);

create unique index schedules_name on schedules (tenant_id, name) where deleted_at is null;
create index schedules_due on schedules (sync_due);

comment on table schedules is 'Agents that are run at certain times.';

create table schedule_starts (
    tenant_id    uuid not null,
    id           uuid not null,
    schedule_id  uuid not null,
    scheduled_at timestamptz not null, -- the time that was meant
    run_id       uuid not null,        -- of the run, which exists once it has started
    status       text not null default 'starting' check (status in ('starting', 'started', 'refused')),
    kind         text not null default '', -- of the refusal
    reason       text not null default '',
    created_at   timestamptz not null default now(),
    primary key (tenant_id, id),
    unique (tenant_id, schedule_id, scheduled_at),
    foreign key (tenant_id, schedule_id) references schedules (tenant_id, id) on delete cascade
) with (fillfactor = 70);

create index schedule_starts_list on schedule_starts (tenant_id, schedule_id, id desc);
create index schedule_starts_age on schedule_starts (created_at);

comment on table schedule_starts is 'Times at which schedules started runs, or why they did not.';

alter table schedules enable row level security;
alter table schedules force row level security;
alter table schedule_starts enable row level security;
alter table schedule_starts force row level security;

create policy tenant_isolation on schedules
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
create policy tenant_isolation on schedule_starts
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
create policy all_read on schedules for select to toolcrib_owner using (true);
create policy all_due on schedules for update to toolcrib_owner using (true) with check (true);
create policy old_read on schedule_starts for select to toolcrib_owner using (created_at < now() - interval '30 days');
create policy old_delete on schedule_starts for delete to toolcrib_owner using (created_at < now() - interval '30 days');

grant select, insert, update, delete on schedules to toolcrib_app;
grant select, insert, update on schedule_starts to toolcrib_app;

-- At most so many tenants, as a list of ids, with schedules that are due to be compared with
-- Temporal's; without their contents. Each is served as that tenant.
create function schedule_tenants(most integer) returns json
    language sql stable security definer as $$
    select coalesce(json_agg(d.tenant_id), '[]') from (
        select distinct s.tenant_id from schedules s
        where s.sync_due <= now() and (s.sync_lease is null or s.sync_lease <= now())
        limit most) d
$$;

-- Deletes at most so many starts of any tenant that are older than thirty days, and returns
-- how many it deleted.
create function sweep_schedule_starts(most integer) returns integer
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

-- Schedules of a suspended tenant rest: they are compared at once when its status changes.
create function schedules_due_of_tenant() returns trigger language plpgsql security definer as $$
begin
    update schedules s set sync_due = now() where s.tenant_id = new.id;
    return null;
end
$$;

create trigger tenants_schedules
    after update of status on tenants
    for each row when (old.status is distinct from new.status)
    execute function schedules_due_of_tenant();

do $$
declare
    name text;
begin
    foreach name in array array['schedule_tenants(integer)', 'sweep_schedule_starts(integer)', 'schedules_due_of_tenant()']
    loop
        execute format('alter function %s set search_path = %I, pg_temp', name, current_schema());
    end loop;
end
$$;

revoke all on function schedule_tenants(integer), sweep_schedule_starts(integer), schedules_due_of_tenant() from public;
grant execute on function schedule_tenants(integer), sweep_schedule_starts(integer) to toolcrib_app;
