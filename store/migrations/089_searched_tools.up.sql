-- migrate: online
-- The setting is read once for a statement, and not for each row of a registry that is searched.
alter policy tenant_read on tool_registry
    using (tenant_id = (select nullif(current_setting('app.tenant_id', true), '')::uuid)
        or tenant_id is null and (tenant_slugs = '{}' or (
            select n.slug from tenants n where n.id = nullif(current_setting('app.tenant_id', true), '')::uuid) = any (tenant_slugs)));

-- What is searched in tools, in the order of slugs, so that their rows are not read: with the columns of the
-- expression and of the policy, which a scan of the index alone has to have. An entry of it has room for so much text.
create index concurrently tool_registry_texts on tool_registry
    (scope_id, slug, lower((slug || ' ' || name || ' ' || description) collate "C"))
    include (id, tenant_id, tenant_slugs, archived_at, name, description)
    where deleted_at is null
      and (tenant_id is not null and tenant_slugs = '{}' and octet_length(name) + octet_length(description) <= 1000);

-- The others, whose rows are read.
create index concurrently tool_registry_long_texts on tool_registry (scope_id, slug)
    where deleted_at is null
      and not (tenant_id is not null and tenant_slugs = '{}' and octet_length(name) + octet_length(description) <= 1000);
