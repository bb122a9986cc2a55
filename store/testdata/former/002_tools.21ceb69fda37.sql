-- A row without a tenant is global: every tenant reads it, only the platform
-- (the owner role) writes it. scope_id stands for the tenant in keys, where a
-- null could not: it is the tenant's id, or the nil UUID for a global row. A
-- reference that carries it cannot reach into another tenant.

create table tool_registry (
    id                  uuid not null,
    tenant_id           uuid references tenants on delete cascade,
    scope_id            uuid not null generated always as
                            (coalesce(tenant_id, '00000000-0000-0000-0000-000000000000'::uuid)) stored,
    scope               text not null generated always as
                            (case when tenant_id is null then 'global' else 'tenant' end) stored,
    slug                text not null check (slug ~ '^[a-zA-Z][a-zA-Z0-9_-]{0,63}$'),
    name                text not null,
    description         text not null default '',
    category            text not null default '',
    icon                text not null default '',
    schema              json not null default '{}', -- {"input": JSON Schema, "output": JSON Schema}
    config_schema       json not null default '{}', -- {"implementation": {…}, "execution": {…}}
    interaction         json not null default '{}',
    implementation_type text not null default '',
    egress_class        text not null default 'none' check (egress_class in ('none', 'read_only', 'write')),
    requires_approval   boolean not null default false,
    permission_policy   text not null default 'auto' check (permission_policy in ('auto', 'always_ask')),
    required_permission text not null default '',
    tenant_slugs        text[] not null default '{}', -- whom a global tool is for; empty for all
    status              text not null default 'draft' check (status in ('draft', 'published', 'deprecated', 'disabled')),
    is_active           boolean not null default true,
    is_system           boolean not null default false,
    builtin_key         text not null default '',
    builtin_template_id uuid,                           -- legacy metadata: kept, never read
    is_builtin_template boolean not null default false, -- legacy metadata: kept, never read
    artifact_id         text not null default '',
    artifact_version    text not null default '',
    version             text not null,
    revision            bigint not null default 1,
    published_at        timestamptz,
    created_at          timestamptz not null default now(),
    updated_at          timestamptz not null default now(),
    primary key (id, scope_id),
    unique (scope_id, slug)
);

comment on table tool_registry is 'Tools: the editable head, its state, and the authority over its calls.';

-- The egress guard: whatever a client says, a tool that changes something
-- outside needs an approval.
create function guard_tool_egress() returns trigger language plpgsql as $$
begin
    new.requires_approval := true;
    return new;
end
$$;

create trigger trg_tools_registry_egress_guard
    before insert or update on tool_registry
    for each row when (new.egress_class = 'write')
    execute function guard_tool_egress();

alter table tool_registry enable row level security;
alter table tool_registry force row level security;

create policy tenant_read on tool_registry for select
    using (tenant_id is null or tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
create policy tenant_insert on tool_registry for insert
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
create policy tenant_update on tool_registry for update
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
create policy platform_globals on tool_registry to toolcrib_owner
    using (tenant_id is null) with check (tenant_id is null);

grant select, insert, update on tool_registry to toolcrib_app;

create table tool_versions (
    id              uuid not null,
    tool_id         uuid not null,
    tenant_id       uuid references tenants on delete cascade,
    scope_id        uuid not null generated always as
                        (coalesce(tenant_id, '00000000-0000-0000-0000-000000000000'::uuid)) stored,
    version         text not null,
    digest          text not null check (digest ~ '^[0-9a-f]{64}$'),
    schema_snapshot json not null, -- the whole definition: schema, configuration, implementation type
    published       boolean not null default false,
    published_at    timestamptz,
    created_by      text not null default '',
    created_at      timestamptz not null default now(),
    primary key (id, scope_id),
    unique (tool_id, scope_id, version),
    foreign key (tool_id, scope_id) references tool_registry (id, scope_id) on delete cascade
);

create index tool_versions_digest on tool_versions (tool_id, digest);

comment on table tool_versions is 'Immutable snapshots of tools; runs pin them by digest.';

-- What a run pinned must never change under it: publishing, once, is the only
-- thing that may still happen to a version.
create trigger tool_versions_immutable
    before update of id, tool_id, tenant_id, version, digest, schema_snapshot, created_by, created_at on tool_versions
    for each row execute function refuse_change();
create trigger tool_versions_published_once
    before update on tool_versions
    for each row when (old.published and (not new.published or new.published_at is distinct from old.published_at))
    execute function refuse_change();

alter table tool_versions enable row level security;
alter table tool_versions force row level security;

create policy tenant_read on tool_versions for select
    using (tenant_id is null or tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
create policy tenant_insert on tool_versions for insert
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
create policy tenant_update on tool_versions for update
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
create policy platform_globals on tool_versions to toolcrib_owner
    using (tenant_id is null) with check (tenant_id is null);

grant select, insert, update (published, published_at) on tool_versions to toolcrib_app;
