-- Spaces: where people and agents talk, and where visible calls of agents are posted.

create table spaces (
    tenant_id   uuid not null references tenants on delete cascade,
    id          uuid not null,
    slug        text not null check (slug ~ '^[a-zA-Z][a-zA-Z0-9_-]{0,63}$'),
    name        text not null check (name <> ''),
    description text not null default '',
    max_hops    integer not null check (max_hops between 0 and 50), -- agents' messages in a row that wake agents
    last_seq    bigint not null default 0,                          -- numbers messages and their changes
    archived_at timestamptz,                                        -- nothing is posted after it
    revision    bigint not null default 1,
    created_by  text not null default '',
    created_at  timestamptz not null default now(),
    updated_at  timestamptz not null default now(),
    primary key (tenant_id, id),
    unique (tenant_id, slug)
) with (fillfactor = 70);

comment on table spaces is 'Where people and agents talk, and where visible calls are posted.';

create table space_members (
    tenant_id  uuid not null,
    space_id   uuid not null,
    kind       text not null check (kind in ('agent', 'person')),
    name       text not null check (name <> ''), -- slug of the agent, or subject of the person
    agent_id   uuid,
    added_by   text not null default '',
    created_at timestamptz not null default now(),
    primary key (tenant_id, space_id, kind, name),
    check ((kind = 'agent') = (agent_id is not null)),
    foreign key (tenant_id, space_id) references spaces (tenant_id, id) on delete cascade,
    foreign key (tenant_id, agent_id) references agents (tenant_id, id) on delete cascade
);

create index space_members_name on space_members (tenant_id, kind, name);

comment on table space_members is 'The agents and people of a space.';

create table space_messages (
    tenant_id   uuid not null,
    id          uuid not null,           -- of a call: the id of its invocation
    space_id    uuid not null,
    seq         bigint not null,         -- its place in the space
    changed_seq bigint not null,         -- of its last change
    kind        text not null check (kind in ('text', 'tool')),
    from_kind   text not null check (from_kind in ('agent', 'person')),
    from_name   text not null,
    subject     text not null default '', -- that the author acts for
    run_id      uuid,                    -- of an agent; the message outlives it
    hops        integer not null default 0, -- agents' messages in a row, up to this one
    text        text not null default '',
    not_woken   text not null default '', -- why it woke nobody, where it could have
    tool        text not null default '',
    version     text not null default '',
    call_id     text not null default '',
    status      text not null check (status in ('running', 'requires_action', 'complete', 'failed')),
    input       json,
    output      json,
    error_kind  text not null default '',
    error       text not null default '',
    expires_at  timestamptz,             -- until when an answer is taken
    created_at  timestamptz not null default now(),
    updated_at  timestamptz not null default now(),
    primary key (tenant_id, id),
    unique (tenant_id, space_id, seq),
    check ((kind = 'tool') = (tool <> '')),
    foreign key (tenant_id, space_id) references spaces (tenant_id, id) on delete cascade
) with (fillfactor = 70);

create index space_messages_changed on space_messages (tenant_id, space_id, changed_seq);

comment on table space_messages is 'What was said in a space, and the visible calls that were made in it.';

create table run_spaces (
    tenant_id uuid not null,
    run_id    uuid not null,           -- written before the run where a message wakes its agent
    space_id  uuid,                    -- that the run is in
    woken_in  uuid,                    -- that has the message which began the run
    hops      integer not null default 0, -- of the message that woke the run last
    primary key (tenant_id, run_id),
    foreign key (tenant_id, space_id) references spaces (tenant_id, id) on delete cascade,
    foreign key (tenant_id, woken_in) references spaces (tenant_id, id) on delete cascade
);

create index run_spaces_space on run_spaces (tenant_id, space_id);
create index run_spaces_woken on run_spaces (tenant_id, woken_in);

comment on table run_spaces is 'The space that a run of an agent is in.';

create table space_wakes (
    tenant_id   uuid not null,
    space_id    uuid not null,
    agent_id    uuid not null,
    subject     text not null,           -- that the woken agent acts for
    permissions text[] not null default '{}',
    scopes      text[] not null default '{}',
    from_seq    bigint not null,         -- the first message that the agent is woken by
    upto_seq    bigint not null,         -- and the last
    hops        integer not null,
    run_id      uuid not null,           -- of the run that begins, where none goes on
    attempts    integer not null default 0,
    due_at      timestamptz not null default now(),
    created_at  timestamptz not null default now(),
    primary key (tenant_id, space_id, agent_id, subject),
    foreign key (tenant_id, space_id) references spaces (tenant_id, id) on delete cascade,
    foreign key (tenant_id, agent_id) references agents (tenant_id, id) on delete cascade
) with (fillfactor = 70);

