-- Calls that are answered from outside: by a browser or another program. The id of one is
-- that of the call's invocation, which has its arguments.

create table pending_tool_calls (
    tenant_id         uuid not null,
    id                uuid not null,
    run_id            uuid not null,
    root_run_id       uuid not null,             -- the outermost run
    effect_id         text not null,
    message_id        uuid,                      -- the assistant message that made the call
    parent_id         uuid,                      -- the invocation that the call is a step of
    agent_id          uuid,
    turn              integer not null default 0,
    position          integer not null default 0,
    call_id           text not null,
    tool_id           uuid,
    tool              text not null,
    version           text not null default '',
    digest            text not null default '',
    implementation_type text not null default '',
    subject           text not null default '',  -- that the call is made for
    mode              text not null,
    intent            text not null default '',
    shown             boolean not null default true,
    requires_response boolean not null,
    is_async          boolean not null,
    status            text not null check (status in ('waiting', 'pending', 'resolved', 'cancelled')),
    result            json,
    late              boolean not null default false, -- the result came after the call had ended without it
    submitted_by      text not null default '',
    submit_key        bytea not null,            -- signs tokens that may submit the result
    workflow_id       text not null,
    created_at        timestamptz not null default now(),
    answer_by         timestamptz,               -- until when the call waits; null where it does not
    expires_at        timestamptz not null,      -- no result is taken after it
    resolved_at       timestamptz,
    deliver_at        timestamptz,               -- when the workflow is to be told; null when there is nothing to tell it
    primary key (tenant_id, id),
    check ((status = 'resolved') = (resolved_at is not null)),
    foreign key (tenant_id, run_id) references runs (tenant_id, id) on delete cascade
) with (fillfactor = 70);

create index pending_tool_calls_open on pending_tool_calls (tenant_id, id desc) where status in ('waiting', 'pending');
create index pending_tool_calls_run on pending_tool_calls (tenant_id, run_id, id desc);
create index pending_tool_calls_root on pending_tool_calls (tenant_id, root_run_id, id desc);
create index pending_tool_calls_undelivered on pending_tool_calls (deliver_at) where deliver_at is not null;

comment on table pending_tool_calls is 'Calls that are answered from outside, and their results.';

alter table pending_tool_calls enable row level security;
alter table pending_tool_calls force row level security;

create policy tenant_isolation on pending_tool_calls
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
create policy open_read on pending_tool_calls for select to toolcrib_owner using (deliver_at is not null);
create policy open_claim on pending_tool_calls for update to toolcrib_owner using (deliver_at is not null) with check (true);

grant select, insert, update on pending_tool_calls to toolcrib_app;

-- Claims at most so many calls, of any tenant, whose workflows are to be told of their
-- results, for the length of the lease, as {"t": tenant, "i": id, "w": workflow id}. A
-- lease longer than the longest was taken while the clock was ahead.
create function claim_resolved_calls(most integer, lease interval) returns json
    language sql security definer as $$
    with due as (
        select d.tenant_id, d.id from pending_tool_calls d
        where d.deliver_at <= now() or d.deliver_at > now() + interval '5 minutes'
        order by d.deliver_at
        limit most
        for update skip locked
    ), claimed as (
        update pending_tool_calls p set deliver_at = now() + lease
        from due where p.tenant_id = due.tenant_id and p.id = due.id
        returning p.tenant_id, p.id, p.workflow_id
    )
    select coalesce(json_agg(json_build_object('t', c.tenant_id, 'i', c.id, 'w', c.workflow_id)), '[]') from claimed c
$$;

-- A call that ends without its result may still get one, late, if it only ran out of time.
-- Whatever else ends it, or its run, ends the wait for it. These run after the statement
-- that ends the call or the run, so that rows are locked in one order everywhere: effects,
-- invocations, the run, what waits.
create function end_call_wait() returns trigger language plpgsql as $$
begin
    update pending_tool_calls p set status = case new.status when 'expired' then 'pending' else 'cancelled' end
    where p.tenant_id = new.tenant_id and p.id = new.id and p.status = 'waiting';
    return null;
end
$$;

create function end_run_waits() returns trigger language plpgsql as $$
begin
    update pending_tool_calls p set status = 'cancelled'
    where p.tenant_id = new.tenant_id and p.run_id = new.id and p.status = 'waiting';
    return null;
end
$$;

do $$
begin
    execute format('alter function claim_resolved_calls(integer, interval) set search_path = %I, pg_temp', current_schema());
    execute format('alter function end_call_wait() set search_path = %I, pg_temp', current_schema());
    execute format('alter function end_run_waits() set search_path = %I, pg_temp', current_schema());
end
$$;

revoke all on function claim_resolved_calls(integer, interval) from public;
grant execute on function claim_resolved_calls(integer, interval) to toolcrib_app, toolcrib_maintenance;

create trigger tool_invocations_end_wait
    after update of status on tool_invocations
    for each row
    when (new.implementation_type = 'client' and new.status in ('failed', 'rejected', 'cancelled', 'expired', 'unknown'))
    execute function end_call_wait();

create trigger runs_end_waits
    after update of status on runs
    for each row
    when (new.status in ('completed', 'failed', 'cancelled'))
    execute function end_run_waits();
