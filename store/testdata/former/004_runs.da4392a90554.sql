create table runs (
    id              uuid not null,
    tenant_id       uuid not null references tenants on delete cascade,
    kind            text not null check (kind in ('agent', 'tool_call', 'host')),
    agent_id        uuid,
    agent           text not null default '',
    agent_version   text not null default '',
    mode            text not null check (mode in ('production', 'debug')),
    subject         text not null default '',
    permissions     text[] not null default '{}',
    scopes          text[] not null default '{}',
    status          text not null check (status in ('pending', 'running', 'completed', 'failed', 'cancelled', 'hosted')),
    input           json,
    output          text not null default '',
    error_kind      text not null default '',
    error           text not null default '',
    workflow_id     text not null,
    first_run_id    text not null default '',
    head_message_id uuid,
    turns           integer not null default 0,
    last_seq        bigint not null default 0, -- number of the run's last event
    plan            json,                      -- the run's lockfile
    created_at      timestamptz not null default now(),
    started_at      timestamptz,
    completed_at    timestamptz,
    primary key (tenant_id, id),
    foreign key (tenant_id, agent_id) references agents (tenant_id, id) on delete restrict
) with (fillfactor = 70); -- each event updates its run, in place where there is room

-- A host's workflow is recorded once, by whichever call comes first.
create unique index runs_workflow on runs (tenant_id, workflow_id, first_run_id) where kind <> 'agent';
create index runs_agent on runs (tenant_id, agent_id, id desc) where agent_id is not null;

alter table runs enable row level security;
alter table runs force row level security;

create policy tenant_isolation on runs
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);

grant select, insert, update on runs to toolcrib_app;

create table messages (
    id            uuid not null,
    tenant_id     uuid not null,
    run_id        uuid not null,
    parent_id     uuid,
    turn          integer not null,
    position      integer not null default 0, -- of a tool message: which call it answers
    role          text not null check (role in ('system', 'user', 'assistant', 'tool')),
    content       json not null,
    calls         json,                       -- as the model wrote them
    prepared      json,                       -- the same after resolution, coercion and policy
    turn_key      text,                       -- names the turn an assistant message is the answer of
    call_id       text not null default '',
    is_error      boolean not null default false,
    input_tokens  integer,
    output_tokens integer,
    created_at    timestamptz not null default now(),
    primary key (tenant_id, run_id, id),
    foreign key (tenant_id, run_id) references runs (tenant_id, id) on delete cascade,
    foreign key (tenant_id, run_id, parent_id) references messages (tenant_id, run_id, id)
);

create unique index messages_turn on messages (tenant_id, run_id, turn_key) where turn_key is not null;
create unique index messages_answer on messages (tenant_id, run_id, parent_id, position) where role = 'tool';

comment on table messages is 'Transcripts: immutable rows, linked to their parents.';

create trigger messages_immutable
    before update on messages
    for each row execute function refuse_change();

alter table messages enable row level security;
alter table messages force row level security;

create policy tenant_isolation on messages
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);

grant select, insert on messages to toolcrib_app;

create table run_events (
    id            bigint not null generated always as identity,
    tenant_id     uuid not null,
    run_id        uuid not null,
    seq           bigint not null, -- without gaps in its run
    type          text not null,
    invocation_id uuid,
    data          json,
    xid           xid8 not null default pg_current_xact_id(), -- orders a tenant's stream without skipping
    at            timestamptz not null default now(),
    primary key (tenant_id, run_id, seq),
    foreign key (tenant_id, run_id) references runs (tenant_id, id) on delete cascade
);

create index run_events_stream on run_events (tenant_id, xid, id);

alter table run_events enable row level security;
alter table run_events force row level security;

create policy tenant_isolation on run_events
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);

grant select, insert on run_events to toolcrib_app;
