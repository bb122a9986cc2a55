-- Whether a run is paused, by whom and why. The round counts how often it was paused and
-- resumed: it is paused while the round is odd. A run below another has what the outermost
-- one has, unless it is detached. While the workflow of the outermost run is to be given the
-- round, pause_due is the time of the next attempt.
alter table runs
    add column pause_round integer not null default 0,
    add column paused_at timestamptz,
    add column paused_by text not null default '',
    add column pause_reason text not null default '',
    add column pause_due timestamptz;

create policy pause_claim on runs for update to toolcrib_owner
    using (pause_due is not null and completed_at is null) with check (true);

-- Pauses or resumes an outermost run that has not ended, with all open runs below it, and
-- notifies the workers at once. It returns whether there is such a run, and its new round,
-- which is 0 where nothing changed. One level after the other: a run that is recorded
-- meanwhile takes a lock on the one above it, and is either seen here or takes its state
-- over (CreateRun).
create function pause_run(
    p_tenant uuid, p_run uuid, p_pause boolean, p_by text, p_reason text, p_lease interval
) returns json
    language plpgsql
as $$
declare
    v_run record;
    v_at timestamptz;
    v_round integer;
    v_seq bigint;
    v_level uuid[];
begin
    select r.status, r.kind, r.parent_run_id, r.detached, r.paused_at, r.pause_round into v_run
    from runs r where r.tenant_id = p_tenant and r.id = p_run for no key update;
    if not found then
        return json_build_object('known', false, 'round', 0);
    end if;
    if v_run.status not in ('pending', 'running') or v_run.kind = 'host'
        or v_run.parent_run_id is not null and not v_run.detached
        or (v_run.paused_at is not null) = p_pause then
        return json_build_object('known', true, 'round', 0);
    end if;
    v_at := case when p_pause then now() end;
    v_round := v_run.pause_round + 1;
    update runs r set pause_round = v_round, paused_at = v_at, paused_by = p_by, pause_reason = p_reason,
        pause_due = now() + p_lease, last_seq = r.last_seq + 1
    where r.tenant_id = p_tenant and r.id = p_run
    returning r.last_seq into v_seq;
    insert into run_events (tenant_id, run_id, seq, type, data)
    values (p_tenant, p_run, v_seq, case when p_pause then 'run.paused' else 'run.resumed' end,
        json_strip_nulls(json_build_object('by', p_by, 'reason', nullif(p_reason, ''))));
    v_level := array[p_run];
    while v_level is not null loop
        perform pg_notify('toolcrib_control', p_tenant || ' ' || l.id) from unnest(v_level) as l (id);
        with below as (
            update runs r set pause_round = v_round, paused_at = v_at, paused_by = p_by, pause_reason = p_reason
            where r.tenant_id = p_tenant and r.parent_run_id = any (v_level) and not r.detached and r.completed_at is null
            returning r.id
        )
        select array_agg(b.id) into v_level from below b;
    end loop;
    return json_build_object('known', true, 'round', v_round);
end
$$;

-- Claims at most so many open runs, of any tenant, whose workflows are to be given their
-- rounds, for the length of the lease, as {"t": tenant, "i": id, "w": workflow id, "r":
-- round}. A lease longer than the longest was taken while the clock was ahead.
create function claim_pauses(most integer, lease interval) returns json
    language sql security definer as $$
    with due as (
        select d.tenant_id, d.id from runs d
        where d.completed_at is null and (d.pause_due <= now() or d.pause_due > now() + interval '5 minutes')
        order by d.pause_due
        limit most
        for update skip locked
    ), claimed as (
        update runs r set pause_due = now() + lease
        from due where r.tenant_id = due.tenant_id and r.id = due.id
        returning r.tenant_id, r.id, r.workflow_id, r.pause_round
    )
    select coalesce(json_agg(json_build_object('t', c.tenant_id, 'i', c.id, 'w', c.workflow_id, 'r', c.pause_round)), '[]')
    from claimed c
$$;

do $$
begin
    execute format('alter function claim_pauses(integer, interval) set search_path = %I, pg_temp', current_schema());
end
$$;

revoke all on function claim_pauses(integer, interval) from public;
grant execute on function claim_pauses(integer, interval) to toolcrib_app, toolcrib_maintenance;
