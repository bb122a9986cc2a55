-- Formerly every tenant read all that is global.
drop policy if exists tenant_read on tool_registry;
create policy tenant_read on tool_registry for select
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid
        or tenant_id is null and (tenant_slugs = '{}' or (
            select n.slug from tenants n where n.id = nullif(current_setting('app.tenant_id', true), '')::uuid) = any (tenant_slugs)));

drop policy if exists tenant_read on tool_versions;
create policy tenant_read on tool_versions for select
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid
        or tenant_id is null and (select true from tool_registry t where t.id = tool_id and t.scope_id = tool_versions.scope_id));
