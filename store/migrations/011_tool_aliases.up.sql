-- Further names of tools, as the version that was published last has them. A
-- name leads to one tool of its scope: who has it keeps it. One whose last day is
-- over leads nowhere, and is free.

create table tool_aliases (
    tenant_id  uuid references tenants on delete cascade,
    scope_id   uuid not null generated always as
                   (coalesce(tenant_id, '00000000-0000-0000-0000-000000000000'::uuid)) stored,
    alias      text not null check (alias ~ '^[a-zA-Z][a-zA-Z0-9_-]{0,63}$'),
    tool_id    uuid not null,
    remove_by  date, -- the last day, in UTC; never, for an alias; long ago, for one that was taken back
    created_at timestamptz not null default now(),
    primary key (scope_id, alias),
    foreign key (tool_id, scope_id) references tool_registry (id, scope_id) on delete cascade
);

create index tool_aliases_tool on tool_aliases (tool_id);

comment on table tool_aliases is 'Names, beside their slugs, that people and clients call tools by.';

alter table tool_aliases enable row level security;
alter table tool_aliases force row level security;

-- A global tool's names are for those who see the tool.
create policy tenant_read on tool_aliases for select
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid
        or tenant_id is null and (select true from tool_registry t where t.id = tool_id and t.scope_id = tool_aliases.scope_id));
create policy tenant_insert on tool_aliases for insert
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
create policy tenant_update on tool_aliases for update
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
create policy platform_globals on tool_aliases to toolcrib_owner
    using (tenant_id is null) with check (tenant_id is null);

grant select, insert, update on tool_aliases to toolcrib_app;
