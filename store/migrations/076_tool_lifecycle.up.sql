-- The life of tools and their versions: archived tools, canaries, and what has to pass before a version
-- is published.

-- An archived tool is disabled, and lists leave it out. Its slug, versions and record stay.
alter table tool_registry add column archived_at timestamptz;
alter table tool_registry add column archived_by text not null default '';
alter table tool_registry add constraint tool_registry_archived check (archived_at is null or status = 'disabled') not valid;
alter table tool_registry validate constraint tool_registry_archived;

-- A canary: a published version that a share of the runs gets, until it is promoted or taken back.
create table tool_canaries (
    tenant_id         uuid not null references tenants on delete cascade,
    id                uuid not null,
    tool_id           uuid not null,
    version_id        uuid not null,
    version           text not null,
    digest            text not null,
    share             smallint not null check (share between 1 and 99), -- percent of the runs
    until_calls       integer not null check (until_calls between 1 and 100000),
    max_error_percent smallint not null check (max_error_percent between 0 and 100),
    min_calls         integer not null check (min_calls >= 1),
    promote           boolean not null default false, -- by itself, once until_calls ended within the limit
    state             text not null default 'running' check (state in ('running', 'passed', 'promoted', 'returned', 'stopped')),
    withheld          smallint not null generated always as (
                          case state when 'promoted' then 0 when 'returned' then 100 when 'stopped' then 100 else 100 - share end) stored,
    calls             integer not null default 0,
    failures          integer not null default 0,
    stable_calls      integer not null default 0,
    stable_failures   integer not null default 0,
    reason            text not null default '',
    started_by        text not null default '',
    started_at        timestamptz not null default now(),
    ended_by          text not null default '',
    ended_at          timestamptz,
    judged_at         timestamptz not null default now(),
    primary key (tenant_id, id),
    foreign key (tool_id, tenant_id) references tool_registry (id, scope_id) on delete cascade,
    foreign key (version_id, tenant_id) references tool_versions (id, scope_id) on delete cascade,
    check (min_calls <= until_calls)
);

create unique index tool_canaries_version on tool_canaries (tenant_id, version_id);
create unique index tool_canaries_running on tool_canaries (tenant_id, tool_id) where state in ('running', 'passed');
create index tool_canaries_tool on tool_canaries (tool_id, tenant_id);
create index tool_canaries_version_scope on tool_canaries (version_id, tenant_id);
create index tool_canaries_due on tool_canaries (judged_at) where state = 'running';

comment on table tool_canaries is 'Versions of tools that a share of the runs gets, with their outcomes beside those of the other versions.';

-- What has to pass before a version of a tool, or of any tool of the tenant, is published.
create table tool_gates (
    tenant_id     uuid not null references tenants on delete cascade,
    id            uuid not null,
    tool_id       uuid, -- null for every tool without a gate of its own
    replay        smallint not null check (replay between 1 and 50),
    max_different smallint not null default 0 check (max_different between 0 and 50),
    changed_by    text not null default '',
    changed_at    timestamptz not null default now(),
    primary key (tenant_id, id),
    foreign key (tool_id, tenant_id) references tool_registry (id, scope_id) on delete cascade
);

create unique index tool_gates_of on tool_gates
    (tenant_id, coalesce(tool_id, '00000000-0000-0000-0000-000000000000'::uuid));
create index tool_gates_tool on tool_gates (tool_id, tenant_id) where tool_id is not null;

comment on table tool_gates is 'How many recorded calls a version has to be replayed with before it is published, and how many may differ.';

-- A replay: recorded calls of a tool that were compared with a content of it. calls has no values of
-- arguments and results, only where they differ.
create table tool_replays (
    tenant_id   uuid not null references tenants on delete cascade,
    id          uuid not null,
    tool_id     uuid not null,
    version     text not null,
    digest      text not null,
    asked       smallint not null check (asked between 1 and 50),
    state       text not null default 'running' check (state in ('running', 'ended')),
    calls       json not null default '[]',
    same        smallint not null default 0,
    different   smallint not null default 0,
    skipped     smallint not null default 0,
    started_by  text not null default '',
    started_at  timestamptz not null default now(),
    ended_at    timestamptz,
    primary key (tenant_id, id),
    foreign key (tool_id, tenant_id) references tool_registry (id, scope_id) on delete cascade
);

create index tool_replays_tool on tool_replays (tool_id, tenant_id, digest, id);

comment on table tool_replays is 'Recorded calls of tools that were compared with a content which is not published.';

do $$
declare
    t text;
begin
    foreach t in array '{tool_canaries,tool_gates,tool_replays}'::text[] loop
        execute format('alter table %I enable row level security', t);
        execute format('alter table %I force row level security', t);
        execute format('create policy tenant_isolation on %I
            using (tenant_id = nullif(current_setting(''app.tenant_id'', true), '''')::uuid)
            with check (tenant_id = nullif(current_setting(''app.tenant_id'', true), '''')::uuid)', t);
    end loop;
end
$$;

create policy due_read on tool_canaries for select to toolcrib_owner using (state = 'running');

grant select, insert, update on tool_canaries to toolcrib_app;
grant select, insert, update, delete on tool_gates, tool_replays to toolcrib_app;

-- Outcomes are counted every half minute: they are no change of a canary.
create trigger audit after insert or update or delete on tool_canaries for each row
    execute function audit_row('{tool_id,version_id,withheld,calls,failures,stable_calls,stable_failures,judged_at,started_by,started_at,ended_by,ended_at}', '{}', 'canary');
create trigger audit after insert or update or delete on tool_gates for each row
    execute function audit_row('{changed_by,changed_at}', '{}', 'publish_gate');

-- At most so many tenants, as a list of ids, with canaries that are due to be judged, those that waited
-- longest first. Each is served as that tenant.
create function canary_tenants(most integer) returns json
    language plpgsql stable security definer as $$
begin
    return (select coalesce(json_agg(d.tenant_id), '[]') from (
        select c.tenant_id from tool_canaries c
        where c.state = 'running' and c.judged_at < now() - interval '20 seconds'
        group by c.tenant_id
        order by min(c.judged_at)
        limit most) d);
end
$$;

-- A canary that is taken back is an event.
create function deliver_canary() returns trigger language plpgsql as $$
begin
    insert into webhook_deliveries (tenant_id, id, webhook_id, type, data)
    select w.tenant_id, new_uuid7(), w.id, 'tool.canary_returned',
        json_build_object('tool', t.slug, 'version', new.version, 'reason', new.reason, 'calls', new.calls,
            'failures', new.failures, 'stable_calls', new.stable_calls, 'stable_failures', new.stable_failures)
    from tool_registry t
    join webhooks w on w.tenant_id = new.tenant_id and w.active and 'tool.canary_returned' = any (w.types) and w.agent = ''
      and w.tool in ('', t.slug)
    where t.id = new.tool_id and t.scope_id = new.tenant_id;
    return null;
end
$$;

create trigger tool_canaries_returned
    after update of state on tool_canaries
    for each row when (new.state = 'returned' and old.state <> 'returned')
    execute function deliver_canary();

do $$
declare
    name text;
begin
    foreach name in array array['canary_tenants(integer)', 'deliver_canary()'] loop
        execute format('alter function %s set search_path = %I, pg_temp', name, current_schema());
    end loop;
end
$$;

revoke all on function canary_tenants(integer) from public;
grant execute on function canary_tenants(integer) to toolcrib_app;
