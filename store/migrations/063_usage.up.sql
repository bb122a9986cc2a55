-- What models and calls cost, and what tenants use, counted by day.
--
-- Counting is done by triggers, so that every way in which a call or a turn ends is counted, once,
-- in the transaction that ends it. Turns that binaries of the version before store are counted
-- without their model.

create table prices (
    tenant_id         uuid references tenants on delete cascade,
    scope_id          uuid not null generated always as
                          (coalesce(tenant_id, '00000000-0000-0000-0000-000000000000'::uuid)) stored,
    id                uuid not null,
    tool_id           uuid,
    tool_scope_id     uuid,
    version           text not null default '', -- of the tool; empty for every version
    model             text,
    subject           text not null generated always as (coalesce('tool/' || tool_id::text, 'model/' || model)) stored,
    valid_from        timestamptz not null,
    valid_until       timestamptz,
    call_micros       bigint,
    unit_pointer      text,   -- a JSON Pointer into the structured value of a result
    unit_path         text[], -- its parts
    unit_micros       bigint,
    input_micros      bigint, -- these are per million tokens
    cached_micros     bigint,
    output_micros     bigint,
    reasoning_micros  bigint,
    changed_by        text not null default '',
    changed_at        timestamptz not null default now(),
    primary key (scope_id, id),
    unique (scope_id, subject, version, valid_from),
    foreign key (tool_id, tool_scope_id) references tool_registry (id, scope_id) on delete cascade,
    check (tool_scope_id in (scope_id, '00000000-0000-0000-0000-000000000000')),
    check ((tool_id is null) = (tool_scope_id is null) and (tool_id is null) = (model is not null)),
    check (tool_id is not null or version = ''),
    check ((tool_id is null) = (call_micros is null)),
    check (tool_id is not null or (input_micros is not null and output_micros is not null)),
    check ((unit_pointer is null) = (unit_micros is null) and (unit_pointer is null) = (unit_path is null)),
    check (valid_until > valid_from)
);

create index prices_tool on prices (tool_id);

comment on table prices is 'What a call or a million tokens costs, in millionths of one currency: of tenants, and of the platform for all of them.';

alter table prices enable row level security;
alter table prices force row level security;

create policy tenant_read on prices for select
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid
        or tenant_id is null and (tool_id is null
            or (select true from tool_registry t where t.id = tool_id and t.scope_id = tool_scope_id)));
create policy tenant_insert on prices for insert
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
create policy tenant_update on prices for update
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
create policy tenant_delete on prices for delete
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
create policy platform_globals on prices to toolcrib_owner
    using (tenant_id is null) with check (tenant_id is null);

grant select, insert, update, delete on prices to toolcrib_app;

create table usage_days (
    tenant_id           uuid not null references tenants on delete cascade,
    day                 date not null, -- in UTC
    agent_id            uuid not null, -- the nil UUID without an agent
    tool                text not null, -- empty for turns of models
    model               text not null, -- empty for calls of tools
    shard               integer not null,
    calls               bigint not null default 0,
    failed_calls        bigint not null default 0,
    call_ms             bigint not null default 0,
    turns               bigint not null default 0,
    input_tokens        bigint not null default 0,
    cached_input_tokens bigint not null default 0, -- of the input
    output_tokens       bigint not null default 0,
    reasoning_tokens    bigint not null default 0, -- of the output
    unpriced_turns      bigint not null default 0,
    cost_micros         bigint not null default 0,
    primary key (tenant_id, day, agent_id, tool, model, shard)
) with (fillfactor = 50);

comment on table usage_days is 'What a tenant used on a day, by agent and by tool or model. Transactions that run side by side count in shards of their own.';

alter table usage_days enable row level security;
alter table usage_days force row level security;

create policy tenant_isolation on usage_days
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);

grant select, insert, update on usage_days to toolcrib_app;

alter table messages
    add column model text, -- that answered; of assistant messages
    add column cached_input_tokens integer,
    add column reasoning_tokens integer,
    add column cost_micros bigint; -- null where its model has no price

alter table tool_invocations add column cost_micros bigint; -- null where its tool has no price

comment on column tool_invocations.cost_micros is 'By the price of the tool when the call ended, in millionths.';

