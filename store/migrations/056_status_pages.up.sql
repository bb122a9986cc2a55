-- migrate: online
-- The statuses of calls that failed before the column was there. Their rows do not change any
-- more, so nothing waits. No line but the last ends a statement.
do $$
declare tenant uuid; -- each
begin
    for tenant in select id from tenants loop
        perform set_config('app.tenant_id', tenant::text, true); -- for row-level security
        update tool_invocations set failed_status = status
        where tenant_id = tenant and failed_status is null and status in ('failed', 'rejected', 'cancelled', 'expired', 'unknown'); --
    end loop; --
    perform set_config('app.tenant_id', '', true); --
end $$;

create index concurrently tool_invocations_failed_status on tool_invocations (tenant_id, failed_status, id desc)
    where failed_status is not null;

-- The calls that have not ended. The row of an effect is smaller, and has fewer indexes.
create index concurrently effects_open on effects (tenant_id, invocation_id desc) where phase <> 'done';

drop index if exists tool_invocations_status;

-- PostgreSQL reads and plans the checks of a table anew in each statement that writes to it. A
-- list of values is one value of an array here instead of one expression for each.
alter table effects
    drop constraint if exists effects_phase_check,
    add constraint effects_phase_check check (phase = any ('{accepted,admitted,sent,done}'::text[])) not valid;
alter table effects validate constraint effects_phase_check;

alter table messages
    drop constraint if exists messages_role_check,
    add constraint messages_role_check check (role = any ('{system,user,assistant,tool}'::text[])) not valid;
alter table messages validate constraint messages_role_check;

alter table runs
    drop constraint if exists runs_kind_check,
    add constraint runs_kind_check check (kind = any ('{agent,tool_call,tool_test,host}'::text[])) not valid,
    drop constraint if exists runs_mode_check,
    add constraint runs_mode_check check (mode = any ('{production,debug}'::text[])) not valid,
    drop constraint if exists runs_status_check,
    add constraint runs_status_check check (status = any ('{pending,running,completed,failed,cancelled,hosted}'::text[])) not valid;
alter table runs validate constraint runs_kind_check;
alter table runs validate constraint runs_mode_check;
alter table runs validate constraint runs_status_check;

alter table tool_invocations
    drop constraint if exists tool_invocations_mode_check,
    add constraint tool_invocations_mode_check check (mode = any ('{production,debug}'::text[])) not valid,
    drop constraint if exists tool_invocations_status_check,
    add constraint tool_invocations_status_check check (status = any ('{pending,approved,running,waiting,completed,failed,rejected,cancelled,expired,unknown}'::text[])) not valid,
    drop constraint if exists tool_invocations_approval_status_check,
    add constraint tool_invocations_approval_status_check check (approval_status = any ('{not_required,pending,approved,rejected,expired}'::text[])) not valid;
alter table tool_invocations validate constraint tool_invocations_mode_check;
alter table tool_invocations validate constraint tool_invocations_status_check;
alter table tool_invocations validate constraint tool_invocations_approval_status_check;
