-- Requests that waited for long may be decided by others too.

alter table approvals
    add column escalates_at timestamptz,                 -- from when on
    add column escalate_to  text not null default '',    -- the permission of those others
    add column escalated_at timestamptz;                 -- when the event of that was written

-- The keys of at most so many pending requests, of any tenant, whose time to escalate has come
-- and whose event is not written, as {"t": tenant, "i": id}. Each is written as its tenant.
create function escalating_approvals(most integer) returns json
    language sql stable security definer as $$
    select coalesce(json_agg(json_build_object('t', o.tenant_id, 'i', o.id)), '[]') from (
        select a.tenant_id, a.id from approvals a
        where a.status = 'pending' and a.escalates_at <= now() and a.escalated_at is null and a.expires_at > now()
        order by a.escalates_at
        limit most) o
$$;

do $$
begin
    execute format('alter function escalating_approvals(integer) set search_path = %I, pg_temp', current_schema());
end
$$;

revoke all on function escalating_approvals(integer) from public;
grant execute on function escalating_approvals(integer) to toolcrib_app, toolcrib_maintenance;