-- The price of the tokens of a turn, each a part of the whole: cached ones are input, reasoning
-- ones output. Null without a price.
create function priced_tokens(p_tenant uuid, p_model text, p_input bigint, p_cached bigint, p_output bigint, p_reasoning bigint)
    returns bigint language sql stable as $$
    select least(round((
            greatest(p_input - p_cached, 0)::numeric * p.input_micros + p_cached::numeric * coalesce(p.cached_micros, p.input_micros)
            + greatest(p_output - p_reasoning, 0)::numeric * p.output_micros
            + p_reasoning::numeric * coalesce(p.reasoning_micros, p.output_micros)) / 1000000), 1e15)::bigint
    from prices p
    where p.scope_id in (p_tenant, '00000000-0000-0000-0000-000000000000') and p.subject = 'model/' || p_model
      and p.valid_from <= now() and (p.valid_until is null or p.valid_until > now())
    order by p.tenant_id is null, p.valid_from desc
    limit 1
$$;

-- The price of a call with a result: per call, and per unit that the result reports. A value
-- that is no number from 0 to a trillion reports no units. A call costs 10^15 at most: what a tool
-- reports never fails the end of its call. Null without a price.
create function priced_call(p_tenant uuid, p_tool uuid, p_version text, p_result json) returns bigint language sql stable as $$
    select least(p.call_micros + coalesce(round(p.unit_micros * case
            when u.units ~ '^[0-9]{1,12}([.][0-9]{1,30})?$' then u.units::numeric else 0 end), 0), 1e15)::bigint
    from prices p
    left join lateral (
        select p_result #>> (array['structured'] || p.unit_path) as units where p.unit_path is not null and p_result is not null
    ) u on true
    where p.scope_id in (p_tenant, '00000000-0000-0000-0000-000000000000') and p.subject = 'tool/' || p_tool::text
      and p.version in (p_version, '') and p.valid_from <= now() and (p.valid_until is null or p.valid_until > now())
    order by p.tenant_id is null, p.version = '', p.valid_from desc
    limit 1
$$;

-- Adds to what a tenant used today. No transaction waits for another one here: each counts in
-- the first shard that is not in use, which is its own until it ends.
create function count_usage(
    p_tenant uuid, p_agent uuid, p_tool text, p_model text, p_calls integer, p_failed integer, p_ms bigint, p_turns integer,
    p_input bigint, p_cached bigint, p_output bigint, p_reasoning bigint, p_unpriced integer, p_cost bigint
) returns void language plpgsql as $$
declare
    v_shard integer := 0;
begin
    while not pg_try_advisory_xact_lock(hashtextextended('usage/' || p_tenant::text, v_shard)) loop
        v_shard := v_shard + 1;
    end loop;
    insert into usage_days as u (tenant_id, day, agent_id, tool, model, shard, calls, failed_calls, call_ms, turns,
        input_tokens, cached_input_tokens, output_tokens, reasoning_tokens, unpriced_turns, cost_micros)
    values (p_tenant, (now() at time zone 'UTC')::date, coalesce(p_agent, '00000000-0000-0000-0000-000000000000'), p_tool, p_model,
        v_shard, p_calls, p_failed, p_ms, p_turns, p_input, p_cached, p_output, p_reasoning, p_unpriced, p_cost)
    on conflict (tenant_id, day, agent_id, tool, model, shard) do update set
        calls = u.calls + excluded.calls, failed_calls = u.failed_calls + excluded.failed_calls,
        call_ms = u.call_ms + excluded.call_ms, turns = u.turns + excluded.turns,
        input_tokens = u.input_tokens + excluded.input_tokens,
        cached_input_tokens = u.cached_input_tokens + excluded.cached_input_tokens,
        output_tokens = u.output_tokens + excluded.output_tokens,
        reasoning_tokens = u.reasoning_tokens + excluded.reasoning_tokens,
        unpriced_turns = u.unpriced_turns + excluded.unpriced_turns,
        cost_micros = least(u.cost_micros::numeric + excluded.cost_micros, 9e18)::bigint;
end
$$;

-- A call that may have happened costs what it would have.
create function price_ended_call() returns trigger language plpgsql as $$
begin
    new.cost_micros := priced_call(new.tenant_id, new.tool_id, new.version, new.output);
    if new.cost_micros is not null and new.status not in ('completed', 'unknown') then
        new.cost_micros := 0;
    end if;
    return new;
end
$$;

