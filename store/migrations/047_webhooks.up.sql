-- Outgoing webhooks: where a tenant's events are sent, and each delivery of one. Deliveries of
-- events of runs are made from the tenant's stream, after the events commit, so that no turn
-- writes them; those of other events are made in the transaction of the event.

create table webhooks (
    tenant_id              uuid not null references tenants on delete cascade,
    id                     uuid not null,
    url                    text not null check (url <> ''),
    description            text not null default '',
    types                  text[] not null check (cardinality(types) > 0),
    agent                  text not null default '', -- slug; empty for the events of every agent
    tool                   text not null default '', -- slug; empty for the events of every tool
    active                 boolean not null default true,
    disabled_at            timestamptz,              -- when the platform disabled it
    disabled_reason        text not null default '',
    secret                 bytea not null,           -- encrypted
    secret_key_version     integer not null,         -- of the tenant's data key
    secret_version         integer not null default 1 check (secret_version > 0),
    old_secret             bytea,                    -- the secret before, which signs too, until then
    old_secret_key_version integer,
    old_secret_until       timestamptz,
    seen_seq               bigint not null,          -- event_seals.seq up to which deliveries are made
    failing_since          timestamptz,              -- the first failure after the last success
    delivered_at           timestamptz,              -- the last success, to the minute
    revision               bigint not null default 1,
    created_by             text not null default '',
    created_at             timestamptz not null default now(),
    updated_at             timestamptz not null default now(),
    primary key (tenant_id, id),
    check ((old_secret is null) = (old_secret_until is null) and (old_secret is null) = (old_secret_key_version is null)),
    check (disabled_at is null or not active)
) with (fillfactor = 70);

comment on table webhooks is 'Where events of a tenant are sent.';

create table webhook_deliveries (
    tenant_id        uuid not null,
    id               uuid not null,                    -- webhook-id of each attempt
    webhook_id       uuid not null,
    type             text not null check (type <> ''),
    place            bigint,                           -- event_seals.seq; null for events that are of no run
    run_id           uuid,
    run_seq          bigint,
    invocation_id    uuid,
    parent_run_id    uuid,
    agent            text not null default '',
    data             json,                             -- of the event
    at               timestamptz not null default now(), -- of the event
    status           text not null default 'pending' check (status in ('pending', 'delivered', 'failed')),
    attempts         integer not null default 0,
    due_at           timestamptz not null default now(),
    lease_until      timestamptz,                      -- while a server attempts it
    fence            bigint not null default 0,        -- counts the leases
    first_attempt_at timestamptz,
    last_attempt_at  timestamptz,
    last_ms          bigint not null default 0,        -- how long the last attempt took
    last_status      integer not null default 0,       -- HTTP status of the last answer; 0 for none
    last_error       text not null default '',
    last_answer      text not null default '',         -- its beginning
    replays          integer not null default 0,
    created_at       timestamptz not null default now(),
    ended_at         timestamptz,
    primary key (tenant_id, id),
    unique (tenant_id, webhook_id, place),
    check ((status = 'pending') = (ended_at is null)),
    foreign key (tenant_id, webhook_id) references webhooks (tenant_id, id) on delete cascade
) with (fillfactor = 70);

create index webhook_deliveries_due on webhook_deliveries (tenant_id, webhook_id, due_at, id) where status = 'pending';
create index webhook_deliveries_list on webhook_deliveries (tenant_id, webhook_id, id desc);
create index webhook_deliveries_run on webhook_deliveries (tenant_id, run_id) where run_id is not null;
create index webhook_deliveries_age on webhook_deliveries (created_at);

comment on table webhook_deliveries is 'Events that are sent to webhooks, and how that went.';

alter table webhooks enable row level security;
alter table webhooks force row level security;
alter table webhook_deliveries enable row level security;
alter table webhook_deliveries force row level security;

create policy tenant_isolation on webhooks
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
create policy tenant_isolation on webhook_deliveries
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
create policy all_read on webhooks for select to toolcrib_owner using (true);
create policy old_read on webhook_deliveries for select to toolcrib_owner using (created_at < now() - interval '30 days');
create policy old_delete on webhook_deliveries for delete to toolcrib_owner using (created_at < now() - interval '30 days');

