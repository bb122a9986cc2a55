-- Versions that a canary withheld from runs would be given to all of them: their tools are disabled.
alter table tool_registry no force row level security;
update tool_registry t set status = 'disabled', revision = t.revision + 1
where exists (select from tool_canaries c where c.tool_id = t.id and c.tenant_id = t.tenant_id and c.withheld > 0);
alter table tool_registry force row level security;

drop table tool_replays;
drop table tool_gates;
drop table tool_canaries;
drop function canary_tenants(integer);
drop function deliver_canary();
alter table tool_registry drop constraint tool_registry_archived;
alter table tool_registry drop column archived_by;
alter table tool_registry drop column archived_at;
