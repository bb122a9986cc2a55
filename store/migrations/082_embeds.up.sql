-- Published tools in frames of other sites' pages: which origins may frame them, and the tokens that run them.

create table embed_origins (
    tenant_id  uuid not null references tenants on delete cascade,
    id         uuid not null,
    name       text not null check (length(name) between 1 and 255), -- the origin, such as https://shop.example.com
    created_by text not null default '',
    created_at timestamptz not null default now(),
    primary key (tenant_id, id),
    unique (tenant_id, name)
);

comment on table embed_origins is 'Origins whose pages may frame the tools of a tenant; at most 20 of one.';

create table embed_tokens (
    tenant_id   uuid not null references tenants on delete cascade,
    id          uuid not null,
    secret_hash bytea not null check (length(secret_hash) = 32), -- sha256 of the token; the token is not stored
    origin      text not null, -- of the page that frames the tool
    tool_id     uuid not null,
    tool        text not null, -- its slug when the token was made
    version     text not null,
    digest      text not null,
    caller      text not null check (length(caller) between 1 and 128), -- whom the host's backend named
    key_id      uuid not null, -- of the API key that made the token
    permission  text not null default '', -- what the tool asked for then: all that calls with the token may do
    expires_at  timestamptz not null,
    created_at  timestamptz not null default now(),
    primary key (tenant_id, id)
);

comment on table embed_tokens is 'Tokens that run one version of a tool in a frame, good for five minutes. Those that expired are deleted as others of the tenant are made.';

create index embed_tokens_expires on embed_tokens (tenant_id, expires_at);

do $$
declare t text;
begin
    foreach t in array array['embed_origins', 'embed_tokens'] loop
        execute format('alter table %I enable row level security', t);
        execute format('alter table %I force row level security', t);
        execute format('create policy tenant_isolation on %I
            using (tenant_id = nullif(current_setting(''app.tenant_id'', true), '''')::uuid)
            with check (tenant_id = nullif(current_setting(''app.tenant_id'', true), '''')::uuid)', t);
    end loop;
end $$;

grant select, insert, delete on embed_origins to toolcrib_app;
grant select, insert, delete on embed_tokens to toolcrib_app;

create trigger audit after insert or update or delete on embed_origins for each row
    execute function audit_row('{created_by}', '{}', 'embed_origin');