grant select, insert, update, delete on webhooks to toolcrib_app;
grant select, insert, update on webhook_deliveries to toolcrib_app;

-- A UUID of version 7: 48 bits of the time in milliseconds, then random ones.
create function new_uuid7() returns uuid language sql volatile as $$
    select encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
        placing substring(int8send(floor(extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6),
        52, 1), 53, 1), 'hex')::uuid
$$;

-- At most so many tenants, as a list of ids, that have events to make deliveries of, or
-- deliveries that are due; without their contents. Each is served as that tenant.
create function webhook_tenants(most integer) returns json
    language plpgsql security definer as $$
declare
    tenant uuid;
    found_ids uuid[] := '{}';
begin
    for tenant in
        select w.tenant_id from (select distinct h.tenant_id from webhooks h) w
        join tenants t on t.id = w.tenant_id and t.status = 'active'
        order by random()
    loop
        perform set_config('app.tenant_id', tenant::text, true);
        if exists (
            select from webhooks h
            where h.tenant_id = tenant and h.active and (
                exists (select from event_seals s where s.tenant_id = tenant and s.seq > h.seen_seq)
                or exists (
                    select from run_events e
                    where e.tenant_id = tenant and e.id > coalesce(
                        (select s.settled_id from tenant_event_heads s where s.tenant_id = tenant), 0))))
        or exists (
            select from webhooks h
            join webhook_deliveries d on d.tenant_id = tenant and d.webhook_id = h.id
            where h.tenant_id = tenant and d.status = 'pending' and d.due_at <= now()
              and (d.lease_until is null or d.lease_until <= now()) and (h.active or d.type = 'webhook.ping'))
        then
            found_ids := found_ids || tenant;
            exit when cardinality(found_ids) >= most;
        end if;
    end loop;
    perform set_config('app.tenant_id', '', true);
    return array_to_json(found_ids);
end
$$;

-- Deletes at most so many deliveries of any tenant that are older than thirty days, and
-- returns how many it deleted.
create function sweep_webhook_deliveries(most integer) returns integer
    language sql security definer as $$
    with gone as (
        delete from webhook_deliveries d using (
            select o.tenant_id, o.id from webhook_deliveries o
            where o.created_at < now() - interval '30 days'
            order by o.created_at
            limit most) old
        where d.tenant_id = old.tenant_id and d.id = old.id
        returning 1
    )
    select count(*)::integer from gone
$$;

-- Deliveries of a run's events go with the run. A reference would lock the run while its
-- deliveries are made.
create function drop_webhook_deliveries() returns trigger language plpgsql as $$
begin
    delete from webhook_deliveries d using gone g where d.tenant_id = g.tenant_id and d.run_id = g.id;
    return null;
end
$$;

create trigger runs_webhook_deliveries
    after delete on runs
    referencing old table as gone
    for each statement execute function drop_webhook_deliveries();

-- A tool that is quarantined is an event, whatever statement does it.
create function deliver_quarantine() returns trigger language plpgsql as $$
begin
    insert into webhook_deliveries (tenant_id, id, webhook_id, type, data)
    select w.tenant_id, new_uuid7(), w.id, 'tool.quarantined',
        json_build_object('tool', new.slug, 'version', new.version, 'reason', new.quarantine)
    from webhooks w
    where w.tenant_id = new.tenant_id and w.active and 'tool.quarantined' = any (w.types) and w.agent = ''
      and w.tool in ('', new.slug);
    return null;
end
$$;

create trigger tool_registry_quarantined
    after update of quarantine on tool_registry
    for each row when (new.quarantine <> '' and old.quarantine is distinct from new.quarantine and new.tenant_id is not null)
    execute function deliver_quarantine();

do $$
declare
    name text;
begin
    foreach name in array array['new_uuid7()', 'webhook_tenants(integer)', 'sweep_webhook_deliveries(integer)',
        'drop_webhook_deliveries()', 'deliver_quarantine()']
    loop
        execute format('alter function %s set search_path = %I, pg_temp', name, current_schema());
    end loop;
end
$$;

revoke all on function webhook_tenants(integer), sweep_webhook_deliveries(integer) from public;
grant execute on function webhook_tenants(integer), sweep_webhook_deliveries(integer) to toolcrib_app;
