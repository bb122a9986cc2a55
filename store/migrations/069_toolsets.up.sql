-- Toolsets: chosen tools of a tenant that MCP clients are offered under one address, and keys that work
-- at that address alone.

create table toolsets (
    tenant_id    uuid not null references tenants on delete cascade,
    id           uuid not null,
    slug         text not null check (slug ~ '^[a-z][a-z0-9-]{0,31}$'), -- of the address
    name         text not null,
    instructions text not null default '', -- for the models of clients
    catalog      text not null default 'auto' check (catalog in ('auto', 'all', 'search')),
    status       text not null default 'active' check (status in ('active', 'disabled')),
    tools        json not null default '[]', -- of {"tool_id", "version"}: a tool, and a constraint or nothing
    servers      uuid[] not null default '{}', -- attached MCP servers, of which all imported tools are in it
    revision     bigint not null default 1,
    created_by   text not null default '',
    changed_by   text not null default '',
    created_at   timestamptz not null default now(),
    updated_at   timestamptz not null default now(),
    primary key (tenant_id, id),
    unique (tenant_id, slug)
);

comment on table toolsets is 'Tools that tenants offer to MCP clients under one address. Tools and servers are in the row, so that the audit log has each change whole.';

alter table toolsets enable row level security;
alter table toolsets force row level security;

create policy tenant_isolation on toolsets
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);

grant select, insert, update, delete on toolsets to toolcrib_app;

create trigger audit after insert or update or delete on toolsets for each row
    execute function audit_row('{changed_by,created_by}', '{}', 'toolset');

-- Not a foreign key: a key whose toolset was deleted is revoked, and refused in any case; it never becomes a
-- key without a toolset.
alter table api_keys add column toolset_id uuid;

comment on column api_keys.toolset_id is 'The toolset at whose address alone the key works; null for a key of the API.';
