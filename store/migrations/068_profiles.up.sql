-- Profiles: named sets of restrictions of a tenant, and their assignments.
--
-- An assignment gives an agent a tool that is not in its definition, adds a profile to what an
-- agent does with a tool, or, without an agent, to every call of a tool. Both are authority: the
-- statement that admits a call reads them, and nothing pins them.

create table profiles (
    tenant_id           uuid not null references tenants on delete cascade,
    id                  uuid not null,
    name                text not null check (name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
    description         text not null default '' check (length(description) <= 1000),
    denied              boolean not null default false,
    requires_approval   boolean not null default false,
    permission_policy   text not null default '' check (permission_policy in ('', 'always_ask')),
    egress_class        text not null default '' check (egress_class in ('', 'read_only', 'write')),
    required_permission text not null default '',
    rate_calls          integer check (rate_calls between 1 and 1000000),
    rate_per            text check (rate_per in ('second', 'minute', 'hour', 'day')),
    rate_burst          integer check (rate_burst between 1 and 1000000),
    max_concurrency     integer check (max_concurrency between 1 and 1000),
    revision            bigint not null default 1,
    changed_by          text not null default '',
    created_at          timestamptz not null default now(),
    updated_at          timestamptz not null default now(),
    primary key (tenant_id, id),
    unique (tenant_id, name),
    check ((rate_calls is null) = (rate_per is null) and (rate_calls is null) = (rate_burst is null))
);

comment on table profiles is 'Named sets of restrictions, which can only be stricter than the tools that they are assigned with.';

create table tool_assignments (
    tenant_id     uuid not null references tenants on delete cascade,
    id            uuid not null,
    tool_id       uuid not null,
    tool_scope_id uuid not null,
    agent_id      uuid, -- null for every agent and caller
    profile_id    uuid, -- null where it gives the agent the tool, and restricts nothing
    changed_by    text not null default '',
    changed_at    timestamptz not null default now(),
    primary key (tenant_id, id),
    foreign key (tenant_id, agent_id) references agents (tenant_id, id) on delete cascade,
    foreign key (tenant_id, profile_id) references profiles (tenant_id, id),
    foreign key (tool_id, tool_scope_id) references tool_registry (id, scope_id) on delete cascade,
    check (tool_scope_id in (tenant_id, '00000000-0000-0000-0000-000000000000')),
    check (agent_id is not null or profile_id is not null)
);

create unique index tool_assignments_use on tool_assignments
    (tenant_id, tool_id, coalesce(agent_id, '00000000-0000-0000-0000-000000000000'::uuid));
create index tool_assignments_agent on tool_assignments (tenant_id, agent_id) where agent_id is not null;
create index tool_assignments_profile on tool_assignments (tenant_id, profile_id) where profile_id is not null;
create index tool_assignments_tool on tool_assignments (tool_id);

comment on table tool_assignments is 'Which agents have which tools beside their definitions, and which profiles apply to calls.';

-- A token bucket: full once full_at is over. A row that is full may be deleted at any time.
create table rate_buckets (
    tenant_id  uuid not null references tenants on delete cascade,
    profile_id uuid not null,
    tool_id    uuid not null,
    agent_id   uuid not null, -- of the assignment; the nil UUID where that has none
    full_at    timestamptz not null,
    primary key (tenant_id, profile_id, tool_id, agent_id)
) with (fillfactor = 50);

comment on table rate_buckets is 'How much of the rates of profiles is used.';

alter table budgets add column profile_id uuid; -- of calls that a profile applies to; null for all
alter table budgets add constraint budgets_profile
    foreign key (tenant_id, profile_id) references profiles (tenant_id, id) on delete cascade not valid;
alter table budgets validate constraint budgets_profile;

do $$
declare
    t text;
begin
    foreach t in array '{profiles,tool_assignments,rate_buckets}'::text[] loop
        execute format('alter table %I enable row level security', t);
        execute format('alter table %I force row level security', t);
        execute format('create policy tenant_isolation on %I
            using (tenant_id = nullif(current_setting(''app.tenant_id'', true), '''')::uuid)
            with check (tenant_id = nullif(current_setting(''app.tenant_id'', true), '''')::uuid)', t);
    end loop;
end
$$;

create policy full_read on rate_buckets for select to toolcrib_owner using (full_at <= now());
create policy full_lock on rate_buckets for update to toolcrib_owner using (full_at <= now()) with check (false);
create policy full_delete on rate_buckets for delete to toolcrib_owner using (full_at <= now());

grant select, insert, update, delete on profiles, tool_assignments to toolcrib_app;
grant select, insert, update on rate_buckets to toolcrib_app;
grant delete on tool_slots to toolcrib_app; -- of assignments that are revoked

create trigger audit after insert or update or delete on profiles for each row
    execute function audit_row('{changed_by}', '{}', 'profile');
create trigger audit after insert or update or delete on tool_assignments for each row
    execute function audit_row('{tool_scope_id,changed_at,changed_by}', '{}', 'assignment');

-- Deletes so many buckets at most that are full, of all tenants, and returns how many it deleted.
create function sweep_rate_buckets(most integer) returns integer
    language plpgsql security definer as $$
declare
    gone integer;
begin
    delete from rate_buckets where full_at <= now() and ctid = any (array(
        select b.ctid from rate_buckets b where b.full_at <= now() limit most for update skip locked));
    get diagnostics gone = row_count;
    return gone;
end
$$;

do $$
begin
    execute format('alter function sweep_rate_buckets(integer) set search_path = %I, pg_temp', current_schema());
end
$$;

revoke all on function sweep_rate_buckets(integer) from public;
grant execute on function sweep_rate_buckets(integer) to toolcrib_app;

-- Reserves an amount in every budget that a call or a turn counts in, or in none: it returns
-- null, or the budget with too little left that stays so for the longest. A holder reserves once,
-- and nothing is reserved for a call whose effect another attempt has admitted meanwhile.
-- A run counts in the budgets of its own agent, and in those of the agents of the runs above it,
-- tasks of theirs that they do not wait for included.
-- An amount of zero is refused where nothing is left. A budget of a profile counts calls that the
-- profile applies to. Turns that an execution before this one left
-- open do not count beside the turn that takes their place.
create or replace function reserve_budgets(
    p_tenant uuid, p_holder text, p_turn_of uuid, p_effect text, p_run uuid, p_agent uuid, p_tool uuid, p_micros bigint,
    p_platform_micros bigint
) returns json language plpgsql as $$
declare
    v_refused json;
begin
    if p_micros is null and p_platform_micros is null then
        return null;
    end if;
    perform lock_budgets(p_tenant);
    if exists (select from budget_holds h where h.tenant_id = p_tenant and h.holder = p_holder)
        or p_effect is not null and exists (
            select from effects e where e.tenant_id = p_tenant and e.effect_id = p_effect and e.phase <> 'accepted')
    then
        return null;
    end if;
    with recursive line as (
        select r.id, r.agent_id, r.parent_run_id, 0 as above from runs r where r.tenant_id = p_tenant and r.id = p_run
        union all
        select r.id, r.agent_id, r.parent_run_id, l.above + 1
        from line l join runs r on r.tenant_id = p_tenant and r.id = l.parent_run_id
        where l.above < 100
    ), within as (
        select l.id, coalesce(l.agent_id, case when l.above = 0 then p_agent end) as agent_id,
               l.above = (select max(x.above) from line x) as outermost
        from line l
        union all
        select null, p_agent, true where not exists (select from line)
    ), applies as (
        select distinct b.id, b.name, b.by_platform, b.agent_id, b.tool_id, b.profile_id, b.period, b.limit_micros,
               case when b.by_platform then p_platform_micros else p_micros end as micros,
               case b.period when 'day' then to_char(now() at time zone 'UTC', 'YYYY-MM-DD')
                   when 'month' then to_char(now() at time zone 'UTC', 'YYYY-MM') else w.id::text end as span,
               case b.period when 'run' then w.id end as run_id,
               case b.period when 'day' then date_trunc('day', now() at time zone 'UTC') + interval '1 day'
                   when 'month' then date_trunc('month', now() at time zone 'UTC') + interval '1 month' end at time zone 'UTC' as resets_at
        from budgets b
        join within w on b.agent_id is null or b.agent_id = w.agent_id
        where b.tenant_id = p_tenant and (b.tool_id is null or b.tool_id = p_tool)
          and case when b.by_platform then p_platform_micros else p_micros end is not null
          and (b.profile_id is null or exists (
              select from tool_assignments x
              where x.tenant_id = p_tenant and x.tool_id = p_tool and x.profile_id = b.profile_id
                and (x.agent_id is null or x.agent_id = p_agent)))
          and (b.period <> 'run' or w.id is not null and (b.agent_id is not null or w.outermost))
    ), refused as (
        select a.* from applies a
        left join budget_windows w on w.tenant_id = p_tenant and w.budget_id = a.id and w.span = a.span
        where coalesce(w.spent_micros, 0) + greatest(a.micros, 1)
            + (select coalesce(sum(h.micros), 0) from budget_holds h
               where h.tenant_id = p_tenant and h.budget_id = a.id and h.span = a.span and (p_turn_of is null or h.turn_of is distinct from p_turn_of) and not (
                   h.turn_of is not null and exists (
                       select from runs r where r.tenant_id = p_tenant and r.id = h.turn_of and r.completed_at is not null))) > a.limit_micros
        order by a.resets_at desc nulls first, a.by_platform desc, a.name
        limit 1
    ), opened as (
        insert into budget_windows (tenant_id, budget_id, span, run_id)
        select p_tenant, a.id, a.span, a.run_id from applies a where not exists (select from refused)
        on conflict do nothing
        returning budget_id
    ), forgotten as (
        delete from budget_windows w using opened o
        where w.tenant_id = p_tenant and w.budget_id = o.budget_id and w.run_id is null and w.created_at < now() - interval '400 days'
    ), held as (
        insert into budget_holds (tenant_id, holder, budget_id, span, turn_of, micros)
        select p_tenant, p_holder, a.id, a.span, p_turn_of, a.micros from applies a where not exists (select from refused)
    )
    select json_build_object('name', r.name, 'by_platform', r.by_platform, 'period', r.period, 'resets_at', r.resets_at,
        'agent', coalesce((select g.slug from agents g where g.tenant_id = p_tenant and g.id = r.agent_id), ''),
        'tool', coalesce((select t.slug from tool_registry t
                 where t.id = r.tool_id and t.scope_id in (p_tenant, '00000000-0000-0000-0000-000000000000')), ''),
        'profile', coalesce((select p.name from profiles p where p.tenant_id = p_tenant and p.id = r.profile_id), ''))
    into v_refused
    from refused r;
    return v_refused;
end
$$;

-- Takes a token of each profile with a rate that applies to a call, or none: it returns null, or
-- the profile whose next token comes last, with how long that takes. None is taken for a call whose
-- effect another attempt has admitted meanwhile. Buckets are locked in the order of their keys, after
-- the budgets of the tenant.
create function take_rates(p_tenant uuid, p_effect text, p_tool uuid, p_agent uuid) returns json language plpgsql as $$
declare
    u record;
    v_full timestamptz;
    v_wait interval;
    v_longest interval;
    v_refused json;
    v_profiles uuid[] := '{}';
    v_agents uuid[] := '{}';
    v_each interval[] := '{}';
begin
    for u in
        select p.id, p.name, p.rate_calls, p.rate_per, p.rate_burst, coalesce(a.agent_id, '00000000-0000-0000-0000-000000000000') as agent_id,
               ('1 ' || p.rate_per)::interval / p.rate_calls as each
        from tool_assignments a join profiles p on p.tenant_id = a.tenant_id and p.id = a.profile_id
        where a.tenant_id = p_tenant and a.tool_id = p_tool and (a.agent_id is null or a.agent_id = p_agent) and p.rate_calls is not null
        order by p.id, coalesce(a.agent_id, '00000000-0000-0000-0000-000000000000')
    loop
        insert into rate_buckets as b (tenant_id, profile_id, tool_id, agent_id, full_at)
        values (p_tenant, u.id, p_tool, u.agent_id, clock_timestamp() + u.each)
        on conflict (tenant_id, profile_id, tool_id, agent_id) do update
            set full_at = greatest(b.full_at, clock_timestamp()) + u.each
            where greatest(b.full_at, clock_timestamp()) + u.each <= clock_timestamp() + u.each * u.rate_burst;
        if found then
            v_profiles := v_profiles || u.id;
            v_agents := v_agents || u.agent_id;
            v_each := v_each || u.each;
            continue;
        end if;
        select b.full_at into v_full from rate_buckets b
        where b.tenant_id = p_tenant and b.profile_id = u.id and b.tool_id = p_tool and b.agent_id = u.agent_id;
        v_wait := greatest(v_full + u.each - u.each * u.rate_burst - clock_timestamp(), interval '1 millisecond');
        if v_longest is null or v_wait > v_longest then
            v_longest := v_wait;
            v_refused := json_build_object('profile', u.name, 'calls', u.rate_calls, 'per', u.rate_per,
                'wait_ms', ceil(extract(epoch from v_wait) * 1000));
        end if;
    end loop;
    if v_refused is not null or exists (
        select from effects e where e.tenant_id = p_tenant and e.effect_id = p_effect and e.phase <> 'accepted')
    then
        update rate_buckets b set full_at = b.full_at - t.each
        from unnest(v_profiles, v_agents, v_each) as t (profile_id, agent_id, each)
        where b.tenant_id = p_tenant and b.profile_id = t.profile_id and b.tool_id = p_tool and b.agent_id = t.agent_id;
    end if;
    return v_refused;
end
$$;

-- Locks the buckets of calls that begin in one transaction, in the order of their keys, where there
-- are several: then no two transactions wait for one another.
create function lock_rates(p_tenant uuid, p_agent uuid, p_begin json) returns void language plpgsql as $$
begin
    if json_array_length(p_begin) < 2 or not exists (
        select from json_array_elements(p_begin) as c (v)
        join tool_assignments a on a.tenant_id = p_tenant and a.tool_id = (c.v ->> 'tool_id')::uuid
        join profiles p on p.tenant_id = p_tenant and p.id = a.profile_id
        where (a.agent_id is null or a.agent_id = p_agent) and p.rate_calls is not null)
    then
        return;
    end if;
    insert into rate_buckets as b (tenant_id, profile_id, tool_id, agent_id, full_at)
    select distinct p_tenant, p.id, a.tool_id, coalesce(a.agent_id, '00000000-0000-0000-0000-000000000000'), now()
    from json_array_elements(p_begin) as c (v)
    join tool_assignments a on a.tenant_id = p_tenant and a.tool_id = (c.v ->> 'tool_id')::uuid
    join profiles p on p.tenant_id = p_tenant and p.id = a.profile_id
    where (a.agent_id is null or a.agent_id = p_agent) and p.rate_calls is not null
    order by 2, 3, 4
    on conflict (tenant_id, profile_id, tool_id, agent_id) do update set full_at = b.full_at where false;
end
$$;

-- Reserves what a call costs, and takes tokens of the rates that apply to it, or neither: it returns
-- null, or the budget ("budget") or the rate ("rate") that refuses the call.
create function begin_limited(
    p_tenant uuid, p_holder text, p_effect text, p_run uuid, p_agent uuid, p_tool uuid, p_version text
) returns json language plpgsql as $$
declare
    v_micros bigint;
    v_platform_micros bigint;
    v_before boolean := true;
    v_refused json;
begin
    if exists (select from budgets b where b.tenant_id = p_tenant) then
        v_micros := reserved_call(p_tenant, false, p_tool, p_version);
        v_platform_micros := reserved_call(p_tenant, true, p_tool, p_version);
    end if;
    if v_micros is not null or v_platform_micros is not null then
        perform lock_budgets(p_tenant);
        v_before := exists (select from budget_holds h where h.tenant_id = p_tenant and h.holder = p_holder);
        v_refused := reserve_budgets(p_tenant, p_holder, null, p_effect, p_run, p_agent, p_tool, v_micros, v_platform_micros);
        if v_refused is not null then
            return json_build_object('budget', v_refused);
        end if;
    end if;
    v_refused := take_rates(p_tenant, p_effect, p_tool, p_agent);
    if v_refused is null then
        return null;
    end if;
    if not v_before then
        delete from budget_holds h where h.tenant_id = p_tenant and h.holder = p_holder;
    end if;
    return json_build_object('rate', v_refused);
end
$$;

-- Reads assignments and profiles with the rest of the authority over calls, and takes their rates.
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
    v_pause integer;
    v_inbox integer;
    v_budgeted boolean := false;
    v_taken boolean;
    v_agent uuid;
    v_over boolean := false;
    v_types text[] := '{}';
    v_calls uuid[] := '{}';
    v_data json[] := '{}';
begin
    v_budgeted := exists (select from budgets b where b.tenant_id = p_tenant);
    if v_budgeted and (p_ended is not null or p_turn is not null or p_begin is not null) then
        perform lock_budgets(p_tenant);
    end if;

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
        perform lock_rates(p_tenant, p_agent, p_begin);
        for c in
            select x.*, g.scope_id, g.egress_class, g.egress_rules, g.requires_approval, g.permission_policy,
                   g.required_permission, g.tenant_slugs, g.profiles, coalesce(g.rated, false) as rated
            from json_to_recordset(p_begin) as x (
                effect_id text, invocation_id uuid, tool_id uuid, turn integer, position integer, call_id text, tool text,
                version text, digest text, implementation_type text, parent_id uuid, arguments json, arguments_digest text,
                receipt json, send boolean, hidden boolean, assigned boolean)
            left join lateral (
                select r.*, u.list as profiles, u.rated from tenants n
                join tool_registry r on r.id = x.tool_id and r.scope_id in (n.id, '00000000-0000-0000-0000-000000000000')
                left join tool_overrides own on own.scope_id = n.id and own.tool_id = r.id
                left join tool_overrides preset on preset.scope_id = '00000000-0000-0000-0000-000000000000' and preset.tool_id = r.id
                cross join lateral (
                    select json_agg(y order by y.agent_id nulls first) as list, bool_or(y.rate_calls is not null) as rated,
                           bool_or(y.denied or y.requires_approval or y.permission_policy = 'always_ask' or y.egress_class = 'write') as stops
                    from (
                        select w.agent_id, p.id, p.name, p.denied, p.requires_approval, p.permission_policy, p.egress_class, p.required_permission,
                               p.rate_calls, p.rate_per, p.rate_burst, p.max_concurrency
                        from tool_assignments w join profiles p on p.tenant_id = w.tenant_id and p.id = w.profile_id
                        where w.tenant_id = p_tenant and w.tool_id = r.id and (w.agent_id is null or w.agent_id = p_agent)
                    ) y
                ) u
                where n.id = p_tenant and n.status = 'active'
                  and r.status = 'published' and r.is_active and r.quarantine = ''
                  and (r.tenant_slugs = '{}' or n.slug = any (r.tenant_slugs))
                  and coalesce(own.enabled, preset.enabled, r.tenant_id is not null)
                  and not (coalesce(own.requires_approval, false) or coalesce(preset.requires_approval, false))
                  and not (r.requires_approval or r.permission_policy = 'always_ask' or r.egress_class = 'write')
                  and not coalesce(u.stops, false)
                  and (not coalesce(x.assigned, false) or exists (
                      select from tool_assignments w where w.tenant_id = p_tenant and w.tool_id = r.id and w.agent_id = p_agent))
                  and (p_mode <> 'production' or exists (
                      select from tool_versions v
                      where v.tool_id = r.id and v.scope_id = r.scope_id and v.digest = x.digest and v.published))
            ) g on true
        loop
            v_taken := (v_budgeted or c.rated) and c.scope_id is not null;
            if v_taken and (
                exists (select from effects e where e.tenant_id = p_tenant and e.effect_id = c.effect_id)
                or begin_limited(p_tenant, c.invocation_id::text, c.effect_id, p_run, p_agent, c.tool_id, c.version) is not null)
            then
                continue;
            end if;
            if c.scope_id is not null then
                insert into effects (tenant_id, effect_id, phase, fence, attempt, invocation_id, version_digest, arguments_digest)
                values (p_tenant, c.effect_id, case when c.send then 'sent' else 'admitted' end, 1, 1, c.invocation_id,
                    c.digest, c.arguments_digest)
                on conflict do nothing;
            end if;
            if c.scope_id is null or not found then
                if v_taken then
                    raise exception 'the effect is another attempt''s' using errcode = 'TC001'; -- what was taken goes with it
                end if;
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
                'required_permission', c.required_permission, 'tenant_slugs', c.tenant_slugs, 'profiles', c.profiles);
        end loop;
    end if;

    if v_types = '{}' then
        select coalesce(r.followed_until > now(), false), r.cancel_execution, r.pause_round, r.inbox
            into v_followed, v_cancel, v_pause, v_inbox
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
        returning r.last_seq, coalesce(r.followed_until > now(), false), r.cancel_execution, r.pause_round, r.inbox
            into v_seq, v_followed, v_cancel, v_pause, v_inbox;
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
        select r.agent_id into v_agent from runs r where r.tenant_id = p_tenant and r.id = p_run;
        select json_agg(json_build_object('id', r.id, 'tenant_id', r.tenant_id, 'egress_class', r.egress_class,
            'egress_rules', r.egress_rules,
            'requires_approval', r.requires_approval or coalesce(own.requires_approval, false) or coalesce(preset.requires_approval, false),
            'permission_policy', r.permission_policy,
            'required_permission', r.required_permission, 'tenant_slugs', r.tenant_slugs, 'profiles', u.list)) into v_policies
        from json_array_elements_text(p_ask -> 'tools') as x (id)
        join tool_registry r on r.id = x.id::uuid and r.scope_id in (p_tenant, '00000000-0000-0000-0000-000000000000')
        left join tool_overrides own on own.scope_id = p_tenant and own.tool_id = r.id
        left join tool_overrides preset on preset.scope_id = '00000000-0000-0000-0000-000000000000' and preset.tool_id = r.id
        cross join lateral (
            select json_agg(y order by y.agent_id nulls first) as list
            from (
                select w.agent_id, p.id, p.name, p.denied, p.requires_approval, p.permission_policy, p.egress_class, p.required_permission,
                       p.rate_calls, p.rate_per, p.rate_burst, p.max_concurrency
                from tool_assignments w join profiles p on p.tenant_id = w.tenant_id and p.id = w.profile_id
                where w.tenant_id = p_tenant and w.tool_id = r.id and (w.agent_id is null or w.agent_id = v_agent)
            ) y
        ) u
        where not coalesce((p_ask -> 'assigned')::jsonb ? x.id, false) or exists (
            select from tool_assignments w where w.tenant_id = p_tenant and w.tool_id = r.id and w.agent_id = v_agent);
    end if;
    return json_build_object('ended', v_ended, 'turn', v_saved, 'tickets', to_json(v_tickets), 'opened', v_opened, 'over', v_over,
        'policies', v_policies, 'followed', v_followed, 'cancel', v_cancel, 'pause_round', v_pause, 'inbox', v_inbox,
        'budgeted', v_budgeted, 'at', now());
end
$$;

