-- Published views: results of calls and descriptions of tools, shown to anyone who has the link, and the tenant's
-- switch for publishing them.

alter table tenants add column mcp_apps_publish_enabled boolean not null default false;

comment on column tenants.mcp_apps_publish_enabled is 'Whether views may be published. Off, no link is made, and MCP clients are not offered the tools that publish.';

grant update (mcp_apps_publish_enabled) on tenants to toolcrib_app, toolcrib_maintenance;

create table published_views (
    tenant_id   uuid not null references tenants on delete cascade,
    id          uuid not null,
    name        text not null check (name <> '' and length(name) <= 200), -- the title of its page
    description text not null default '' check (length(description) <= 2000),
    kind        text not null check (kind in ('result', 'tool')), -- display only: nothing that takes an answer
    tool_id     uuid not null, -- whose result, or description, is shown
    tool        text not null, -- its slug when it was published
    version     text not null,
    digest      text not null,
    run_id      uuid check ((run_id is null) = (kind = 'tool')), -- of the call whose result is shown
    secret_hash bytea not null check (length(secret_hash) = 32), -- sha256 of the token; the token is not stored
    expires_at  timestamptz not null,
    revoked_at  timestamptz,
    rotations   integer not null default 0,
    created_by  text not null default '',
    changed_by  text not null default '',
    created_at  timestamptz not null default now(),
    updated_at  timestamptz not null default now(),
    primary key (tenant_id, id)
);

comment on table published_views is 'Views that a link shows without a login. Those that expired or were revoked more than 90 days ago are deleted as others are published.';

create index published_views_expires on published_views (tenant_id, expires_at);

alter table published_views enable row level security;
alter table published_views force row level security;

create policy tenant_isolation on published_views
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);

grant select, insert, update, delete on published_views to toolcrib_app;

create trigger audit after insert or update or delete on published_views for each row
    execute function audit_row('{changed_by,created_by,digest}', '{secret_hash}', 'view');
