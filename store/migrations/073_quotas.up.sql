-- Quotas: how much a tenant may have of what it makes and keeps.
--
-- Triggers count, in the transaction of the change, and refuse what would be beyond the quota: the
-- row of a count is locked until that ends, so that a quota holds exactly. What is made with many
-- requests at once is counted in several rows, which are locked together only near the quota.
-- Unfinished runs have a limit already (tenants.max_unfinished_runs) and are not counted here.

create table quotas (
    tenant_id  uuid references tenants on delete cascade, -- null for every tenant without a quota of its own
    scope_id   uuid not null generated always as (coalesce(tenant_id, '00000000-0000-0000-0000-000000000000'::uuid)) stored,
    name       text not null check (name in ('tools', 'agents', 'documents', 'storage_bytes', 'artifacts', 'artifact_bytes',
                                             'idempotency_keys')),
    most       bigint check (most between 0 and 1000000000000000), -- null for no limit
    changed_by text not null default '',
    changed_at timestamptz not null default now(),
    primary key (scope_id, name)
);

comment on table quotas is 'How much tenants may have, as the platform says: each tenant, and all without a quota of their own.';

create table quota_counts (
    tenant_id uuid not null references tenants on delete cascade,
    name      text not null,
    part      integer not null default 0, -- a count is the sum of its parts; one may be negative
    used      bigint not null default 0,
    primary key (tenant_id, name, part)
) with (fillfactor = 50);

comment on table quota_counts is 'How much tenants have of what quotas limit, counted by triggers.';

alter table quotas enable row level security;
alter table quotas force row level security;
create policy tenant_read on quotas for select
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid or tenant_id is null);
create policy platform_all on quotas to toolcrib_owner using (true) with check (true);

alter table quota_counts enable row level security;
alter table quota_counts force row level security;
create policy tenant_read on quota_counts for select
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
create policy platform_all on quota_counts to toolcrib_owner using (true) with check (true);

grant select on quotas, quota_counts to toolcrib_app;

create trigger audit after insert or update or delete on quotas for each row
    execute function audit_row('{changed_by,changed_at}', '{}', 'quota');

-- The quota of a tenant: its own, or that of all; null for no limit.
create function quota_of(p_tenant uuid, p_name text) returns bigint language plpgsql stable as $$
declare
    v_most bigint;
begin
    select q.most into v_most from quotas q
    where q.scope_id in (p_tenant, '00000000-0000-0000-0000-000000000000') and q.name = p_name
    order by q.tenant_id nulls last
    limit 1;
    return v_most;
end
$$;

create function refuse_quota(p_name text, p_most bigint, p_used bigint, p_more bigint) returns void language plpgsql as $$
begin
    raise exception 'the quota % of the tenant is used up', p_name using errcode = 'TC002',
        detail = json_build_object('name', p_name, 'limit', p_most, 'used', p_used, 'more', p_more)::text;
end
$$;

-- Counts what was made, or with a negative number deleted. Less is never refused.
create function count_quota(p_tenant uuid, p_name text, p_by bigint) returns void language plpgsql as $$
declare
    v_used bigint;
    v_most bigint;
begin
    if p_by < 0 then
        update quota_counts c set used = c.used + p_by
        where c.tenant_id = p_tenant and c.name = p_name and c.part = (
            select min(x.part) from quota_counts x where x.tenant_id = p_tenant and x.name = p_name);
        return;
    elsif p_by = 0 then
        return;
    end if;
    insert into quota_counts as c (tenant_id, name, used) values (p_tenant, p_name, p_by)
    on conflict (tenant_id, name, part) do update set used = c.used + excluded.used
    returning c.used into v_used;
    v_most := quota_of(p_tenant, p_name);
    if v_used > v_most then
        perform refuse_quota(p_name, v_most, v_used - p_by, p_by);
    end if;
end
$$;

-- As count_quota, for what many transactions make at once: each counts in the part of its session.
-- Only those within 256 of the quota wait for each other; to go beyond it, as many would have to
-- begin before that at the same moment.
create function count_spread_quota(p_tenant uuid, p_name text, p_by bigint) returns void language plpgsql as $$
declare
    v_most bigint := quota_of(p_tenant, p_name);
    v_used bigint;
