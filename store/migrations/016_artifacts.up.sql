-- Programs that tenants upload, and their versions. What runs is a version: it
-- never changes. Whether it may run at all is the artifact's, read at each call.

create table artifacts (
    id          uuid not null,
    tenant_id   uuid not null references tenants on delete cascade,
    slug        text not null check (slug ~ '^[a-zA-Z][a-zA-Z0-9_-]{0,63}$'),
    name        text not null,
    description text not null default '',
    language    text not null check (language in ('jq', 'javascript', 'wasm')),
    status      text not null default 'active' check (status in ('active', 'deprecated', 'disabled')),
    version     text not null default '',          -- of the newest version; empty before the first
    revision    bigint not null default 1,
    created_by  text not null default '',
    created_at  timestamptz not null default now(),
    updated_at  timestamptz not null default now(),
    primary key (tenant_id, id),
    unique (tenant_id, slug)
);

-- What an admission looks for: there are few.
create index artifacts_disabled on artifacts (tenant_id, id) where status = 'disabled';

comment on table artifacts is 'Programs that tenants uploaded.';

alter table artifacts enable row level security;
alter table artifacts force row level security;

create policy tenant_isolation on artifacts
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);

grant select, insert, update on artifacts to toolcrib_app;

create table artifact_versions (
    tenant_id   uuid not null references tenants on delete cascade,
    artifact_id uuid not null,
    version     text not null,
    digest      text not null,                     -- SHA-256 of content, in hexadecimal
    inputs      json not null default '[]',        -- [{"name", "type", "description", "required"}]
    content     bytea not null check (octet_length(content) <= 4194304),
    created_by  text not null default '',
    created_at  timestamptz not null default now(),
    primary key (tenant_id, artifact_id, version),
    foreign key (tenant_id, artifact_id) references artifacts (tenant_id, id) on delete cascade
);

comment on table artifact_versions is 'Versions of uploaded programs, which never change.';

alter table artifact_versions enable row level security;
alter table artifact_versions force row level security;

create policy tenant_isolation on artifact_versions
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);

grant select, insert on artifact_versions to toolcrib_app;
