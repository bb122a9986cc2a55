-- Roles of tenants, people who sign in with tokens, and limits of what a key may send.

create table roles (
    tenant_id   uuid not null references tenants on delete cascade,
    id          uuid not null,
    name        text not null check (name ~ '^[a-z][a-z0-9_-]{0,62}$'),
    description text not null default '',
    permissions text[] not null check (cardinality(permissions) between 1 and 200),
    revision    bigint not null default 1,
    created_by  text not null default '',
    changed_by  text not null default '',
    created_at  timestamptz not null default now(),
    changed_at  timestamptz not null default now(),
    primary key (tenant_id, id),
    unique (tenant_id, name)
);

comment on table roles is 'Sets of permissions that a tenant made, beside the built-in ones. Keys name them, and have what they permit at each use.';

alter table api_keys
    add column roles text[] not null default '{}', -- names: of built-in roles, and of the tenant's
    add column owner text not null default '', -- who answers for a service account
    add column requests_per_second integer, -- null for the servers' limit
    add column burst integer,
    add column bytes_per_minute bigint;

create table token_users (
    tenant_id     uuid not null references tenants on delete cascade,
    subject       text not null check (subject like 'user:_%/_%'),
    roles         text[] not null default '{}', -- those that the last token was mapped to
    first_seen_at timestamptz not null default now(),
    last_seen_at  timestamptz not null default now(), -- to the minute
    primary key (tenant_id, subject)
);

create index token_users_seen on token_users (tenant_id, last_seen_at);

comment on table token_users is 'People who signed in with tokens of an issuer. Those who were not seen for 90 days are deleted as others come.';

-- One token bucket for each principal with a limit: whole requests, and bytes, of which the number
-- may be negative. Servers take a share of the requests at a time.
create table request_buckets (
    tenant_id uuid not null references tenants on delete cascade,
    subject   text not null,
    requests  double precision not null,
    bytes     double precision not null,
    filled_at timestamptz not null default now(),
    primary key (tenant_id, subject)
) with (fillfactor = 50);

create index request_buckets_filled on request_buckets (tenant_id, filled_at);

comment on table request_buckets is 'What principals with a limit of requests or bytes may still send. Those that are full are deleted as others come.';

do $$
declare
    t text;
begin
    foreach t in array '{roles,token_users,request_buckets}'::text[] loop
        execute format('alter table %I enable row level security', t);
        execute format('alter table %I force row level security', t);
        execute format('create policy tenant_isolation on %I
            using (tenant_id = nullif(current_setting(''app.tenant_id'', true), '''')::uuid)
            with check (tenant_id = nullif(current_setting(''app.tenant_id'', true), '''')::uuid)', t);
        execute format('grant select, insert, update, delete on %I to toolcrib_app', t);
    end loop;
end
$$;

create trigger audit after insert or update or delete on roles for each row
    execute function audit_row('{changed_at,changed_by,created_by}', '{}', 'role');

-- What roles of a tenant permit. Built-in roles are none of them.
create function permissions_of_roles(p_tenant uuid, p_names text[]) returns text[] language sql stable as $$
    select coalesce(array_agg(distinct p), '{}')
    from roles r cross join unnest(r.permissions) p
    where r.tenant_id = p_tenant and r.name = any (p_names)
$$;

-- Gives back requests that a server took and did not use, counts bytes that it saw, and takes
-- a quarter of what a second allows, at least one. Returns how many were taken, and how many
-- requests and bytes are left. A rate of zero is no limit.
create function take_requests(
    p_tenant uuid, p_subject text, p_rate double precision, p_burst double precision, p_bytes_per_minute double precision,
    p_unused double precision, p_bytes double precision
) returns double precision[] language plpgsql as $$
declare
    b request_buckets;
    elapsed double precision;
    taken double precision := 0;
begin
    insert into request_buckets (tenant_id, subject, requests, bytes)
    values (p_tenant, p_subject, p_burst, p_bytes_per_minute)
    on conflict do nothing;
    if found then
        delete from request_buckets d
        where d.tenant_id = p_tenant and (d.tenant_id, d.subject) in (
            select o.tenant_id, o.subject from request_buckets o
            where o.tenant_id = p_tenant and o.filled_at < now() - interval '1 day'
            order by o.filled_at limit 10 for update skip locked);
    end if;
    select * into b from request_buckets o where o.tenant_id = p_tenant and o.subject = p_subject for update;
    elapsed := greatest(0, extract(epoch from clock_timestamp() - b.filled_at));
    b.requests := least(p_burst, b.requests + elapsed * p_rate + p_unused);
    b.bytes := least(p_bytes_per_minute, b.bytes + elapsed * p_bytes_per_minute / 60 - p_bytes);
    if p_rate > 0 and (p_bytes_per_minute = 0 or b.bytes > 0) then
        taken := greatest(0, least(floor(b.requests), greatest(1, ceil(p_rate / 4))));
        b.requests := b.requests - taken;
    end if;
    update request_buckets o set requests = b.requests, bytes = b.bytes, filled_at = greatest(b.filled_at, clock_timestamp())
    where o.tenant_id = p_tenant and o.subject = p_subject;
    return array[taken, b.requests, b.bytes];
end
$$;
