-- Servers that speak the Model Context Protocol, as tenants attached them, and
-- what each of them offers.

create table mcp_servers (
    id               uuid not null,
    tenant_id        uuid not null references tenants on delete cascade,
    slug             text not null check (slug ~ '^[a-z][a-z0-9-]{0,31}$'),
    name             text not null,
    transport        text not null check (transport in ('streamable_http', 'sse', 'stdio')),
    url              text not null default '',
    command          text not null default '',     -- names what an operator configured; never a command line
    headers          json not null default '{}',   -- no secrets: those are named by auth
    auth             json,                          -- {"type", "credentials_ref", "header"}
    allowed_tools    text[] not null default '{}', -- '*' stands for all, nothing for none
    trust_hints      boolean not null default false,
    status           text not null default 'active' check (status in ('active', 'disabled')),
    discovered_at    timestamptz,                   -- when it was asked last
    discovery_error  text not null default '',     -- what that failed with
    protocol_version text not null default '',
    server_name      text not null default '',     -- as it calls itself
    server_version   text not null default '',
    revision         bigint not null default 1,
    created_by       text not null default '',
    created_at       timestamptz not null default now(),
    updated_at       timestamptz not null default now(),
    detached_at      timestamptz,                   -- since when it is history
    primary key (tenant_id, id)
);

create unique index mcp_servers_slug on mcp_servers (tenant_id, slug) where detached_at is null;

comment on table mcp_servers is 'MCP servers that tenants attached.';

alter table mcp_servers enable row level security;
alter table mcp_servers force row level security;

create policy tenant_isolation on mcp_servers
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);

grant select, insert, update on mcp_servers to toolcrib_app;

create table mcp_remote_tools (
    tenant_id       uuid not null references tenants on delete cascade,
    server_id       uuid not null,
    name            text not null,                 -- as the server calls it
    tool_id         uuid,                          -- the tenant's tool that was made of it, if one was
    state           text not null check (state in ('offered', 'pinned', 'changed', 'approved', 'gone', 'refused')),
    reason          text not null default '',      -- why, for people
    pinned_digest   text not null default '',      -- of the definition that may run
    pinned          json,
    approved_digest text not null default '',      -- of the definition that somebody let into the draft
    approved_by     text not null default '',
    approved_at     timestamptz,
    seen_digest     text not null default '',      -- of the definition that the server gave last
    seen            json,
    first_seen_at   timestamptz not null default now(),
    seen_at         timestamptz not null default now(),
    changed_at      timestamptz not null default now(), -- of state or definition
    primary key (tenant_id, server_id, name),
    foreign key (tenant_id, server_id) references mcp_servers (tenant_id, id) on delete cascade,
    foreign key (tool_id, tenant_id) references tool_registry (id, scope_id)
);

create unique index mcp_remote_tools_tool on mcp_remote_tools (tenant_id, tool_id) where tool_id is not null;

comment on table mcp_remote_tools is 'What MCP servers offer, and which definition of it may run.';

alter table mcp_remote_tools enable row level security;
alter table mcp_remote_tools force row level security;

create policy tenant_isolation on mcp_remote_tools
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);

grant select, insert, update on mcp_remote_tools to toolcrib_app;

-- Why the platform stopped a tool until somebody looks at it; empty where it
-- did not. Apart from status and is_active, which are people's to set.
alter table tool_registry add column quarantine text not null default '';