create index space_wakes_due on space_wakes (due_at);

comment on table space_wakes is 'Agents that are to be woken by messages of a space.';

create table agent_notes (
    tenant_id  uuid not null,
    agent_id   uuid not null,
    kind       text not null check (kind in ('goal', 'memory', 'plan')),
    key        text not null check (key <> ''),
    text       text not null check (text <> ''),
    done       boolean not null default false,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    primary key (tenant_id, agent_id, kind, key),
    foreign key (tenant_id, agent_id) references agents (tenant_id, id) on delete cascade
);

comment on table agent_notes is 'Goals, memories and plans that an agent keeps from run to run.';

do $$
declare
    name text;
begin
    foreach name in array array['spaces', 'space_members', 'space_messages', 'run_spaces', 'space_wakes', 'agent_notes'] loop
        execute format('alter table %I enable row level security', name);
        execute format('alter table %I force row level security', name);
        execute format($policy$create policy tenant_isolation on %I
            using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
            with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)$policy$, name);
        execute format('grant select, insert, update, delete on %I to toolcrib_app', name);
    end loop;
end
$$;

create policy due_read on space_wakes for select to toolcrib_owner using (true);
create policy due_claim on space_wakes for update to toolcrib_owner using (true) with check (true);

-- Claims at most so many wakes that are due, of any tenant, for the length of the lease, as
-- {"t": tenant, "s": space, "a": agent, "u": subject}. A lease longer than the longest was taken
-- while the clock was ahead.
create function claim_space_wakes(most integer, lease interval) returns json
    language sql security definer as $$
    with due as (
        select d.tenant_id, d.space_id, d.agent_id, d.subject from space_wakes d
        where d.due_at <= now() or d.due_at > now() + interval '15 minutes'
        order by d.due_at
        limit most
        for update skip locked
    ), claimed as (
        update space_wakes w set due_at = now() + lease, attempts = w.attempts + 1
        from due
        where w.tenant_id = due.tenant_id and w.space_id = due.space_id and w.agent_id = due.agent_id and w.subject = due.subject
        returning w.tenant_id, w.space_id, w.agent_id, w.subject
    )
    select coalesce(json_agg(json_build_object('t', c.tenant_id, 's', c.space_id, 'a', c.agent_id, 'u', c.subject)), '[]')
    from claimed c
$$;

-- What of a call is kept with its message: a value of at most so many bytes, or how large it was.
create function space_value(value json, most integer) returns json language sql immutable as $$
    select case when octet_length(value::text) > most
        then json_build_object('truncated', true, 'bytes', octet_length(value::text)) else value end
$$;

-- The next number of a space that is not archived; null for another.
create function next_space_seq(tenant uuid, space uuid) returns bigint language sql volatile as $$
    update spaces s set last_seq = s.last_seq + 1
    where s.tenant_id = tenant and s.id = space and s.archived_at is null
    returning s.last_seq
$$;

-- The state of the message of a call.
create function space_call_status(status text, is_error boolean) returns text language sql immutable as $$
    select case
        when status in ('pending', 'approved', 'waiting') then 'requires_action'
        when status = 'running' then 'running'
        when status = 'completed' and not is_error then 'complete'
        else 'failed'
    end
$$;

-- A visible call of an agent that is in a space is posted there when it is recorded, in the same
-- transaction, whatever statement does it. Rows are locked in one order everywhere: effects,
-- invocations, the run, what waits, the space.
create function post_space_call() returns trigger language plpgsql as $$
declare
    target uuid;
    said_by text;
    place bigint;
