-- Messages of a space that a run did not take up before it ended wake the agent again, and nothing
-- begins for a tenant that is suspended.

alter table inbox_items
    add column space_id uuid,    -- whose messages the item tells of; the item outlives the space
    add column from_seq bigint,  -- the first of them
    add column upto_seq bigint,  -- and the last
    add column hops integer;     -- of the wake

-- Puts the wakes that a run which ends leaves in its inbox back, in the transaction of the end. A
-- wake that is there already gets the messages too. Rows are locked in one order everywhere:
-- effects, invocations, the run, what waits, the wakes, the space.
create function return_space_wakes() returns trigger language plpgsql security definer as $$
declare
    n integer;
begin
    with left_over as (
        delete from inbox_items i
        where i.tenant_id = new.tenant_id and i.run_id = new.id and i.message_id is null and i.space_id is not null
        returning i.space_id, i.from_seq, i.upto_seq, i.hops
    ), due as (
        select l.space_id, min(l.from_seq) as from_seq, max(l.upto_seq) as upto_seq, min(l.hops) as hops
        from left_over l
        where exists (
            select from space_members m
            where m.tenant_id = new.tenant_id and m.space_id = l.space_id and m.kind = 'agent' and m.agent_id = new.agent_id)
        group by l.space_id
    ), returned as (
        insert into space_wakes as w (tenant_id, space_id, agent_id, subject, permissions, scopes, from_seq, upto_seq, hops, run_id)
        select new.tenant_id, d.space_id, new.agent_id, new.subject, new.permissions, new.scopes, d.from_seq, d.upto_seq, d.hops,
            new_uuid7()
        from due d
        order by d.space_id
        on conflict (tenant_id, space_id, agent_id, subject) do update
            set from_seq = least(w.from_seq, excluded.from_seq), upto_seq = greatest(w.upto_seq, excluded.upto_seq),
                hops = least(w.hops, excluded.hops)
    )
    select count(*)::integer into n from left_over;
    if n > 0 then
        update runs r set inbox = greatest(r.inbox - n, 0) where r.tenant_id = new.tenant_id and r.id = new.id;
    end if;
    return null;
end
$$;

create or replace function claim_space_wakes(most integer, lease interval) returns json
    language sql security definer as $$
    with due as (
        select d.tenant_id, d.space_id, d.agent_id, d.subject from space_wakes d
        join tenants t on t.id = d.tenant_id and t.status = 'active'
        where d.due_at <= now() or d.due_at > now() + interval '15 minutes'
        order by d.due_at
        limit most
        for update of d skip locked
    ), claimed as (
        update space_wakes w set due_at = now() + lease, attempts = w.attempts + 1
        from due
        where w.tenant_id = due.tenant_id and w.space_id = due.space_id and w.agent_id = due.agent_id and w.subject = due.subject
        returning w.tenant_id, w.space_id, w.agent_id, w.subject
    )
    select coalesce(json_agg(json_build_object('t', c.tenant_id, 's', c.space_id, 'a', c.agent_id, 'u', c.subject)), '[]')
    from claimed c
$$;

create or replace function claim_workflow_starts(most integer, lease interval) returns json
    language sql security definer as $$
    with due as (
        select d.tenant_id, d.workflow_id from workflow_starts d
        join tenants t on t.id = d.tenant_id and t.status = 'active'
        where d.next_at <= now() or d.next_at > now() + interval '5 minutes'
        order by d.next_at
        limit most
        for update of d skip locked
    ), claimed as (
        update workflow_starts s set next_at = now() + lease, attempts = s.attempts + 1
        from due where s.tenant_id = due.tenant_id and s.workflow_id = due.workflow_id
        returning s.tenant_id, s.workflow_id
    )
    select coalesce(json_agg(json_build_object('t', c.tenant_id, 'w', c.workflow_id)), '[]') from claimed c
$$;

-- Those of suspended tenants are left for later, and are not late.
create or replace function count_workflow_starts() returns json
    language sql security definer as $$
    select json_build_object('count', count(*), 'oldest_s', coalesce(extract(epoch from now() - min(s.created_at)), 0))
    from workflow_starts s
    join tenants t on t.id = s.tenant_id and t.status = 'active'
$$;

do $$
begin
    execute format('alter function return_space_wakes() set search_path = %I, pg_temp', current_schema());
    execute format('alter function claim_workflow_starts(integer, interval) set search_path = %I, pg_temp', current_schema());
    execute format('alter function count_workflow_starts() set search_path = %I, pg_temp', current_schema());
    execute format('alter function claim_space_wakes(integer, interval) set search_path = %I, pg_temp', current_schema());
end
$$;

revoke all on function return_space_wakes() from public;

create trigger runs_return_wakes
    after update of status on runs
    for each row
    when (new.inbox > 0 and new.agent_id is not null and new.status in ('completed', 'failed', 'cancelled')
        and old.status is distinct from new.status)
    execute function return_space_wakes();
