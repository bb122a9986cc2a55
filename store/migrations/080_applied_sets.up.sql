-- What each set of definitions made, so that what the set no longer has can be taken away.

create table applied_objects (
    tenant_id  uuid not null references tenants on delete cascade,
    kind       text not null check (kind in ('tool', 'agent', 'mcp_server', 'artifact', 'pipeline', 'profile', 'toolset')),
    object_id  uuid not null,
    slug       text not null, -- when it was applied
    set_name   text not null check (set_name ~ '^[a-z0-9][a-z0-9._-]{0,62}$'),
    applied_at timestamptz not null default now(),
    applied_by text not null,
    removed_at timestamptz, -- when it was taken away, which a later definition of it takes back
    primary key (tenant_id, kind, object_id)
);

create index applied_objects_of_set on applied_objects (tenant_id, set_name);

comment on table applied_objects is 'The set of definitions that an object belongs to: that of the last one that it was applied with.';

alter table applied_objects enable row level security;
alter table applied_objects force row level security;

create policy tenant_isolation on applied_objects
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);

grant select, insert, update, delete on applied_objects to toolcrib_app;
