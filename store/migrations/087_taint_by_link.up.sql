-- Visitors of links are untrusted sources: of the runs that their submissions begin, and of the calls that they answer.
alter table runs add column by_link boolean not null default false;
alter table pending_tool_calls add column by_link boolean not null default false;

comment on column runs.by_link is 'A visitor of a link submitted its call: runs of agents below it are tainted.';
comment on column pending_tool_calls.by_link is 'A visitor of a link submitted its result.';

-- What a run brings to the runs of agents that read what was submitted with it; null where it was not submitted by a link.
create function taint_by_link(p_tenant uuid, p_run uuid) returns jsonb language sql stable as $$
    select jsonb_build_object('source', 'link', 'run_id', r.id, 'invocation_id', coalesce(i.id::text, ''), 'tool', coalesce(i.tool, ''),
        'version', coalesce(i.version, ''), 'turn', 0, 'at', now())
    from runs r
    left join lateral (
        select c.id, c.tool, c.version from tool_invocations c
        where c.tenant_id = r.tenant_id and c.run_id = r.id and c.parent_id is null
        order by c.id limit 1) i on true
    where r.tenant_id = p_tenant and r.id = p_run and r.by_link
$$;

do $$
begin
    execute format('alter function taint_by_link(uuid, uuid) set search_path = %I, pg_temp', current_schema());
end
$$;