begin
    if v_most is not null then
        select coalesce(sum(c.used), 0) into v_used from quota_counts c where c.tenant_id = p_tenant and c.name = p_name;
        if v_used + p_by + 256 > v_most then
            perform pg_advisory_xact_lock(hashtextextended('quota/' || p_name || '/' || p_tenant::text, 0));
            select coalesce(sum(c.used), 0) into v_used from quota_counts c where c.tenant_id = p_tenant and c.name = p_name;
            if v_used + p_by > v_most then
                perform refuse_quota(p_name, v_most, v_used, p_by);
            end if;
        end if;
    end if;
    insert into quota_counts as c (tenant_id, name, part, used) values (p_tenant, p_name, pg_backend_pid() % 16, p_by)
    on conflict (tenant_id, name, part) do update set used = c.used + excluded.used;
end
$$;

-- Tools of tenants. The row of a deleted one stays.
create function count_tools() returns trigger language plpgsql security definer as $$
declare
    r record;
begin
    if tg_op = 'UPDATE' then
        perform count_quota(new.tenant_id, 'tools', case when new.deleted_at is null then 1 else -1 end);
        return null;
    end if;
    for r in
        select c.tenant_id, count(*) as n from changed c where c.tenant_id is not null and c.deleted_at is null
        group by c.tenant_id order by c.tenant_id
    loop
        perform count_quota(r.tenant_id, 'tools', case tg_op when 'INSERT' then r.n else -r.n end);
    end loop;
    return null;
end
$$;

-- Rows of the table, by the name of their quota.
create function count_rows() returns trigger language plpgsql security definer as $$
declare
    r record;
begin
    for r in select c.tenant_id, count(*) as n from changed c group by c.tenant_id order by c.tenant_id loop
        perform count_quota(r.tenant_id, tg_argv[0], case tg_op when 'INSERT' then r.n else -r.n end);
    end loop;
    return null;
end
$$;

create function count_documents() returns trigger language plpgsql security definer as $$
declare
    r record;
begin
    if tg_op = 'UPDATE' then
        perform count_quota(new.tenant_id, 'storage_bytes', new.bytes - old.bytes);
        return null;
    end if;
    for r in
        select c.tenant_id, count(*) as n, sum(c.bytes::bigint)::bigint as bytes from changed c group by c.tenant_id order by c.tenant_id
    loop
        perform count_quota(r.tenant_id, 'documents', case tg_op when 'INSERT' then r.n else -r.n end);
        perform count_quota(r.tenant_id, 'storage_bytes', case tg_op when 'INSERT' then r.bytes else -r.bytes end);
    end loop;
    return null;
end
$$;

create function count_files() returns trigger language plpgsql security definer as $$
declare
    r record;
begin
    for r in select c.tenant_id, sum(c.size)::bigint as bytes from changed c group by c.tenant_id order by c.tenant_id loop
        perform count_quota(r.tenant_id, 'storage_bytes', case tg_op when 'INSERT' then r.bytes else -r.bytes end);
    end loop;
    return null;
end
$$;

create function count_artifact_versions() returns trigger language plpgsql security definer as $$
declare
    r record;
begin
    for r in
        select c.tenant_id, sum(octet_length(c.content))::bigint as bytes from changed c group by c.tenant_id order by c.tenant_id
    loop
        perform count_quota(r.tenant_id, 'artifact_bytes', case tg_op when 'INSERT' then r.bytes else -r.bytes end);
    end loop;
    return null;
end
$$;

create function count_idempotency_keys() returns trigger language plpgsql security definer as $$
declare
    r record;
begin
    for r in select c.tenant_id, count(*) as n from changed c group by c.tenant_id order by c.tenant_id loop
        if tg_op = 'INSERT' then
            perform count_spread_quota(r.tenant_id, 'idempotency_keys', r.n);
        else
            perform count_quota(r.tenant_id, 'idempotency_keys', -r.n);
        end if;
    end loop;
    return null;
end
$$;

-- Compares the counts of a tenant with what it has, as one statement sees both, and with repair
-- corrects them by the difference. Returns a row for each that differs.
create function recount_quotas(p_tenant uuid, p_repair boolean) returns json language plpgsql security definer as $$
declare
    v_wrong json;
