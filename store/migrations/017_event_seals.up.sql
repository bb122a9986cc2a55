-- A tenant's stream of events is numbered after the events commit. run_events is
-- written on every turn and stays insert-only: the numbers are kept beside it,
-- so that no turn waits for a row that all runs of a tenant share.

create table tenant_event_heads (
    tenant_id       uuid primary key references tenants on delete cascade,
    last_seq        bigint not null default 0, -- the number given last
    settled_id      bigint not null default 0, -- every event up to this id is numbered, or will never commit
    pending_id      bigint,                    -- settles once pending_writers have ended
    pending_writers text[] not null default '{}'
) with (fillfactor = 50); -- updated by every batch, in place where there is room

comment on table tenant_event_heads is 'How far the events of each tenant are numbered.';

create table event_seals (
    tenant_id uuid not null,
    run_id    uuid not null,
    run_seq   bigint not null, -- run_events.seq
    seq       bigint not null, -- the place in the tenant's stream
    primary key (tenant_id, run_id, run_seq),
    unique (tenant_id, seq)
);

comment on table event_seals is 'The place of each committed event in its tenant''s stream.';

alter table tenant_event_heads enable row level security;
alter table tenant_event_heads force row level security;
alter table event_seals enable row level security;
alter table event_seals force row level security;

create policy tenant_isolation on tenant_event_heads
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
create policy tenant_isolation on event_seals
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);

grant select on tenant_event_heads, event_seals to toolcrib_app;

-- Numbers at least `most` committed events of a tenant that have no number, or
-- all of them where there are fewer, and returns how many it numbered. Callers
-- at the same time wait for each other. The order is that in which events became
-- visible, and within a run that of the run.
--
-- It looks at events above settled_id only. An id is drawn before its event
-- commits, so a lower one may appear later; but a transaction that has drawn one
-- holds a lock on run_events until it ends. When those that held one after id N
-- was visible have all ended, no id up to N is still to come. Transactions that
-- write no events hold no such lock and delay nothing.
create function seal_events(of_tenant uuid, most integer) returns integer
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

-- The numbers of events go with the events. A reference would lock each event
-- while it is numbered.
create function drop_event_seals() returns trigger language plpgsql as $$
begin
    delete from event_seals s using gone g where s.tenant_id = g.tenant_id and s.run_id = g.run_id and s.run_seq = g.seq;
    return null;
end
$$;

create trigger run_events_seals
    after delete on run_events
    referencing old table as gone
    for each statement execute function drop_event_seals();

do $$
begin
    execute format('alter function seal_events(uuid, integer) set search_path = %I, pg_temp', current_schema());
    execute format('alter function drop_event_seals() set search_path = %I, pg_temp', current_schema());
end
$$;

revoke all on function seal_events(uuid, integer) from public;
grant execute on function seal_events(uuid, integer) to toolcrib_app;
