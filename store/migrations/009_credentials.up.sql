-- Credentials of tenants, encrypted by data keys, which are encrypted by a key
-- that the database never sees. What stands here opens nothing.

create table tenant_keys (
    tenant_id  uuid not null references tenants on delete cascade,
    version    integer not null check (version > 0),
    wrapped    bytea not null check (octet_length(wrapped) > 0), -- the data key, encrypted
    kek_id     text not null check (kek_id <> ''),               -- the key-encryption key it is encrypted by
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    primary key (tenant_id, version)
);

comment on table tenant_keys is 'Data keys of tenants, wrapped; credentials are encrypted by them.';

alter table tenant_keys enable row level security;
alter table tenant_keys force row level security;

create policy tenant_isolation on tenant_keys
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);

grant select, insert, update (wrapped, kek_id, updated_at) on tenant_keys to toolcrib_app;

create table credentials (
    tenant_id        uuid not null references tenants on delete cascade,
    id               uuid not null,
    ref              text not null check (ref ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$'),
    category         text not null default '', -- what it is for; empty where it is found by ref alone
    provider_key     text not null default '',
    provider_variant text not null default '',
    hosts            text[] not null,          -- where it may be sent
    version          integer not null check (version > 0), -- of the value
    key_version      integer not null,         -- of the data key
    ciphertext       bytea,                    -- gone once it is revoked
    revision         bigint not null default 1,
    created_at       timestamptz not null default now(),
    updated_at       timestamptz not null default now(),
    rotated_at       timestamptz,
    last_used_at     timestamptz,              -- to the minute
    expires_at       timestamptz,
    revoked_at       timestamptz,
    primary key (tenant_id, id),
    foreign key (tenant_id, key_version) references tenant_keys (tenant_id, version),
    check ((category = '') = (provider_key = '') and (category <> '' or provider_variant = '')),
    check ((ciphertext is null) = (revoked_at is not null))
) with (fillfactor = 80); -- uses are noted in place

create unique index credentials_ref on credentials (tenant_id, ref) where revoked_at is null;
create unique index credentials_selector on credentials (tenant_id, category, provider_key, provider_variant)
    where revoked_at is null and category <> '';

comment on table credentials is 'What tools authenticate with, encrypted; a revoked one has no value any more.';

alter table credentials enable row level security;
alter table credentials force row level security;

create policy tenant_isolation on credentials
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);

grant select, insert, update (category, provider_key, provider_variant, hosts, version, key_version, ciphertext, revision,
    updated_at, rotated_at, last_used_at, expires_at, revoked_at) on credentials to toolcrib_app;