create function count_ended_call() returns trigger language plpgsql as $$
begin
    perform count_usage(new.tenant_id, new.agent_id, new.tool, '', 1, case when new.status = 'completed' then 0 else 1 end,
        greatest((extract(epoch from new.completed_at - new.started_at) * 1000)::bigint, 0), 0, 0, 0, 0, 0, 0,
        coalesce(new.cost_micros, 0));
    return null;
end
$$;

create function price_turn() returns trigger language plpgsql as $$
begin
    new.cost_micros := priced_tokens(new.tenant_id, new.model, new.input_tokens, coalesce(new.cached_input_tokens, 0),
        new.output_tokens, coalesce(new.reasoning_tokens, 0));
    return new;
end
$$;

create function count_turn() returns trigger language plpgsql as $$
begin
    perform count_usage(new.tenant_id, (select r.agent_id from runs r where r.tenant_id = new.tenant_id and r.id = new.run_id),
        '', coalesce(new.model, ''), 0, 0, 0, 1, coalesce(new.input_tokens, 0), coalesce(new.cached_input_tokens, 0),
        coalesce(new.output_tokens, 0), coalesce(new.reasoning_tokens, 0), (new.cost_micros is null)::integer,
        coalesce(new.cost_micros, 0));
    return null;
end
$$;

do $$
declare
    f text;
begin
    foreach f in array '{price_ended_call,count_ended_call,price_turn,count_turn}'::text[] loop
        execute format('alter function %I() set search_path = %I, pg_temp', f, current_schema());
    end loop;
end
$$;

-- Calls that never started, since they were refused or not approved, are not counted.
create trigger tool_invocations_price
    before update of status on tool_invocations
    for each row
    when (old.status in ('pending', 'approved', 'running', 'waiting') and new.started_at is not null
        and new.status in ('completed', 'failed', 'rejected', 'cancelled', 'expired', 'unknown'))
    execute function price_ended_call();
create trigger tool_invocations_usage
    after update of status on tool_invocations
    for each row
    when (old.status in ('pending', 'approved', 'running', 'waiting') and new.started_at is not null
        and new.status in ('completed', 'failed', 'rejected', 'cancelled', 'expired', 'unknown'))
    execute function count_ended_call();

-- Copies in runs that continue others have no key.
create trigger messages_price
    before insert on messages
    for each row
    when (new.role = 'assistant' and new.turn_key is not null and new.input_tokens is not null)
    execute function price_turn();
create trigger messages_usage
    after insert on messages
    for each row
    when (new.role = 'assistant' and new.turn_key is not null)
    execute function count_turn();

-- Stores the model of a turn, and its cached and reasoning tokens.
create or replace function record_steps(
    p_tenant uuid, p_run uuid, p_mode text, p_subject text, p_agent uuid,
    p_ended json, p_turn json, p_begin json, p_ask json, p_end json
) returns json
    language plpgsql
as $$
declare
    c record;
    a record;
    v_id uuid;
    v_parent uuid;
    v_turn integer;
    v_ended integer := 0;
    v_saved boolean := false;
    v_whole boolean := true;
    v_tickets json[] := '{}';
    v_policies json;
    v_opened boolean := false;
    v_invocation uuid;
    v_started timestamptz;
    v_seq bigint;
    v_last bigint;
    v_followed boolean;
    v_cancel text;
    v_inbox integer;
    v_over boolean := false;
    v_types text[] := '{}';
    v_calls uuid[] := '{}';
    v_data json[] := '{}';
