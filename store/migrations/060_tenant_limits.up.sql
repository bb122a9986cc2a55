-- A tenant's own limit of unfinished runs, and what waits and runs of each tenant.

alter table tenants add column max_unfinished_runs integer;

comment on column tenants.max_unfinished_runs is 'Pending and running runs that it may have; null for the limit of the servers.';

create policy open_read on runs for select to toolcrib_owner using (completed_at is null);
create policy waiting_read on pending_tool_calls for select to toolcrib_owner using (status = 'waiting');

-- Counts over all tenants, and of those with the most pending runs: runs that are pending and
-- running, calls that wait for somebody, and the age in seconds of the oldest pending run.
create function queue_depths(most integer) returns json
    language sql security definer as $$
    with open as (
        select r.tenant_id, count(*) filter (where r.status = 'pending') as pending,
            count(*) filter (where r.status = 'running') as running,
            min(r.created_at) filter (where r.status = 'pending') as oldest
        from runs r where r.completed_at is null
        group by r.tenant_id
    ), waits as (
        select w.tenant_id, count(*) as waiting from (
            select a.tenant_id from approvals a where a.status = 'pending'
            union all
            select p.tenant_id from pending_tool_calls p where p.status = 'waiting') w
        group by w.tenant_id
    ), depths as (
        select coalesce(o.tenant_id, w.tenant_id) as tenant_id, coalesce(o.pending, 0) as pending,
            coalesce(o.running, 0) as running, coalesce(w.waiting, 0) as waiting,
            coalesce(extract(epoch from clock_timestamp() - o.oldest), 0) as oldest_s
        from open o full join waits w on w.tenant_id = o.tenant_id
    ), top as (
        select d.*, t.slug from depths d join tenants t on t.id = d.tenant_id
        where d.pending + d.running + d.waiting > 0
        order by d.pending desc, d.running + d.waiting desc, d.tenant_id
        limit most
    )
    select json_build_object(
        'pending', coalesce(sum(d.pending), 0), 'running', coalesce(sum(d.running), 0),
        'waiting', coalesce(sum(d.waiting), 0), 'oldest_s', coalesce(max(d.oldest_s), 0),
        'tenants', coalesce((
            select json_agg(json_build_object('tenant_id', x.tenant_id, 'slug', x.slug, 'pending', x.pending,
                'running', x.running, 'waiting', x.waiting, 'oldest_s', x.oldest_s)
                order by x.pending desc, x.running + x.waiting desc, x.tenant_id)
            from top x), '[]'))
    from depths d
$$;

do $$
begin
    execute format('alter function queue_depths(integer) set search_path = %I, pg_temp', current_schema());
end
$$;

revoke all on function queue_depths(integer) from public;
grant execute on function queue_depths(integer) to toolcrib_app, toolcrib_maintenance;
