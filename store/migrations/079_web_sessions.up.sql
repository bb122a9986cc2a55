-- Browsers that signed in, by the digest of their secret.

create table web_sessions (
    tenant_id    uuid not null references tenants on delete cascade,
    token_hash   bytea not null check (octet_length(token_hash) = 32),
    key_id       uuid, -- of the API key that it was begun with
    subject      text, -- of the person whose token it was begun with
    roles        text[] not null default '{}', -- of that person, as the token said
    created_at   timestamptz not null default now(),
    last_used_at timestamptz not null default now(), -- to the minute
    idle_ends_at timestamptz not null,
    ends_at      timestamptz not null, -- however much it is used
    primary key (token_hash, tenant_id),
    check ((key_id is null) <> (subject is null))
);

create index web_sessions_ended on web_sessions (tenant_id, idle_ends_at);

comment on table web_sessions is 'Sessions of browsers, one row for each tenant that the secret of one opens. Authority is that of the key or the person, read at each request.';

alter table web_sessions enable row level security;
alter table web_sessions force row level security;

create policy tenant_isolation on web_sessions
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);

-- For the functions below: their callers have the digest of the browser's secret.
create policy browser on web_sessions to toolcrib_owner using (true) with check (true);

grant select, insert, update, delete on web_sessions to toolcrib_app;

-- The tenants that a browser is signed in to, as a list of slugs and names.
create function web_session_tenants(of_hash bytea) returns json language sql stable security definer as $$
    select coalesce(json_agg(json_build_object('slug', t.slug, 'name', t.name) order by t.slug), '[]')
    from web_sessions w join tenants t on t.id = w.tenant_id
    where w.token_hash = of_hash and w.idle_ends_at > now() and w.ends_at > now() and t.status = 'active'
$$;

-- Gives the sessions of a browser another secret, when it signs in to another tenant.
create function move_web_sessions(from_hash bytea, to_hash bytea) returns void language sql security definer as $$
    update web_sessions w set token_hash = to_hash
    where w.token_hash = from_hash and w.idle_ends_at > now() and w.ends_at > now()
$$;

-- Signs a browser out of every tenant.
create function end_web_sessions(of_hash bytea) returns void language sql security definer as $$
    delete from web_sessions w where w.token_hash = of_hash
$$;

do $$
declare
    name text;
begin
    foreach name in array '{web_session_tenants(bytea),"move_web_sessions(bytea,bytea)",end_web_sessions(bytea)}'::text[] loop
        execute format('alter function %s set search_path = %I, pg_temp', name, current_schema());
        execute format('revoke all on function %s from public', name);
        execute format('grant execute on function %s to toolcrib_app', name);
    end loop;
end
$$;
