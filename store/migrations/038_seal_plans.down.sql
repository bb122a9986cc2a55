create or replace function seal_events(of_tenant uuid, most integer) returns integer
    language plpgsql security definer as $$
declare
    head tenant_event_heads;
    newest bigint;
    writers text[];
    ended boolean;
    found_count integer;
    cut bigint;
    sealed integer;
begin
    select h.* into head from tenant_event_heads h where h.tenant_id = of_tenant;
    if not exists (select from run_events e where e.tenant_id = of_tenant and e.id > coalesce(head.settled_id, 0)) then
        return 0;
    end if;
    if head.tenant_id is null then
        insert into tenant_event_heads (tenant_id) values (of_tenant) on conflict do nothing;
    end if;
    select h.* into head from tenant_event_heads h where h.tenant_id = of_tenant for update;

    -- The snapshot of this statement is older than its look at the locks: who
    -- drew an id up to newest has ended, or is among the writers.
    select (select coalesce(max(e.id), 0) from run_events e where e.tenant_id = of_tenant),
           array(select distinct l.virtualtransaction from pg_locks l
                 where l.locktype = 'relation' and l.relation = 'run_events'::regclass and l.granted
                   and l.database = (select d.oid from pg_database d where d.datname = current_database())
                   and l.mode in ('RowExclusiveLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
                   and l.pid is distinct from pg_backend_pid())
    into newest, writers;
    ended := head.pending_id is not null and not head.pending_writers && writers;

    -- A statement of its own, whose snapshot sees what those who ended wrote.
    with unsealed as (
        select e.id, e.run_id, e.seq from run_events e
        where e.tenant_id = of_tenant and e.id > head.settled_id
          and not exists (select from event_seals s where s.tenant_id = of_tenant and s.run_id = e.run_id and s.run_seq = e.seq)
        order by e.id
        limit most
    ), spans as ( -- From each run everything up to the last one, so that its order holds.
        select u.run_id, max(u.seq) as last_seq, least(min(u.seq), (
            select coalesce(max(s.run_seq), 0) + 1 from event_seals s where s.tenant_id = of_tenant and s.run_id = u.run_id)) as first_seq
        from unsealed u
        group by u.run_id
    ), fresh as (
        select e.run_id, e.seq, max(e.id) over (partition by e.run_id order by e.seq) as place
        from spans p
        join run_events e on e.tenant_id = of_tenant and e.run_id = p.run_id and e.seq between p.first_seq and p.last_seq
        where not exists (select from event_seals s where s.tenant_id = of_tenant and s.run_id = e.run_id and s.run_seq = e.seq)
    ), added as (
        insert into event_seals (tenant_id, run_id, run_seq, seq)
        select of_tenant, f.run_id, f.seq, head.last_seq + row_number() over (order by f.place, f.run_id, f.seq)
        from fresh f
        returning 1
    )
    select (select count(*) from added), (select count(*) from unsealed), (select max(u.id) from unsealed u)
    into sealed, found_count, cut;

    if found_count < most then
        cut := greatest(newest, head.pending_id);
    end if;
    if ended then
        head.settled_id := greatest(head.settled_id, least(head.pending_id, cut));
        head.pending_id := null;
    end if;
    if writers = '{}' then
        head.settled_id := greatest(head.settled_id, least(newest, cut));
        head.pending_id := null;
    elsif head.pending_id is null and least(newest, cut) > head.settled_id then
        head.pending_id := least(newest, cut);
        head.pending_writers := writers;
    end if;
    update tenant_event_heads h set last_seq = head.last_seq + sealed, settled_id = head.settled_id,
        pending_id = head.pending_id, pending_writers = case when head.pending_id is null then '{}' else head.pending_writers end
    where h.tenant_id = of_tenant;
    return sealed;
end
$$;

do $$
begin
    execute format('alter function seal_events(uuid, integer) set search_path = %I, pg_temp', current_schema());
end
$$;