begin
    select i.space_id into target from run_spaces i
    where i.tenant_id = new.tenant_id and i.run_id = new.run_id and i.space_id is not null;
    if target is null then
        return null;
    end if;
    select r.agent into said_by
    from runs r
    cross join json_array_elements(r.plan -> 'tools') as p (pin)
    where r.tenant_id = new.tenant_id and r.id = new.run_id and p.pin ->> 'tool_id' = new.tool_id::text
      and (p.pin ->> 'shown')::boolean
      and exists (
          select from space_members m
          where m.tenant_id = r.tenant_id and m.space_id = target and m.kind = 'agent' and m.agent_id = r.agent_id)
    limit 1;
    if said_by is null then
        return null;
    end if;
    place := next_space_seq(new.tenant_id, target);
    if place is null then
        return null;
    end if;
    insert into space_messages (tenant_id, id, space_id, seq, changed_seq, kind, from_kind, from_name, subject, run_id, tool,
        version, call_id, status, input, output, error_kind, error)
    values (new.tenant_id, new.id, target, place, place, 'tool', 'agent', said_by, new.subject, new.run_id, new.tool,
        new.version, new.call_id, space_call_status(new.status, new.is_error), space_value(new.input, 65536),
        space_value(new.output, 65536), new.error_kind, new.error)
    on conflict do nothing;
    return null;
end
$$;

create function change_space_message(tenant uuid, message uuid, state text, answer json, fault text, msg text, until timestamptz)
    returns void language plpgsql as $$
declare
    target uuid;
    place bigint;
begin
    select m.space_id into target from space_messages m where m.tenant_id = tenant and m.id = message;
    if target is null then
        return;
    end if;
    -- An archived space still shows how its calls end.
    update spaces s set last_seq = s.last_seq + 1 where s.tenant_id = tenant and s.id = target returning s.last_seq into place;
    update space_messages m set status = state, output = space_value(answer, 65536), error_kind = fault, error = msg,
        expires_at = until, changed_seq = place, updated_at = now()
    where m.tenant_id = tenant and m.id = message;
end
$$;

-- The message follows its call. A call whose result comes later needs action until then.
create function follow_space_call() returns trigger language plpgsql as $$
declare
    state text := space_call_status(new.status, new.is_error);
    until timestamptz;
begin
    if not exists (select from space_messages m where m.tenant_id = new.tenant_id and m.id = new.id) then
        return null;
    end if;
    select p.expires_at into until from pending_tool_calls p
    where p.tenant_id = new.tenant_id and p.id = new.id and p.status in ('waiting', 'pending');
    if until is not null then
        perform change_space_message(new.tenant_id, new.id, 'requires_action', null, '', '', until);
    else
        perform change_space_message(new.tenant_id, new.id, state, new.output, new.error_kind, new.error, null);
    end if;
    return null;
end
$$;

create function follow_space_result() returns trigger language plpgsql as $$
begin
    if new.status = 'resolved' then
        perform change_space_message(new.tenant_id, new.id, space_call_status('completed', answer_is_error(new.result)),
            new.result, '', '', null);
    else
        perform change_space_message(new.tenant_id, new.id, 'failed', null, 'cancelled', 'nothing waits for the answer any more',
            null);
    end if;
    return null;
end
$$;

create function drop_run_spaces() returns trigger language plpgsql as $$
begin
    delete from run_spaces i using gone g where i.tenant_id = g.tenant_id and i.run_id = g.id;
    return null;
end
$$;

do $$
declare
    name text;
begin
    foreach name in array array['claim_space_wakes(integer, interval)', 'space_value(json, integer)', 'next_space_seq(uuid, uuid)',
        'space_call_status(text, boolean)', 'post_space_call()', 'follow_space_call()', 'follow_space_result()',
        'change_space_message(uuid, uuid, text, json, text, text, timestamptz)', 'drop_run_spaces()']
    loop
        execute format('alter function %s set search_path = %I, pg_temp', name, current_schema());
    end loop;
end
$$;

revoke all on function claim_space_wakes(integer, interval) from public;
grant execute on function claim_space_wakes(integer, interval) to toolcrib_app, toolcrib_maintenance;

create trigger tool_invocations_space_posted
    after insert on tool_invocations
    for each row
    when (new.agent_id is not null and new.parent_id is null and new.run_id is not null and new.tool_id is not null)
    execute function post_space_call();

-- Its name orders it after tool_invocations_end_wait.
create trigger tool_invocations_space_followed
    after update of status on tool_invocations
    for each row
    when (new.agent_id is not null and new.parent_id is null and old.status is distinct from new.status)
    execute function follow_space_call();

create trigger pending_tool_calls_space
    after update of status on pending_tool_calls
    for each row
    when (new.status in ('resolved', 'cancelled') and old.status is distinct from new.status)
    execute function follow_space_result();

create trigger runs_spaces
    after delete on runs
    referencing old table as gone
    for each statement execute function drop_run_spaces();
