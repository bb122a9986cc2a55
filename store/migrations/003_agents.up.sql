create table agents (
    id           uuid not null,
    tenant_id    uuid not null references tenants on delete cascade,
    slug         text not null check (slug ~ '^[a-zA-Z][a-zA-Z0-9_-]{0,63}$'),
    name         text not null,
    definition   json not null,
    status       text not null default 'draft' check (status in ('draft', 'published', 'deprecated', 'disabled')),
    version      text not null,
    revision     bigint not null default 1,
    published_at timestamptz,
    created_at   timestamptz not null default now(),
    updated_at   timestamptz not null default now(),
    primary key (tenant_id, id),
    unique (tenant_id, slug)
);

alter table agents enable row level security;
alter table agents force row level security;

create policy tenant_isolation on agents
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);

grant select, insert, update on agents to toolcrib_app;

create table agent_versions (
    id           uuid not null,
    agent_id     uuid not null,
    tenant_id    uuid not null,
    version      text not null,
    digest       text not null check (digest ~ '^[0-9a-f]{64}$'),
    snapshot     json not null,
    published    boolean not null default false,
    published_at timestamptz,
    created_at   timestamptz not null default now(),
    primary key (tenant_id, id),
    unique (tenant_id, agent_id, version),
    foreign key (tenant_id, agent_id) references agents (tenant_id, id) on delete cascade
);

comment on table agent_versions is 'Immutable snapshots of agents; runs pin them by digest.';

create trigger agent_versions_immutable
    before update of id, agent_id, tenant_id, version, digest, snapshot, created_at on agent_versions
    for each row execute function refuse_change();
create trigger agent_versions_published_once
    before update on agent_versions
    for each row when (old.published and (not new.published or new.published_at is distinct from old.published_at))
    execute function refuse_change();

alter table agent_versions enable row level security;
alter table agent_versions force row level security;

create policy tenant_isolation on agent_versions
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);

grant select, insert, update (published, published_at) on agent_versions to toolcrib_app;