begin
    if p_repair then
        perform pg_advisory_xact_lock(hashtextextended('quotas/' || p_tenant::text, 0));
    end if;
    perform set_config('app.tenant_id', p_tenant::text, true);
    with found as (
        select 'tools' as name, count(*) as n from tool_registry t where t.scope_id = p_tenant and t.deleted_at is null
        union all
        select 'agents', count(*) from agents a where a.tenant_id = p_tenant
        union all
        select 'documents', count(*) from documents d where d.tenant_id = p_tenant
        union all
        select 'storage_bytes', (select coalesce(sum(d.bytes), 0) from documents d where d.tenant_id = p_tenant)
            + (select coalesce(sum(f.size), 0) from files f where f.tenant_id = p_tenant)
        union all
        select 'artifacts', count(*) from artifacts a where a.tenant_id = p_tenant
        union all
        select 'artifact_bytes', coalesce(sum(octet_length(v.content)), 0) from artifact_versions v where v.tenant_id = p_tenant
        union all
        select 'idempotency_keys', count(*) from idempotency_keys k where k.tenant_id = p_tenant
    ), counted as (
        select c.name, sum(c.used) as n from quota_counts c where c.tenant_id = p_tenant group by c.name
    ), wrong as (
        select f.name, coalesce(c.n, 0)::bigint as counted, f.n::bigint as found
        from found f left join counted c on c.name = f.name
        where f.n <> coalesce(c.n, 0)
    )
    select coalesce(json_agg(json_build_object('name', w.name, 'counted', w.counted, 'found', w.found) order by w.name), '[]')
    into v_wrong from wrong w;
    perform set_config('app.tenant_id', '', true);
    if p_repair then
        insert into quota_counts as c (tenant_id, name, used)
        select p_tenant, w.name, w.found - w.counted
        from json_to_recordset(v_wrong) as w (name text, counted bigint, found bigint) order by w.name
        on conflict (tenant_id, name, part) do update set used = c.used + excluded.used;
        delete from quota_counts c where c.tenant_id = p_tenant and c.name = 'uncounted';
    end if;
    return v_wrong;
end
$$;

do $$
declare
    f text;
begin
    foreach f in array array['count_tools()', 'count_rows()', 'count_documents()', 'count_files()', 'count_artifact_versions()',
        'count_idempotency_keys()', 'recount_quotas(uuid, boolean)']
    loop
        execute format('alter function %s set search_path = %I, pg_temp', f, current_schema());
        execute format('revoke all on function %s from public', f);
    end loop;
end
$$;

revoke all on function count_quota(uuid, text, bigint), count_spread_quota(uuid, text, bigint) from public;

create trigger quota_made after insert on tool_registry referencing new table as changed
    for each statement execute function count_tools();
create trigger quota_gone after delete on tool_registry referencing old table as changed
    for each statement execute function count_tools();
create trigger quota_changed after update of deleted_at on tool_registry for each row
    when (new.tenant_id is not null and (new.deleted_at is null) <> (old.deleted_at is null)) execute function count_tools();
create trigger quota_made after insert on agents referencing new table as changed
    for each statement execute function count_rows('agents');
create trigger quota_gone after delete on agents referencing old table as changed
    for each statement execute function count_rows('agents');
create trigger quota_made after insert on documents referencing new table as changed
    for each statement execute function count_documents();
create trigger quota_gone after delete on documents referencing old table as changed
    for each statement execute function count_documents();
create trigger quota_changed after update of bytes on documents for each row
    when (new.bytes <> old.bytes) execute function count_documents();
create trigger quota_made after insert on files referencing new table as changed
    for each statement execute function count_files();
create trigger quota_gone after delete on files referencing old table as changed
    for each statement execute function count_files();
create trigger quota_made after insert on artifacts referencing new table as changed
    for each statement execute function count_rows('artifacts');
create trigger quota_gone after delete on artifacts referencing old table as changed
    for each statement execute function count_rows('artifacts');
create trigger quota_made after insert on artifact_versions referencing new table as changed
    for each statement execute function count_artifact_versions();
create trigger quota_gone after delete on artifact_versions referencing old table as changed
    for each statement execute function count_artifact_versions();
create trigger quota_made after insert on idempotency_keys referencing new table as changed
    for each statement execute function count_idempotency_keys();
create trigger quota_gone after delete on idempotency_keys referencing old table as changed
    for each statement execute function count_idempotency_keys();

-- Tenants whose things are not counted yet. The migrator counts them tenant by tenant, behind this
-- step, while the database is in use; changes are counted from here on.
-- Those have rows for all counts from the start, as a deletion that finds none is not counted; of other tenants
-- something is made, and counted, before it is deleted.
insert into quota_counts (tenant_id, name)
select t.id, n.name
from tenants t
cross join unnest('{tools,agents,documents,storage_bytes,artifacts,artifact_bytes,idempotency_keys,uncounted}'::text[]) as n (name);
