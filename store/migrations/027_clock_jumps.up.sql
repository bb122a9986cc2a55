-- A start is also due when its time lies further ahead than any attempt sets it:
-- the database's clock was ahead when it was set.

drop policy due_claim on workflow_starts;
create policy due_claim on workflow_starts for update to toolcrib_owner
    using (next_at <= now() or next_at > now() + interval '5 minutes') with check (true);

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

do $$
begin
    execute format('alter function claim_workflow_starts(integer, interval) set search_path = %I, pg_temp', current_schema());
end
$$;
