-- Tool sessions: several people submit inputs to one version of a tool, some by a link without a login, and the results
-- are joined.

create table tool_sessions (
    tenant_id   uuid not null references tenants on delete cascade,
    id          uuid not null,
    name        text not null check (name <> '' and length(name) <= 200), -- the title of its page
    tool_id     uuid not null,
    tool        text not null, -- its slug when the session was made
    version     text not null, -- submissions call this one
    digest      text not null,
    status      text not null default 'active' check (status in ('active', 'completed', 'cancelled')),
    entity_ids  text[] not null default '{}', -- what the session is about: the tenant's own ids
    config      json not null default '{}', -- inputs that are the same for each submission, and are not asked for
    aggregate   text not null default '', -- of the version: how submissions are joined
    permission  text not null default '', -- what the tool asked for then: all that submissions by the link may do
    secret_hash bytea check (length(secret_hash) = 32), -- sha256 of the token of the link; null for none
    link_until  timestamptz check ((link_until is null) = (secret_hash is null)),
    created_by  text not null default '',
    changed_by  text not null default '',
    ended_at    timestamptz check ((ended_at is null) = (status = 'active')),
    created_at  timestamptz not null default now(),
    updated_at  timestamptz not null default now(),
    primary key (tenant_id, id)
);

comment on table tool_sessions is 'Sessions in which several people call one version of a tool. Those that ended more than 400 days ago are deleted as others are made.';

create index tool_sessions_live on tool_sessions (tenant_id) where status = 'active';
create index tool_sessions_ended on tool_sessions (tenant_id, ended_at) where status <> 'active';

create table tool_session_submissions (
    tenant_id  uuid not null,
    id         uuid not null, -- also that of the run of the call
    session_id uuid not null,
    subject    text not null, -- who submitted; of the link, the session itself
    guest      text not null default '' check (length(guest) <= 100), -- the name that a person gave on the page of the link
    by_link    boolean not null, -- untrusted: anyone with the link wrote it
    input      json not null,
    nonce      text not null check (length(nonce) between 1 and 64), -- of the request: it submits once
    status     text not null default 'running' check (status in ('running', 'completed', 'failed')),
    output     json, -- the structured result, or the text
    error      text not null default '' check (length(error) <= 2000),
    created_at timestamptz not null default now(),
    ended_at   timestamptz check ((ended_at is null) = (status = 'running')),
    primary key (tenant_id, session_id, id),
    unique (tenant_id, session_id, nonce),
    foreign key (tenant_id, session_id) references tool_sessions (tenant_id, id) on delete cascade
);

comment on table tool_session_submissions is 'Inputs of tool sessions, with the results of their calls; at most 1000 of a session. They go with it.';

do $$
declare t text;
begin
    foreach t in array array['tool_sessions', 'tool_session_submissions'] loop
        execute format('alter table %I enable row level security', t);
        execute format('alter table %I force row level security', t);
        execute format('create policy tenant_isolation on %I
            using (tenant_id = nullif(current_setting(''app.tenant_id'', true), '''')::uuid)
            with check (tenant_id = nullif(current_setting(''app.tenant_id'', true), '''')::uuid)', t);
    end loop;
end $$;

grant select, insert, update, delete on tool_sessions to toolcrib_app;
grant select, insert, update on tool_session_submissions to toolcrib_app;

create trigger audit after insert or update or delete on tool_sessions for each row
    execute function audit_row('{changed_by,created_by,digest,permission}', '{secret_hash}', 'tool_session');
