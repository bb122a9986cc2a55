drop trigger audit on budgets;
drop trigger runs_release_turns on runs;
drop function release_turns();

create or replace function price_ended_call() returns trigger language plpgsql as $$
begin
    new.cost_micros := priced_call(new.tenant_id, new.tool_id, new.version, new.output);
    if new.cost_micros is not null and new.status not in ('completed', 'unknown') then
        new.cost_micros := 0;
    end if;
    return new;
end
$$;

create or replace function price_turn() returns trigger language plpgsql as $$
begin
    new.cost_micros := priced_tokens(new.tenant_id, new.model, new.input_tokens, coalesce(new.cached_input_tokens, 0),
        new.output_tokens, coalesce(new.reasoning_tokens, 0));
    return new;
end
$$;

create or replace function audit_row() returns trigger language plpgsql security definer as $$
declare
    ignored text[] := tg_argv[0]::text[] || array['tenant_id', 'scope_id', 'scope', 'revision', 'created_at', 'updated_at'];
    hidden text[] := tg_argv[1]::text[];
    o json := case when tg_op <> 'INSERT' then to_json(old) end;
    n json := case when tg_op <> 'DELETE' then to_json(new) end;
    r json := coalesce(n, o);
    tenant uuid := (r ->> 'tenant_id')::uuid;
    id text := r ->> 'id';
    name text := coalesce(r ->> 'slug', r ->> 'name');
    kind text;
    verb text := case tg_op when 'INSERT' then 'created' when 'DELETE' then 'deleted' else 'changed' end;
    changed text[];
    before json;
    after json;
    of_tool record;
