drop trigger runs_return_wakes on runs;
drop function return_space_wakes();

create or replace function claim_space_wakes(most integer, lease interval) returns json
    language sql security definer as $$
    with due as (
        select d.tenant_id, d.space_id, d.agent_id, d.subject from space_wakes d
        where d.due_at <= now() or d.due_at > now() + interval '15 minutes'
        order by d.due_at
        limit most
        for update skip locked
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
        where d.next_at <= now() or d.next_at > now() + interval '5 minutes'
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

create or replace function count_workflow_starts() returns json
    language sql security definer as $$
    select json_build_object('count', count(*), 'oldest_s', coalesce(extract(epoch from now() - min(s.created_at)), 0))
    from workflow_starts s
$$;

do $$
begin
    execute format('alter function claim_workflow_starts(integer, interval) set search_path = %I, pg_temp', current_schema());
    execute format('alter function count_workflow_starts() set search_path = %I, pg_temp', current_schema());
    execute format('alter function claim_space_wakes(integer, interval) set search_path = %I, pg_temp', current_schema());
end
$$;

alter table inbox_items
    drop column space_id, drop column from_seq, drop column upto_seq, drop column hops;
