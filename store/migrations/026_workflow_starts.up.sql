-- The outbox of workflow starts: one row for each workflow that was accepted and
-- that Temporal has not confirmed. The row is written with the record of the
-- run, so that an accepted request is started by any process, or says why not.

create table workflow_starts (
    tenant_id   uuid not null references tenants on delete cascade,
    workflow_id text not null,
    run_id      uuid,                       -- the run that the workflow executes, if it has one
    workflow    text not null,              -- workflow type
    task_queue  text not null,
    summary     text not null default '',
    memo        json not null default '{}', -- {"name": "value"}
    agent       text not null default '',   -- slug, for the search attribute
    input       bytea not null,             -- the JSON of the only argument, byte for byte
    attempts    integer not null default 0, -- also the fence of the attempt that holds the row
    next_at     timestamptz not null,       -- until then the row belongs to the attempt that set it
    last_error  text not null default '',
    created_at  timestamptz not null default now(),
    primary key (tenant_id, workflow_id),
    foreign key (tenant_id, run_id) references runs (tenant_id, id) on delete cascade
) with (fillfactor = 70);

create index workflow_starts_due on workflow_starts (next_at);

comment on table workflow_starts is 'Outbox: workflows that were accepted and not yet confirmed by Temporal.';

alter table workflow_starts enable row level security;
alter table workflow_starts force row level security;

create policy tenant_isolation on workflow_starts
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
create policy due_read on workflow_starts for select to toolcrib_owner using (true);
create policy due_claim on workflow_starts for update to toolcrib_owner using (next_at <= now()) with check (true);

grant select, insert, update, delete on workflow_starts to toolcrib_app;

-- Claims at most so many rows that are due, of any tenant, for the length of the
-- lease, and returns their keys as {"t": tenant, "w": workflow id}. It returns
-- nothing else: the row itself is read as its tenant.
create function claim_workflow_starts(most integer, lease interval) returns json
    language sql security definer as $$
    with due as (
        select d.tenant_id, d.workflow_id from workflow_starts d
        where d.next_at <= now()
        order by d.next_at
        limit most
        for update skip locked
    ), claimed as (
        update workflow_starts s set next_at = now() + lease, attempts = s.attempts + 1
        from due where s.tenant_id = due.tenant_id and s.workflow_id = due.workflow_id
        returning s.tenant_id, s.workflow_id
    )
    select coalesce(json_agg(json_build_object('t', c.tenant_id, 'w', c.workflow_id)), '[]') from claimed c
$$;

-- The number of rows, and the age in seconds of the oldest, over all tenants.
create function count_workflow_starts() returns json
    language sql security definer as $$
    select json_build_object('count', count(*), 'oldest_s', coalesce(extract(epoch from now() - min(s.created_at)), 0))
    from workflow_starts s
$$;

do $$
begin
    execute format('alter function claim_workflow_starts(integer, interval) set search_path = %I, pg_temp', current_schema());
    execute format('alter function count_workflow_starts() set search_path = %I, pg_temp', current_schema());
end
$$;

revoke all on function claim_workflow_starts(integer, interval), count_workflow_starts() from public;
grant execute on function claim_workflow_starts(integer, interval), count_workflow_starts() to toolcrib_app, toolcrib_maintenance;
