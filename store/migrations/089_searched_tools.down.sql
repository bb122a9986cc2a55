drop index if exists tool_registry_long_texts;
drop index if exists tool_registry_texts;
alter policy tenant_read on tool_registry
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid
        or tenant_id is null and (tenant_slugs = '{}' or (
            select n.slug from tenants n where n.id = nullif(current_setting('app.tenant_id', true), '')::uuid) = any (tenant_slugs)));