begin
    select array_agg(c.key order by c.key),
        json_object_agg(c.key, c.was order by c.key) filter (where tg_op <> 'INSERT'),
        json_object_agg(c.key, c.becomes order by c.key) filter (where tg_op <> 'DELETE')
    into changed, before, after
    from (
        select coalesce(a.key, b.key) as key,
            case when coalesce(a.key, b.key) = any (hidden) and a.value::text <> 'null' then '"(not shown)"'::json else a.value end as was,
            case when coalesce(a.key, b.key) = any (hidden) and b.value::text <> 'null' then '"(not shown)"'::json else b.value end as becomes
        from json_each(coalesce(o, '{}')) a full join json_each(coalesce(n, '{}')) b on a.key = b.key
        where coalesce(a.key, b.key) <> all (ignored) and a.value::text is distinct from b.value::text
    ) c;
    if changed is null then
        return null;
    end if;

    case tg_table_name
    when 'tool_registry', 'agents' then
        kind := case when tg_table_name = 'agents' then 'agent' when r ->> 'implementation_type' = 'graph' then 'graph' else 'tool' end;
        if tg_op = 'UPDATE' then
            verb := case
                when o ->> 'deleted_at' is null and n ->> 'deleted_at' is not null then 'deleted'
                when 'quarantine' = any (changed) then case n ->> 'quarantine' when '' then 'released' else 'quarantined' end
                when 'status' = any (changed) and n ->> 'status' = 'disabled' then 'disabled'
                when 'status' = any (changed) and n ->> 'status' = 'deprecated' then 'deprecated'
                when 'status' = any (changed) and o ->> 'status' in ('disabled', 'deprecated') then 'enabled'
                when 'is_active' = any (changed) then case when (n ->> 'is_active')::boolean then 'enabled' else 'disabled' end
                when 'slug' = any (changed) then 'renamed'
                when changed <@ array['status', 'version', 'published_at'] then null -- the version's row says it
                else 'draft_edited' end;
            name := o ->> 'slug';
        end if;
    when 'tool_versions' then
        select t.slug, t.implementation_type into of_tool from tool_registry t
        where t.id = (r ->> 'tool_id')::uuid and t.scope_id = coalesce(tenant, '00000000-0000-0000-0000-000000000000');
        kind := case of_tool.implementation_type when 'graph' then 'graph' else 'tool' end;
        id := r ->> 'tool_id';
        name := of_tool.slug;
        verb := case when tg_op = 'DELETE' then 'version_deleted' when (r ->> 'published')::boolean then 'published' else 'versioned' end;
    when 'agent_versions' then
        kind := 'agent';
        id := r ->> 'agent_id';
        select a.slug into name from agents a where a.tenant_id = tenant and a.id = (r ->> 'agent_id')::uuid;
        verb := case when tg_op = 'DELETE' then 'version_deleted' when (r ->> 'published')::boolean then 'published' else 'versioned' end;
    when 'tool_overrides' then
        kind := 'tool';
        id := r ->> 'tool_id';
        select t.slug into name from tool_registry t where t.id = (r ->> 'tool_id')::uuid and t.scope_id = (r ->> 'tool_scope_id')::uuid;
        verb := case tg_op when 'DELETE' then 'override_removed' else 'override_set' end;
    when 'prices' then
        kind := 'price';
        select t.slug into name from tool_registry t where t.id = (r ->> 'tool_id')::uuid and t.scope_id = (r ->> 'tool_scope_id')::uuid;
        name := coalesce(r ->> 'model', name);
    when 'api_keys' then
        kind := 'key';
        if tg_op = 'UPDATE' and n ->> 'revoked_at' is not null and o ->> 'revoked_at' is null then
            verb := 'revoked';
        end if;
    when 'credentials' then
        kind := 'credential';
        name := r ->> 'ref';
        if tg_op = 'UPDATE' then
            verb := case when 'revoked_at' = any (changed) then 'revoked' when 'version' = any (changed) then 'rotated'
                when changed <@ array['ciphertext', 'key_version'] then 'reencrypted' else 'changed' end;
        end if;
    when 'tenants' then
        kind := 'tenant';
        tenant := (r ->> 'id')::uuid;
        if 'status' = any (changed) and tg_op = 'UPDATE' then
            verb := case n ->> 'status' when 'suspended' then 'suspended' else 'resumed' end;
        end if;
    when 'tenant_keys' then
        kind := 'tenant';
        id := tenant::text;
        name := 'data key ' || (r ->> 'version');
        verb := case tg_op when 'INSERT' then 'data_key_made' when 'DELETE' then 'data_key_deleted' else 'data_key_wrapped' end;
    when 'retention_rules' then
        kind := 'retention';
        id := r ->> 'class';
        name := r ->> 'class';
        verb := case tg_op when 'DELETE' then 'unset' else 'set' end;
    when 'approval_decisions' then
        kind := 'approval';
        id := r ->> 'approval_id';
        select a.tool into name from approvals a where a.tenant_id = tenant and a.id = (r ->> 'approval_id')::uuid;
        verb := case tg_op when 'DELETE' then 'decision_deleted' else 'decided' end;
    when 'approval_grants' then
        kind := 'grant';
        name := r ->> 'tool';
        if tg_op = 'UPDATE' and 'revoked_at' = any (changed) then
            verb := 'revoked';
        end if;
    when 'pending_tool_calls' then
        kind := case r ->> 'intent' when '' then 'pending_call' else 'input' end;
        name := r ->> 'tool';
        verb := 'answered';
    when 'runs' then
        kind := 'run';
        name := r ->> 'agent';
        verb := case when o ->> 'pause_round' = n ->> 'pause_round' then 'cancelled'
            when n ->> 'paused_at' is null then 'resumed' else 'paused' end;
        before := null;
        after := null;
    when 'mcp_servers' then
        kind := 'mcp_server';
        if tg_op = 'UPDATE' then
            verb := case when 'detached_at' = any (changed) then 'detached'
                when 'status' = any (changed) then case n ->> 'status' when 'disabled' then 'disabled' else 'enabled' end
                else 'changed' end;
        end if;
    when 'mcp_remote_tools' then
        kind := 'mcp_server';
        id := r ->> 'server_id';
        verb := 'tool_approved';
    when 'artifacts' then
        kind := 'artifact';
        if 'status' = any (changed) and tg_op = 'UPDATE' then
            verb := case n ->> 'status' when 'disabled' then 'disabled' when 'deprecated' then 'deprecated' else 'enabled' end;
        end if;
    when 'artifact_versions' then
        kind := 'artifact';
        id := r ->> 'artifact_id';
        select a.slug into name from artifacts a where a.tenant_id = tenant and a.id = (r ->> 'artifact_id')::uuid;
        verb := case tg_op when 'DELETE' then 'version_deleted' else 'versioned' end;
    when 'pipelines' then
        kind := 'pipeline';
        if tg_op = 'UPDATE' then
            verb := case when 'deleted_at' = any (changed) then 'deleted'
                when 'disabled' = any (changed) then case when (n ->> 'disabled')::boolean then 'disabled' else 'enabled' end
                else 'changed' end;
        end if;
    when 'documents' then
        kind := 'pipeline';
        id := r ->> 'pipeline_id';
        name := r ->> 'key';
        verb := case tg_op when 'INSERT' then 'document_added' when 'DELETE' then 'document_deleted' else 'document_replaced' end;
    when 'files' then
        kind := 'file';
        verb := case tg_op when 'INSERT' then 'uploaded' else 'deleted' end;
    when 'schedules' then
        kind := 'schedule';
        if tg_op = 'UPDATE' then
            verb := case when 'deleted_at' = any (changed) then 'deleted'
                when 'paused' = any (changed) then case when (n ->> 'paused')::boolean then 'paused' else 'resumed' end
                else 'changed' end;
        elsif tg_op = 'DELETE' and o ->> 'deleted_at' is not null then
            return null; -- it was deleted before, and is now gone from Temporal too
        end if;
    when 'spaces' then
        kind := 'space';
        if 'archived_at' = any (changed) and tg_op = 'UPDATE' then
            verb := case when n ->> 'archived_at' is null then 'restored' else 'archived' end;
        end if;
    when 'space_members' then
        kind := 'space';
        id := r ->> 'space_id';
        verb := case tg_op when 'INSERT' then 'member_added' when 'DELETE' then 'member_removed' else 'member_changed' end;
    when 'webhooks' then
        kind := 'webhook';
        name := r ->> 'url';
        if tg_op = 'UPDATE' then
            verb := case when 'secret_version' = any (changed) then 'secret_rotated'
                when 'active' = any (changed) then case when (n ->> 'active')::boolean then 'enabled' else 'disabled' end
                else 'changed' end;
        end if;
    end case;

    if verb is not null then
        perform audit_write(tenant, kind || '.' || verb, kind, id, name, 'done', '', before, after);
    end if;
    return null;
end
$$;

do $$
declare
    f text;
begin
    foreach f in array '{price_ended_call,price_turn,audit_row}'::text[] loop
        execute format('alter function %I() set search_path = %I, pg_temp', f, current_schema());
    end loop;
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

drop function audit_masked(text, json);
drop function spend_budgets(uuid, text, bigint);
drop function reserve_budgets(uuid, text, uuid, uuid, uuid, uuid, bigint);
drop function reserved_call(uuid, uuid, text);
drop table budget_holds;
drop table budget_windows;
drop table budgets;
alter table prices drop column unit_estimate;