begin
    if p_ended is not null then
        for c in
            select * from json_to_recordset(p_ended) as x (
                effect_id text, fence bigint, status text, result json, is_error boolean, error_kind text, error text, unsent boolean,
                acted boolean, event_type text, tool text, version text, call_id text,
                message_id uuid, answer_id uuid, turn integer, position integer)
        loop
            update effects e set phase = 'done', done_at = now(), status = c.status, result = c.result,
                error_kind = c.error_kind, error = c.error,
                sent_before = e.sent_before or c.acted or (e.phase = 'sent' and not c.unsent)
            where e.tenant_id = p_tenant and e.effect_id = c.effect_id and e.fence = c.fence and e.phase in ('admitted', 'sent')
            returning e.invocation_id into v_invocation;
            if not found then
                v_whole := false;
                exit;
            end if;
            update tool_invocations i set status = c.status, output = c.result, is_error = c.is_error,
                error_kind = c.error_kind, error = c.error, completed_at = now()
            where i.tenant_id = p_tenant and i.id = v_invocation and i.status in ('pending', 'approved', 'running', 'waiting')
            returning i.started_at into v_started;
            if not found then
                raise exception 'the invocation has ended' using errcode = 'TC001';
            end if;
            if c.message_id is not null then
                insert into messages (id, tenant_id, run_id, parent_id, turn, position, role, content, call_id, is_error)
                values (c.answer_id, p_tenant, p_run, c.message_id, c.turn, c.position, 'tool',
                    answer_content(c.result, c.error_kind, c.error), c.call_id, c.is_error)
                on conflict do nothing;
            end if;
            v_types := v_types || c.event_type;
            v_calls := v_calls || v_invocation;
            v_data := v_data || json_build_object('tool', c.tool, 'version', c.version, 'call_id', c.call_id,
                'status', c.status, 'kind', c.error_kind, 'is_error', c.is_error,
                'ms', coalesce((extract(epoch from now() - v_started) * 1000)::bigint, 0));
            v_ended := v_ended + 1;
        end loop;
    end if;

    if v_whole and p_turn is not null then
        select * into a from json_to_record(p_turn) as x (
            id uuid, parent_id uuid, turn integer, content json, calls json, prepared json, turn_key text,
            input_tokens integer, output_tokens integer, cached_input_tokens integer, reasoning_tokens integer, model text, event json);
        insert into messages (id, tenant_id, run_id, parent_id, turn, role, content, calls, prepared, turn_key,
            input_tokens, output_tokens, cached_input_tokens, reasoning_tokens, model)
        values (a.id, p_tenant, p_run, a.parent_id, a.turn, 'assistant', a.content, a.calls, a.prepared, a.turn_key,
            a.input_tokens, a.output_tokens, a.cached_input_tokens, a.reasoning_tokens, a.model)
        on conflict do nothing;
        v_saved := found;
        v_whole := found;
        if found then
            v_types := v_types || 'agent.turn'::text;
            v_calls := v_calls || null::uuid;
            v_data := v_data || a.event;
            v_id := a.id;
            v_parent := a.parent_id;
            v_turn := a.turn;
        end if;
    end if;

    if v_whole and p_begin is not null then
        for c in
            select x.*, g.scope_id, g.egress_class, g.egress_rules, g.requires_approval, g.permission_policy,
                   g.required_permission, g.tenant_slugs
            from json_to_recordset(p_begin) as x (
                effect_id text, invocation_id uuid, tool_id uuid, turn integer, position integer, call_id text, tool text,
                version text, digest text, implementation_type text, parent_id uuid, arguments json, arguments_digest text,
                receipt json, send boolean, hidden boolean)
            left join lateral (
                select r.* from tenants n
                join tool_registry r on r.id = x.tool_id and r.scope_id in (n.id, '00000000-0000-0000-0000-000000000000')
                left join tool_overrides own on own.scope_id = n.id and own.tool_id = r.id
                left join tool_overrides preset on preset.scope_id = '00000000-0000-0000-0000-000000000000' and preset.tool_id = r.id
                where n.id = p_tenant and n.status = 'active'
                  and r.status = 'published' and r.is_active and r.quarantine = ''
                  and (r.tenant_slugs = '{}' or n.slug = any (r.tenant_slugs))
                  and coalesce(own.enabled, preset.enabled, r.tenant_id is not null)
                  and not (coalesce(own.requires_approval, false) or coalesce(preset.requires_approval, false))
                  and not (r.requires_approval or r.permission_policy = 'always_ask' or r.egress_class = 'write')
                  and (p_mode <> 'production' or exists (
                      select from tool_versions v
                      where v.tool_id = r.id and v.scope_id = r.scope_id and v.digest = x.digest and v.published))
            ) g on true
        loop
            if c.scope_id is not null then
                insert into effects (tenant_id, effect_id, phase, fence, attempt, invocation_id, version_digest, arguments_digest)
                values (p_tenant, c.effect_id, case when c.send then 'sent' else 'admitted' end, 1, 1, c.invocation_id,
                    c.digest, c.arguments_digest)
                on conflict do nothing;
            end if;
            if c.scope_id is null or not found then
                continue;
            end if;
            insert into tool_invocations (id, tenant_id, run_id, turn, position, call_id, effect_id, tool_id, tool_scope_id,
                tool, version, digest, implementation_type, subject, agent_id, mode, status, egress_class, approval_required,
                attempt, input, receipt, started_at, parent_id, shown)
            values (c.invocation_id, p_tenant, p_run, c.turn, c.position, c.call_id, c.effect_id, c.tool_id, c.scope_id,
                c.tool, c.version, c.digest, c.implementation_type, p_subject, p_agent, p_mode, 'running', c.egress_class,
                c.requires_approval or c.permission_policy = 'always_ask', 1, c.arguments, c.receipt, now(), c.parent_id,
                case when c.hidden then false end)
            on conflict do nothing;
            if not found then
                raise exception 'the invocation id was used before' using errcode = 'TC001';
            end if;
            v_types := v_types || 'tool.started'::text;
            v_calls := v_calls || c.invocation_id;
            v_data := v_data || json_build_object('tool', c.tool, 'version', c.version, 'call_id', c.call_id, 'attempt', 1);
            v_tickets := v_tickets || json_build_object('effect_id', c.effect_id, 'egress_class', c.egress_class, 'egress_rules', c.egress_rules,
                'requires_approval', c.requires_approval, 'permission_policy', c.permission_policy,
                'required_permission', c.required_permission, 'tenant_slugs', c.tenant_slugs);
        end loop;
    end if;

    if v_types = '{}' then
        select coalesce(r.followed_until > now(), false), r.cancel_execution, r.inbox into v_followed, v_cancel, v_inbox
        from runs r where r.tenant_id = p_tenant and r.id = p_run;
        if not found then
            raise exception 'run not found' using errcode = 'TC001';
        end if;
    else
        update runs r set last_seq = r.last_seq + cardinality(v_types),
            head_message_id = case when v_saved and (r.head_message_id is null or r.head_message_id = v_parent
                                        or r.head_message_id < v_id) then v_id else r.head_message_id end,
            turns = case when v_saved and (r.head_message_id is null or r.head_message_id = v_parent
                                        or r.head_message_id < v_id) then v_turn else r.turns end
        where r.tenant_id = p_tenant and r.id = p_run
        returning r.last_seq, coalesce(r.followed_until > now(), false), r.cancel_execution, r.inbox
            into v_seq, v_followed, v_cancel, v_inbox;
        if not found then
            raise exception 'run not found' using errcode = 'TC001';
        end if;
        if v_saved and p_end is not null then
            update runs r set status = 'completed', output = p_end ->> 'output', head_message_id = v_id, turns = v_turn,
                calls = (p_end ->> 'calls')::integer, ended_by = p_end ->> 'execution', completed_at = now(),
                error_kind = '', error = '', last_seq = r.last_seq + 1
            where r.tenant_id = p_tenant and r.id = p_run and r.status = 'running' and r.inbox = 0
            returning r.last_seq into v_last;
            v_over := found;
            if found then
                v_seq := v_last;
                v_types := v_types || 'run.completed'::text;
                v_calls := v_calls || null::uuid;
                v_data := v_data || (p_end -> 'event');
            end if;
        end if;
        insert into run_events (tenant_id, run_id, seq, type, invocation_id, data)
        select p_tenant, p_run, v_seq - cardinality(v_types) + e.place, e.type, e.call, e.data
        from unnest(v_types, v_calls, v_data) with ordinality as e (type, call, data, place);
    end if;

    if v_whole and p_ask is not null and not exists (
        select from messages m where m.tenant_id = p_tenant and m.run_id = p_run and m.turn_key = p_ask ->> 'key')
    then
        v_opened := true;
        select json_agg(json_build_object('id', r.id, 'tenant_id', r.tenant_id, 'egress_class', r.egress_class,
            'egress_rules', r.egress_rules, 'requires_approval', r.requires_approval, 'permission_policy', r.permission_policy,
            'required_permission', r.required_permission, 'tenant_slugs', r.tenant_slugs)) into v_policies
        from json_array_elements_text(p_ask -> 'tools') as x (id)
        join tool_registry r on r.id = x.id::uuid and r.scope_id in (p_tenant, '00000000-0000-0000-0000-000000000000');
    end if;
    return json_build_object('ended', v_ended, 'turn', v_saved, 'tickets', to_json(v_tickets), 'opened', v_opened, 'over', v_over,
        'policies', v_policies, 'followed', v_followed, 'cancel', v_cancel, 'inbox', v_inbox, 'at', now());
end
$$;
