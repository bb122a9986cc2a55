drop function begin_limited(uuid, text, text, uuid, uuid, uuid, text);
drop function lock_rates(uuid, uuid, json);
drop function take_rates(uuid, text, uuid, uuid);
drop function sweep_rate_buckets(integer);
revoke delete on tool_slots from toolcrib_app;

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
        select distinct b.id, b.name, b.by_platform, b.agent_id, b.tool_id, b.period, b.limit_micros,
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
                 where t.id = r.tool_id and t.scope_id in (p_tenant, '00000000-0000-0000-0000-000000000000')), ''))
    into v_refused
    from refused r;
    return v_refused;
end
$$;

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
            if v_budgeted and c.scope_id is not null and (
                exists (select from effects e where e.tenant_id = p_tenant and e.effect_id = c.effect_id)
                or reserve_budgets(p_tenant, c.invocation_id::text, null, c.effect_id, p_run, p_agent, c.tool_id,
                    reserved_call(p_tenant, false, c.tool_id, c.version), reserved_call(p_tenant, true, c.tool_id, c.version)) is not null)
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
                if v_budgeted and c.scope_id is not null then
                    raise exception 'the effect is another attempt''s' using errcode = 'TC001'; -- what was reserved goes with it
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
                'required_permission', c.required_permission, 'tenant_slugs', c.tenant_slugs);
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
        select json_agg(json_build_object('id', r.id, 'tenant_id', r.tenant_id, 'egress_class', r.egress_class,
            'egress_rules', r.egress_rules,
            'requires_approval', r.requires_approval or coalesce(own.requires_approval, false) or coalesce(preset.requires_approval, false),
            'permission_policy', r.permission_policy,
            'required_permission', r.required_permission, 'tenant_slugs', r.tenant_slugs)) into v_policies
        from json_array_elements_text(p_ask -> 'tools') as x (id)
        join tool_registry r on r.id = x.id::uuid and r.scope_id in (p_tenant, '00000000-0000-0000-0000-000000000000')
        left join tool_overrides own on own.scope_id = p_tenant and own.tool_id = r.id
        left join tool_overrides preset on preset.scope_id = '00000000-0000-0000-0000-000000000000' and preset.tool_id = r.id;
    end if;
    return json_build_object('ended', v_ended, 'turn', v_saved, 'tickets', to_json(v_tickets), 'opened', v_opened, 'over', v_over,
        'policies', v_policies, 'followed', v_followed, 'cancel', v_cancel, 'pause_round', v_pause, 'inbox', v_inbox,
        'budgeted', v_budgeted, 'at', now());
end
$$;

alter table budgets drop column profile_id;
drop table rate_buckets;
drop table tool_assignments;
drop table profiles;
