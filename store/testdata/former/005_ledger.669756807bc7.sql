-- Effects and invocations name their tenant and agent without a reference:
-- each would lock a row that all calls share. Their runs and tools have one.

create table effects (
    effect_id        text not null check (effect_id <> ''),
    tenant_id        uuid not null,
    phase            text not null check (phase in ('accepted', 'admitted', 'sent', 'done')),
    fence            bigint not null,
    attempt          integer not null,
    sent_before      boolean not null default false, -- an attempt before this one may have sent something
    invocation_id    uuid not null,
    version_digest   text not null,
    arguments_digest text not null,
    status           text, -- the last four are set when the effect is done
    result           json,
    error_kind       text,
    error            text,
    created_at       timestamptz not null default now(),
    done_at          timestamptz,
    primary key (tenant_id, effect_id),
    check ((phase = 'done') = (status is not null))
) with (fillfactor = 70); -- every effect is updated, in place where there is room

create index effects_open on effects (created_at) where phase <> 'done';

comment on table effects is 'The effect ledger: how far each call has come; every move is a compare-and-set on phase and fence.';

alter table effects enable row level security;
alter table effects force row level security;

create policy tenant_isolation on effects
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
create policy maintenance_read on effects for select to toolcrib_maintenance using (true);

grant select, insert, update on effects to toolcrib_app;
grant select on effects to toolcrib_maintenance;

create table tool_invocations (
    id                  uuid not null, -- version 7, so that partitions by id are partitions by time
    tenant_id           uuid not null,
    run_id              uuid,
    turn                integer not null default 0,
    position            integer not null default 0,
    call_id             text not null,
    effect_id           text,
    tool_id             uuid,
    tool_scope_id       uuid, -- scope_id of the tool
    tool                text not null,
    version             text not null default '',
    digest              text not null default '',
    implementation_type text not null default '',
    subject             text not null default '',
    agent_id            uuid,
    mode                text not null check (mode in ('production', 'debug')),
    status              text not null check (status in ('pending', 'approved', 'running', 'waiting',
                            'completed', 'failed', 'rejected', 'cancelled', 'expired', 'unknown')),
    approval_required   boolean not null default false,
    approval_status     text not null default 'not_required' check (approval_status in
                            ('not_required', 'pending', 'approved', 'rejected', 'expired')),
    approval_decided_by text,
    approval_reason     text,
    egress_class        text not null default '',
    attempt             integer not null default 0,
    input               json,
    receipt             json,
    output              json,
    is_error            boolean not null default false,
    error_kind          text not null default '',
    error               text not null default '',
    cost_estimate       numeric,
    created_at          timestamptz not null default now(),
    started_at          timestamptz,
    completed_at        timestamptz,
    primary key (tenant_id, id),
    check (tool_scope_id in (tenant_id, '00000000-0000-0000-0000-000000000000')),
    check ((tool_id is null) = (tool_scope_id is null)),
    foreign key (tenant_id, run_id) references runs (tenant_id, id) on delete cascade,
    foreign key (tool_id, tool_scope_id) references tool_registry (id, scope_id) on delete restrict
) partition by range (id);

-- No index holds the status of a running call, so that settling one updates
-- its row in place. Ids are in order of time.
create index tool_invocations_run on tool_invocations (tenant_id, run_id, id desc) where run_id is not null;
create index tool_invocations_agent on tool_invocations (tenant_id, agent_id, id desc) where agent_id is not null;
create index tool_invocations_tool on tool_invocations (tenant_id, tool_id, id desc) where tool_id is not null;
create index tool_invocations_approval on tool_invocations (tenant_id, id) where approval_status = 'pending';

comment on table tool_invocations is 'The record of each call; partitioned by month through the time in its id.';

alter table tool_invocations enable row level security;
alter table tool_invocations force row level security;

create policy tenant_isolation on tool_invocations
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);

grant select, insert, update on tool_invocations to toolcrib_app;

-- A partition read by its own name has only its own policies, so each gets
-- them, and nobody but the owner gets a grant on it.
create procedure protect_partition(partition_name text) language plpgsql as $$
begin
    execute format('alter table %I set (fillfactor = 80)', partition_name);
    execute format('alter table %I enable row level security', partition_name);
    execute format('alter table %I force row level security', partition_name);
    execute format($policy$
        create policy tenant_isolation on %I
            using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
            with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
        $policy$, partition_name);
end
$$;

-- The least version 7 UUID of a point in time.
create function uuid_floor(at timestamptz) returns uuid language sql immutable strict as $$
    select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

-- Takes the rows nobody made a partition for in time.
create table tool_invocations_default partition of tool_invocations default;
call protect_partition('tool_invocations_default');

-- Makes the partitions of the current month and of the given number of months
-- after it where they are missing, and returns how many it made. Rows of such
-- a month that the default partition took meanwhile move over.
create function ensure_invocation_partitions(months_ahead integer) returns integer
    language plpgsql security definer as $$
declare
    first_day date;
    partition_name text;
    reference text;
    lower_id uuid;
    upper_id uuid;
    made integer := 0;
begin
    for i in 0 .. least(greatest(months_ahead, 0), 24) loop
        first_day := (date_trunc('month', now() at time zone 'utc') + make_interval(months => i))::date;
        partition_name := 'tool_invocations_' || to_char(first_day, 'YYYY_MM');
        continue when to_regclass(partition_name) is not null;
        lower_id := uuid_floor(first_day::timestamp at time zone 'utc');
        upper_id := uuid_floor((first_day + interval '1 month') at time zone 'utc');

        lock table tool_invocations in access exclusive mode;
        continue when to_regclass(partition_name) is not null;
        execute format('create table %I (like tool_invocations including defaults including constraints)', partition_name);
        -- The references are made before the rows come: checking them on rows
        -- that are there would be subject to row level security.
        for reference in
            select pg_get_constraintdef(f.oid) from pg_constraint f
            where f.conrelid = 'tool_invocations'::regclass and f.contype = 'f'
        loop
            execute format('alter table %I add %s', partition_name, reference);
        end loop;
        alter table tool_invocations_default no force row level security;
        execute format('with moved as (delete from tool_invocations_default where id >= %L and id < %L returning *)
            insert into %I select * from moved', lower_id, upper_id, partition_name);
        alter table tool_invocations_default force row level security;
        execute format('alter table tool_invocations attach partition %I for values from (%L) to (%L)',
            partition_name, lower_id, upper_id);
        call protect_partition(partition_name);
        made := made + 1;
    end loop;
    return made;
end
$$;

-- A function with its owner's rights must not look names up where its caller says.
do $$
begin
    execute format('alter function ensure_invocation_partitions(integer) set search_path = %I, pg_temp', current_schema());
end
$$;

revoke all on function ensure_invocation_partitions(integer) from public;
grant execute on function ensure_invocation_partitions(integer) to toolcrib_maintenance;

-- What the model is shown of a call's end, as ledger.Outcome words it.
create function answer_content(result json, error_kind text, error text) returns json language sql immutable as $$
    select case
        when result is null then json_build_array(json_build_object('type', 'text', 'text', error_kind || ': ' || error))
        else coalesce(result -> 'content', '[]')
    end
$$;

create function answer_is_error(result json) returns boolean language sql immutable as $$
    select result is null or coalesce((result ->> 'is_error')::boolean, false)
$$;
