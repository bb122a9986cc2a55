-- Every table of a tenant has row level security forced on it, with the tenant
-- taken from the setting app.tenant_id, which each transaction sets for itself.
-- Without the setting no row is visible.

-- Guards what must never change once written; the triggers say when.
create function refuse_change() returns trigger language plpgsql as $$
begin
    raise exception 'what stands in % is immutable', tg_table_name using errcode = 'restrict_violation';
end
$$;

create table tenants (
    id         uuid primary key,
    slug       text not null unique check (slug ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
    name       text not null check (name <> ''),
    status     text not null default 'active' check (status in ('active', 'suspended')),
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now()
);

alter table tenants enable row level security;
alter table tenants force row level security;

create policy tenant_isolation on tenants
    using (id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    with check (id = nullif(current_setting('app.tenant_id', true), '')::uuid);
create policy platform_tenants on tenants to toolcrib_owner, toolcrib_maintenance
    using (true) with check (true);

grant select on tenants to toolcrib_app;
grant select, insert, update (name, status, updated_at) on tenants to toolcrib_maintenance;

create table api_keys (
    id           uuid not null,
    tenant_id    uuid not null references tenants on delete cascade,
    name         text not null check (name <> ''),
    secret_hash  bytea not null check (octet_length(secret_hash) = 32), -- sha256 of the secret
    permissions  text[] not null default '{}',
    scopes       text[] not null default '{}',
    created_by   text not null default '',
    expires_at   timestamptz,
    revoked_at   timestamptz,
    last_used_at timestamptz, -- to the minute
    created_at   timestamptz not null default now(),
    primary key (tenant_id, id)
);

alter table api_keys enable row level security;
alter table api_keys force row level security;

create policy tenant_isolation on api_keys
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);

grant select, insert, update (revoked_at, last_used_at) on api_keys to toolcrib_app;
