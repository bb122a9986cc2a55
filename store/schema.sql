-- The schema that the migrations make, written by
--     go test ./store -run TestSchemaDump -update
-- Monthly partitions are left out: they depend on the day.

CREATE OR REPLACE FUNCTION public.alert_of_budget()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
    b record;
begin
    select x.*, coalesce(g.slug, '') as agent, coalesce(t.slug, '') as tool, coalesce(p.name, '') as profile into b
    from budgets x
    left join agents g on g.tenant_id = x.tenant_id and g.id = x.agent_id
    left join tool_registry t on t.scope_id in (x.tenant_id, '00000000-0000-0000-0000-000000000000') and t.id = x.tool_id
    left join profiles p on p.tenant_id = x.tenant_id and p.id = x.profile_id
    where x.tenant_id = new.tenant_id and x.id = new.budget_id and new.spent_micros >= x.limit_micros * 0.8;
    if not found then
        return new;
    end if;
    new.alerted_at := now();
    insert into webhook_deliveries (tenant_id, id, webhook_id, type, data)
    select w.tenant_id, new_uuid7(), w.id, 'budget.threshold',
        json_build_object('budget', b.name, 'by_platform', b.by_platform, 'period', b.period, 'span', new.span,
            'limit_micros', b.limit_micros, 'spent_micros', new.spent_micros, 'percent', 80,
            'agent', b.agent, 'tool', b.tool, 'profile', b.profile)
    from webhooks w
    where w.tenant_id = new.tenant_id and w.active and 'budget.threshold' = any (w.types) and w.agent in ('', b.agent)
      and w.tool in ('', b.tool);
    return new;
end
$function$
;

CREATE OR REPLACE FUNCTION public.answer_content(result json, error_kind text, error text)
 RETURNS json
 LANGUAGE sql
 STABLE
AS $function$
    select case
        when result is null then json_build_array(json_build_object('type', 'text', 'text', error_kind || ': ' || error))
        else coalesce(result -> 'preview', result -> 'content', '[]')
    end
$function$
;

CREATE OR REPLACE FUNCTION public.answer_is_error(result json)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
AS $function$
    select result is null or coalesce((result ->> 'is_error')::boolean, false)
$function$
;

CREATE OR REPLACE FUNCTION public.audit_digest(previous text, e audit_log)
 RETURNS text
 LANGUAGE sql
 STABLE
 SET search_path TO 'public', 'pg_temp'
AS $function$
    select encode(sha256(convert_to(string_agg(coalesce(octet_length(convert_to(f.field, 'UTF8')) || ':' || f.field, '-') || ',', ''
        order by f.place), 'UTF8')), 'hex')
    from unnest(array[
        'toolcrib.audit.1', previous, e.seq::text, coalesce(e.tenant_id::text, ''), e.id::text,
        to_char(e.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), e.actor_kind, e.actor, e.key_id::text, e.action,
        e.object_kind, e.object_id, e.object_name, e.request_id, e.outcome, e.reason, e.before::text, e.after::text,
        to_char(e.sealed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
    ]) with ordinality as f (field, place)
$function$
;

CREATE OR REPLACE FUNCTION public.audit_erasure()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
    perform audit_write(null, case when tg_op = 'INSERT' then 'tenant.erasure_started' else 'tenant.erased' end, 'tenant',
        new.tenant_id::text, new.slug, 'done', '', null, to_json(new));
    return null;
end
$function$
;

CREATE OR REPLACE FUNCTION public.audit_id(at timestamp with time zone)
 RETURNS uuid
 LANGUAGE sql
 SET search_path TO 'public', 'pg_temp'
AS $function$
    select (lpad(to_hex(u.us / 1000), 12, '0') || '7' || lpad(to_hex(u.us % 1000 * 4096 / 1000), 3, '0')
        || substr(replace(gen_random_uuid()::text, '-', ''), 17))::uuid
    from (select (extract(epoch from at) * 1000000)::bigint as us) u
$function$
;

CREATE OR REPLACE FUNCTION public.audit_masked(name text, v json)
 RETURNS json
 LANGUAGE plpgsql
 IMMUTABLE
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
    secret constant text := '(password|passwd|passphrase|pwd|secret|authorization|cookie|(api|access|private|secret|signing)[_-]?key'
        || '|(access|auth|refresh|bearer|api|session|id)[_-]?token)s?$|(^|[_-])token$';
begin
    return case
        when json_typeof(v) = 'null' then v
        when name ~* secret and not (json_typeof(v) = 'object' and (v ->> '$ref' is not null
            or coalesce(v ->> 'type', '') in ('string', 'number', 'integer', 'boolean', 'object', 'array', 'null'))) then '"[redacted]"'
        when json_typeof(v) = 'object' then coalesce((
            select json_object_agg(m.key, audit_masked(case when m.key = 'value' and v ->> 'name' ~* secret then 'secret' else m.key end,
                m.value)) from json_each(v) m), '{}')
        when json_typeof(v) = 'array' then coalesce((
            select json_agg(audit_masked('', e.value) order by e.place) from json_array_elements(v) with ordinality as e (value, place)), '[]')
        else v
    end;
end
$function$
;

CREATE OR REPLACE FUNCTION public.audit_refuse(p_tenant uuid, p_action text, p_kind text, p_id text, p_name text, p_reason text)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
    v_actor text := nullif(current_setting('app.actor', true), '')::json ->> 'subject';
    v_since uuid := audit_id(clock_timestamp() - interval '1 minute'); -- a constant, for the index
begin
    if p_tenant is null or p_tenant is distinct from nullif(current_setting('app.tenant_id', true), '')::uuid then
        raise exception 'another tenant''s audit log' using errcode = 'insufficient_privilege';
    end if;
    if (
        select count(*) >= 20
            or coalesce(bool_or(l.object_id = coalesce(p_id, '') and l.object_name = coalesce(p_name, '')
                and l.reason = coalesce(nullif(p_reason, ''), nullif(current_setting('app.actor', true), '')::json ->> 'reason', '')), false)
        from audit_log l
        where l.scope_id = p_tenant and l.actor = v_actor and l.id > v_since and l.outcome = 'refused' and l.action = p_action)
    then
        return;
    end if;
    perform audit_write(p_tenant, p_action, p_kind, p_id, p_name, 'refused', p_reason, null, null);
end
$function$
;

CREATE OR REPLACE FUNCTION public.audit_row()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
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
            case when coalesce(a.key, b.key) = any (hidden) and a.value::text <> 'null' then '"(not shown)"'::json else audit_masked('', a.value) end as was,
            case when coalesce(a.key, b.key) = any (hidden) and b.value::text <> 'null' then '"(not shown)"'::json else audit_masked('', b.value) end as becomes
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
                when 'archived_at' = any (changed) then case when n ->> 'archived_at' is null then 'restored' else 'archived' end
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
    else
        kind := tg_argv[2];
    end case;

    if verb is not null then
        perform audit_write(tenant, kind || '.' || verb, kind, id, name, 'done', '', before, after);
    end if;
    return null;
end
$function$
;

CREATE OR REPLACE FUNCTION public.audit_unsealed_age()
 RETURNS double precision
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
    select coalesce(extract(epoch from clock_timestamp() - min(l.at)), 0) from audit_log l where l.seq is null
$function$
;

CREATE OR REPLACE FUNCTION public.audit_write(p_tenant uuid, p_action text, p_kind text, p_id text, p_name text, p_outcome text, p_reason text, p_before json, p_after json)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
    v_actor json := nullif(current_setting('app.actor', true), '')::json;
    v_at timestamptz := clock_timestamp();
begin
    if exists (select from tenant_erasures e where e.tenant_id = p_tenant) then
        return;
    end if;
    insert into audit_log (tenant_id, id, at, actor_kind, actor, key_id, action, object_kind, object_id, object_name, request_id,
        outcome, reason, before, after)
    values (p_tenant, audit_id(v_at), v_at, coalesce(v_actor ->> 'kind', 'database'), coalesce(v_actor ->> 'subject', session_user),
        (v_actor ->> 'key_id')::uuid, p_action, p_kind, coalesce(p_id, ''), coalesce(p_name, ''),
        coalesce(v_actor ->> 'request_id', ''), p_outcome, coalesce(nullif(p_reason, ''), v_actor ->> 'reason', ''), p_before, p_after);
end
$function$
;

CREATE OR REPLACE FUNCTION public.begin_limited(p_tenant uuid, p_holder text, p_effect text, p_run uuid, p_agent uuid, p_tool uuid, p_version text)
 RETURNS json
 LANGUAGE plpgsql
AS $function$
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
$function$
;

CREATE OR REPLACE FUNCTION public.begin_tenant_erasure(p_tenant uuid, p_counts json)
 RETURNS SETOF tenant_erasures
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
    v_actor json := nullif(current_setting('app.actor', true), '')::json;
    t tenants;
    head audit_heads;
begin
    select x.* into t from tenants x where x.id = p_tenant for update;
    if t.status <> 'suspended' then
        raise exception 'tenant % is not suspended', t.slug using errcode = 'object_not_in_prerequisite_state';
    end if;
    if found and not exists (select from tenant_erasures e where e.tenant_id = p_tenant) then
        select h.* into head from audit_heads h where h.scope_id = p_tenant;
        insert into tenant_erasures (tenant_id, slug, requested_by, counts, audit_seq, audit_hash)
        values (p_tenant, t.slug, coalesce(v_actor ->> 'subject', session_user), p_counts, coalesce(head.seq, 0),
            coalesce(head.hash, repeat('0', 64)));
    end if;
    return query select e.* from tenant_erasures e where e.tenant_id = p_tenant;
end
$function$
;

CREATE OR REPLACE FUNCTION public.canary_tenants(most integer)
 RETURNS json
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
    return (select coalesce(json_agg(d.tenant_id), '[]') from (
        select c.tenant_id from tool_canaries c
        where c.state = 'running' and c.judged_at < now() - interval '20 seconds'
        group by c.tenant_id
        order by min(c.judged_at)
        limit most) d);
end
$function$
;

CREATE OR REPLACE FUNCTION public.cancel_call_approval()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
    update approvals a set status = case new.status when 'expired' then 'expired' else 'cancelled' end, ended_at = now()
    where a.tenant_id = new.tenant_id and a.id = new.id and a.status = 'pending';
    update tool_invocations i set approval_status = 'expired' where i.tenant_id = new.tenant_id and i.id = new.id;
    return null;
end
$function$
;

CREATE OR REPLACE FUNCTION public.cancel_run_approvals()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
    update approvals a set status = 'cancelled', ended_at = now()
    where a.tenant_id = new.tenant_id and a.run_id = new.id and a.status = 'pending';
    return null;
end
$function$
;

CREATE OR REPLACE FUNCTION public.change_space_message(tenant uuid, message uuid, state text, answer json, fault text, msg text, until timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
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
$function$
;

CREATE OR REPLACE FUNCTION public.claim_ended_approvals(most integer, lease interval)
 RETURNS json
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
    with due as (
        select d.tenant_id, d.id from approvals d
        where d.deliver_at <= now() or d.deliver_at > now() + interval '5 minutes'
        order by d.deliver_at
        limit most
        for update skip locked
    ), claimed as (
        update approvals a set deliver_at = now() + lease
        from due where a.tenant_id = due.tenant_id and a.id = due.id
        returning a.tenant_id, a.id, a.workflow_id, a.round
    )
    select coalesce(json_agg(json_build_object('t', c.tenant_id, 'i', c.id, 'w', c.workflow_id, 'r', c.round)), '[]')
    from claimed c
$function$
;

CREATE OR REPLACE FUNCTION public.claim_left_files(place text, lease interval, most integer)
 RETURNS json
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
    with claimed as (
        update left_files l set due_at = now() + lease
        from (
            select d.tenant_id, d.file_id from left_files d
            where d.location = place and d.due_at <= now()
            order by d.due_at
            limit most
            for update skip locked) due
        where l.tenant_id = due.tenant_id and l.file_id = due.file_id
        returning l.tenant_id, l.file_id
    )
    select coalesce(json_agg(json_build_object('tenant_id', c.tenant_id, 'file_id', c.file_id)), '[]') from claimed c
$function$
;

CREATE OR REPLACE FUNCTION public.claim_pauses(most integer, lease interval)
 RETURNS json
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
    with due as (
        select d.tenant_id, d.id from runs d
        where d.completed_at is null and (d.pause_due <= now() or d.pause_due > now() + interval '5 minutes')
        order by d.pause_due
        limit most
        for update skip locked
    ), claimed as (
        update runs r set pause_due = now() + lease
        from due where r.tenant_id = due.tenant_id and r.id = due.id
        returning r.tenant_id, r.id, r.workflow_id, r.pause_round
    )
    select coalesce(json_agg(json_build_object('t', c.tenant_id, 'i', c.id, 'w', c.workflow_id, 'r', c.pause_round)), '[]')
    from claimed c
$function$
;

CREATE OR REPLACE FUNCTION public.claim_resolved_calls(most integer, lease interval)
 RETURNS json
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
    with due as (
        select d.tenant_id, d.id from pending_tool_calls d
        where d.deliver_at <= now() or d.deliver_at > now() + interval '5 minutes'
        order by d.deliver_at
        limit most
        for update skip locked
    ), claimed as (
        update pending_tool_calls p set deliver_at = now() + lease
        from due where p.tenant_id = due.tenant_id and p.id = due.id
        returning p.tenant_id, p.id, p.workflow_id
    )
    select coalesce(json_agg(json_build_object('t', c.tenant_id, 'i', c.id, 'w', c.workflow_id)), '[]') from claimed c
$function$
;

CREATE OR REPLACE FUNCTION public.claim_space_wakes(most integer, lease interval)
 RETURNS json
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
    with due as (
        select d.tenant_id, d.space_id, d.agent_id, d.subject from space_wakes d
        join tenants t on t.id = d.tenant_id and t.status = 'active'
        where d.due_at <= now() or d.due_at > now() + interval '15 minutes'
        order by d.due_at
        limit most
        for update of d skip locked
    ), claimed as (
        update space_wakes w set due_at = now() + lease, attempts = w.attempts + 1
        from due
        where w.tenant_id = due.tenant_id and w.space_id = due.space_id and w.agent_id = due.agent_id and w.subject = due.subject
        returning w.tenant_id, w.space_id, w.agent_id, w.subject
    )
    select coalesce(json_agg(json_build_object('t', c.tenant_id, 's', c.space_id, 'a', c.agent_id, 'u', c.subject)), '[]')
    from claimed c
$function$
;

CREATE OR REPLACE FUNCTION public.claim_workflow_starts(most integer, lease interval)
 RETURNS json
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
    with due as (
        select d.tenant_id, d.workflow_id from workflow_starts d
        join tenants t on t.id = d.tenant_id and t.status = 'active'
        where d.next_at <= now() or d.next_at > now() + interval '5 minutes'
        order by d.next_at
        limit most
        for update of d skip locked
    ), claimed as (
        update workflow_starts s set next_at = now() + lease, attempts = s.attempts + 1
        from due where s.tenant_id = due.tenant_id and s.workflow_id = due.workflow_id
        returning s.tenant_id, s.workflow_id
    )
    select coalesce(json_agg(json_build_object('t', c.tenant_id, 'w', c.workflow_id)), '[]') from claimed c
$function$
;

CREATE OR REPLACE FUNCTION public.count_artifact_versions()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
    r record;
begin
    for r in
        select c.tenant_id, sum(octet_length(c.content))::bigint as bytes from changed c group by c.tenant_id order by c.tenant_id
    loop
        perform count_quota(r.tenant_id, 'artifact_bytes', case tg_op when 'INSERT' then r.bytes else -r.bytes end);
    end loop;
    return null;
end
$function$
;

CREATE OR REPLACE FUNCTION public.count_documents()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
    r record;
begin
    if tg_op = 'UPDATE' then
        perform count_quota(new.tenant_id, 'storage_bytes', new.bytes - old.bytes);
        return null;
    end if;
    for r in
        select c.tenant_id, count(*) as n, sum(c.bytes::bigint)::bigint as bytes from changed c group by c.tenant_id order by c.tenant_id
    loop
        perform count_quota(r.tenant_id, 'documents', case tg_op when 'INSERT' then r.n else -r.n end);
        perform count_quota(r.tenant_id, 'storage_bytes', case tg_op when 'INSERT' then r.bytes else -r.bytes end);
    end loop;
    return null;
end
$function$
;

CREATE OR REPLACE FUNCTION public.count_ended_call()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
    perform count_usage(new.tenant_id, new.agent_id, new.tool, '', 1, case when new.status = 'completed' then 0 else 1 end,
        greatest((extract(epoch from new.completed_at - new.started_at) * 1000)::bigint, 0), 0, 0, 0, 0, 0, 0,
        coalesce(new.cost_micros, 0));
    return null;
end
$function$
;

CREATE OR REPLACE FUNCTION public.count_files()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
    r record;
begin
    for r in select c.tenant_id, sum(c.size)::bigint as bytes from changed c group by c.tenant_id order by c.tenant_id loop
        perform count_quota(r.tenant_id, 'storage_bytes', case tg_op when 'INSERT' then r.bytes else -r.bytes end);
    end loop;
    return null;
end
$function$
;

CREATE OR REPLACE FUNCTION public.count_idempotency_keys()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
    r record;
begin
    for r in select c.tenant_id, count(*) as n from changed c group by c.tenant_id order by c.tenant_id loop
        if tg_op = 'INSERT' then
            perform count_spread_quota(r.tenant_id, 'idempotency_keys', r.n);
        else
            perform count_quota(r.tenant_id, 'idempotency_keys', -r.n);
        end if;
    end loop;
    return null;
end
$function$
;

CREATE OR REPLACE FUNCTION public.count_quota(p_tenant uuid, p_name text, p_by bigint)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
    v_used bigint;
    v_most bigint;
begin
    if p_by < 0 then
        update quota_counts c set used = c.used + p_by
        where c.tenant_id = p_tenant and c.name = p_name and c.part = (
            select min(x.part) from quota_counts x where x.tenant_id = p_tenant and x.name = p_name);
        return;
    elsif p_by = 0 then
        return;
    end if;
    insert into quota_counts as c (tenant_id, name, used) values (p_tenant, p_name, p_by)
    on conflict (tenant_id, name, part) do update set used = c.used + excluded.used
    returning c.used into v_used;
    v_most := quota_of(p_tenant, p_name);
    if v_used > v_most then
        perform refuse_quota(p_name, v_most, v_used - p_by, p_by);
    end if;
end
$function$
;

CREATE OR REPLACE FUNCTION public.count_refused_turn(p_tenant uuid, p_run uuid, p_key text, p_model text, p_input bigint, p_cached bigint, p_output bigint, p_reasoning bigint)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
    v_cost bigint := priced_tokens(p_tenant, false, p_model, p_input, p_cached, p_output, p_reasoning);
    v_holder text := p_run::text || '/' || p_key;
    v_agent uuid;
begin
    select r.agent_id into v_agent from runs r where r.tenant_id = p_tenant and r.id = p_run;
    if not found then
        return;
    end if;
    if exists (select from budget_holds h where h.tenant_id = p_tenant and h.holder = v_holder) then
        perform spend_budgets(p_tenant, v_holder, coalesce(v_cost, 0), coalesce(
            priced_tokens(p_tenant, true, p_model, p_input, p_cached, p_output, p_reasoning), 0));
    end if;
    perform count_usage(p_tenant, v_agent, '', p_model, 0, 0, 0, 1, p_input, p_cached, p_output, p_reasoning,
        (v_cost is null)::integer, coalesce(v_cost, 0));
end
$function$
;

CREATE OR REPLACE FUNCTION public.count_rows()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
    r record;
begin
    for r in select c.tenant_id, count(*) as n from changed c group by c.tenant_id order by c.tenant_id loop
        perform count_quota(r.tenant_id, tg_argv[0], case tg_op when 'INSERT' then r.n else -r.n end);
    end loop;
    return null;
end
$function$
;

CREATE OR REPLACE FUNCTION public.count_spread_quota(p_tenant uuid, p_name text, p_by bigint)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
    v_most bigint := quota_of(p_tenant, p_name);
    v_used bigint;
begin
    if v_most is not null then
        select coalesce(sum(c.used), 0) into v_used from quota_counts c where c.tenant_id = p_tenant and c.name = p_name;
        if v_used + p_by + 256 > v_most then
            perform pg_advisory_xact_lock(hashtextextended('quota/' || p_name || '/' || p_tenant::text, 0));
            select coalesce(sum(c.used), 0) into v_used from quota_counts c where c.tenant_id = p_tenant and c.name = p_name;
            if v_used + p_by > v_most then
                perform refuse_quota(p_name, v_most, v_used, p_by);
            end if;
        end if;
    end if;
    insert into quota_counts as c (tenant_id, name, part, used) values (p_tenant, p_name, pg_backend_pid() % 16, p_by)
    on conflict (tenant_id, name, part) do update set used = c.used + excluded.used;
end
$function$
;

CREATE OR REPLACE FUNCTION public.count_tools()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
    r record;
begin
    if tg_op = 'UPDATE' then
        perform count_quota(new.tenant_id, 'tools', case when new.deleted_at is null then 1 else -1 end);
        return null;
    end if;
    for r in
        select c.tenant_id, count(*) as n from changed c where c.tenant_id is not null and c.deleted_at is null
        group by c.tenant_id order by c.tenant_id
    loop
        perform count_quota(r.tenant_id, 'tools', case tg_op when 'INSERT' then r.n else -r.n end);
    end loop;
    return null;
end
$function$
;

CREATE OR REPLACE FUNCTION public.count_turn()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
    perform count_usage(new.tenant_id, (select r.agent_id from runs r where r.tenant_id = new.tenant_id and r.id = new.run_id),
        '', coalesce(new.model, ''), 0, 0, 0, 1, coalesce(new.input_tokens, 0), coalesce(new.cached_input_tokens, 0),
        coalesce(new.output_tokens, 0), coalesce(new.reasoning_tokens, 0), (new.cost_micros is null)::integer,
        coalesce(new.cost_micros, 0));
    return null;
end
$function$
;

CREATE OR REPLACE FUNCTION public.count_usage(p_tenant uuid, p_agent uuid, p_tool text, p_model text, p_calls integer, p_failed integer, p_ms bigint, p_turns integer, p_input bigint, p_cached bigint, p_output bigint, p_reasoning bigint, p_unpriced integer, p_cost bigint)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
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
$function$
;

CREATE OR REPLACE FUNCTION public.count_workflow_starts()
 RETURNS json
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
    select json_build_object('count', count(*), 'oldest_s', coalesce(extract(epoch from now() - min(s.created_at)), 0))
    from workflow_starts s
    join tenants t on t.id = s.tenant_id and t.status = 'active'
$function$
;

CREATE OR REPLACE FUNCTION public.deliver_canary()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
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
$function$
;

CREATE OR REPLACE FUNCTION public.deliver_quarantine()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
    insert into webhook_deliveries (tenant_id, id, webhook_id, type, data)
    select w.tenant_id, new_uuid7(), w.id, 'tool.quarantined',
        json_build_object('tool', new.slug, 'version', new.version, 'reason', new.quarantine)
    from webhooks w
    where w.tenant_id = new.tenant_id and w.active and 'tool.quarantined' = any (w.types) and w.agent = ''
      and w.tool in ('', new.slug);
    return null;
end
$function$
;

CREATE OR REPLACE FUNCTION public.destroy_tenant_keys(p_tenant uuid)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
    perform from tenant_erasures e where e.tenant_id = p_tenant and e.finished_at is null for update;
    if not found then
        raise exception 'no erasure of tenant % has begun', p_tenant using errcode = 'object_not_in_prerequisite_state';
    end if;
    delete from credentials c where c.tenant_id = p_tenant;
    delete from api_keys k where k.tenant_id = p_tenant;
    delete from tenant_keys k where k.tenant_id = p_tenant;
    update tenant_erasures e set keys_destroyed_at = now() where e.tenant_id = p_tenant and e.keys_destroyed_at is null;
end
$function$
;

CREATE OR REPLACE FUNCTION public.drop_default_fence(fence text)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET lock_timeout TO '200ms'
AS $function$
begin
    if fence !~ '^outside_\d{8}$' then
        raise exception 'no fence is named %', fence using errcode = 'invalid_parameter_value';
    end if;
    execute format('alter table tool_invocations_default drop constraint if exists %I', fence);
end
$function$
;

CREATE OR REPLACE FUNCTION public.drop_empty_partitions()
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET lock_timeout TO '200ms'
AS $function$
declare
    name text;
    dropped integer := 0;
begin
    for name in
        select c.relname from pg_inherits h join pg_class c on c.oid = h.inhrelid
        where h.inhparent = 'tool_invocations'::regclass and c.relname ~ '^tool_invocations_\d{4}_\d{2}$'
          and to_date(right(c.relname, 7), 'YYYY_MM') + interval '2 months' < now() and pg_relation_size(c.oid) = 0
    loop
        lock table tool_invocations in access exclusive mode;
        if pg_relation_size(name::regclass) = 0 then
            execute format('drop table %I', name);
            dropped := dropped + 1;
        end if;
    end loop;
    return dropped;
exception when lock_not_available then
    return 0; -- The next sweep drops them.
end
$function$
;

CREATE OR REPLACE FUNCTION public.drop_event_seals()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
    delete from event_seals s using gone g where s.tenant_id = g.tenant_id and s.run_id = g.run_id and s.run_seq = g.seq;
    return null;
end
$function$
;

CREATE OR REPLACE FUNCTION public.drop_run_spaces()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
    delete from run_spaces i using gone g where i.tenant_id = g.tenant_id and i.run_id = g.id;
    return null;
end
$function$
;

CREATE OR REPLACE FUNCTION public.drop_webhook_deliveries()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
    delete from webhook_deliveries d using gone g where d.tenant_id = g.tenant_id and d.run_id = g.id;
    return null;
end
$function$
;

CREATE OR REPLACE FUNCTION public.end_call_wait()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
    update pending_tool_calls p set status = case new.status when 'expired' then 'pending' else 'cancelled' end
    where p.tenant_id = new.tenant_id and p.id = new.id and p.status = 'waiting';
    return null;
end
$function$
;

CREATE OR REPLACE FUNCTION public.end_run_waits()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
    update pending_tool_calls p set status = 'cancelled'
    where p.tenant_id = new.tenant_id and p.run_id = new.id and p.status = 'waiting';
    return null;
end
$function$
;

CREATE OR REPLACE FUNCTION public.end_web_sessions(of_hash bytea)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
    w web_sessions;
    v_actor text := current_setting('app.actor', true);
begin
    for w in select s.* from web_sessions s where s.token_hash = of_hash order by s.tenant_id for update loop
        perform set_config('app.actor', json_build_object('kind', case when w.key_id is null then 'user' else 'key' end,
            'subject', coalesce(w.subject, 'key:' || w.key_id::text), 'key_id', w.key_id,
            'request_id', nullif(v_actor, '')::json ->> 'request_id')::text, true);
        delete from web_sessions d where d.token_hash = of_hash and d.tenant_id = w.tenant_id;
    end loop;
    perform set_config('app.actor', coalesce(v_actor, ''), true);
end
$function$
;

CREATE OR REPLACE FUNCTION public.ensure_invocation_partitions(months_ahead integer)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET lock_timeout TO '200ms'
AS $function$
declare
    first_day date;
    begins date;
    fence text;
    partition_name text;
    reference text;
    made integer := 0;
begin
    for i in 0 .. least(greatest(months_ahead, 0), 24) loop
        first_day := (date_trunc('month', now() at time zone 'utc') + make_interval(months => i))::date;
        partition_name := 'tool_invocations_' || to_char(first_day, 'YYYY_MM');
        continue when to_regclass(partition_name) is not null;
        begins := first_day;
        select c.conname::text into fence from pg_constraint c
        where c.conrelid = 'tool_invocations_default'::regclass and c.convalidated
          and c.conname ~ ('^outside_' || to_char(first_day, 'YYYYMM') || '\d\d$')
        order by c.conname limit 1;
        if fence is not null then
            begins := to_date(right(fence, 8), 'YYYYMMDD');
        elsif pg_relation_size('tool_invocations_default') > 0 then
            continue;
        end if;
        -- Not before there is something to make: every call waits for this lock.
        lock table tool_invocations in access exclusive mode;
        continue when to_regclass(partition_name) is not null;
        continue when fence is null and pg_relation_size('tool_invocations_default') > 0;
        execute format('create table %I (like tool_invocations including defaults including constraints)', partition_name);
        for reference in
            select pg_get_constraintdef(f.oid) from pg_constraint f
            where f.conrelid = 'tool_invocations'::regclass and f.contype = 'f'
        loop
            execute format('alter table %I add %s', partition_name, reference);
        end loop;
        execute format('alter table tool_invocations attach partition %I for values from (%L) to (%L)', partition_name,
            uuid_floor(begins::timestamp at time zone 'utc'),
            uuid_floor((first_day + interval '1 month') at time zone 'utc'));
        call protect_partition(partition_name);
        if fence is not null then
            execute format('alter table tool_invocations_default drop constraint %I', fence);
        end if;
        made := made + 1;
    end loop;
    return made;
end
$function$
;

CREATE OR REPLACE FUNCTION public.escalating_approvals(most integer)
 RETURNS json
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
    select coalesce(json_agg(json_build_object('t', o.tenant_id, 'i', o.id)), '[]') from (
        select a.tenant_id, a.id from approvals a
        where a.status = 'pending' and a.escalates_at <= now() and a.escalated_at is null and a.expires_at > now()
        order by a.escalates_at
        limit most) o
$function$
;

CREATE OR REPLACE FUNCTION public.expire_run_sessions()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
    update mcp_sessions s set expires_at = now()
    where s.tenant_id = new.tenant_id and s.run_id = new.id and s.expires_at > now();
    return null;
end
$function$
;

CREATE OR REPLACE FUNCTION public.fence_default_partition(months_ahead integer)
 RETURNS text
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET lock_timeout TO '200ms'
AS $function$
declare
    fence text;
    first_day date;
begin
    perform pg_advisory_xact_lock(hashtextextended('toolcrib.fence_default_partition', 0));
    select c.conname::text into fence from pg_constraint c
    where c.conrelid = 'tool_invocations_default'::regclass and c.conname ~ '^outside_\d{8}$'
    order by c.conname limit 1;
    if fence is not null or pg_relation_size('tool_invocations_default') = 0 then
        return fence;
    end if;
    for i in 0 .. least(greatest(months_ahead, 0), 24) loop
        first_day := (date_trunc('month', now() at time zone 'utc') + make_interval(months => i))::date;
        continue when to_regclass('tool_invocations_' || to_char(first_day, 'YYYY_MM')) is not null;
        if i = 0 then
            first_day := (now() at time zone 'utc')::date + 2;
            continue when first_day >= (date_trunc('month', now() at time zone 'utc') + interval '1 month')::date;
        end if;
        fence := 'outside_' || to_char(first_day, 'YYYYMMDD');
        execute format('alter table tool_invocations_default add constraint %I check (id < %L or id >= %L) not valid', fence,
            uuid_floor(first_day::timestamp at time zone 'utc'),
            uuid_floor((date_trunc('month', first_day::timestamp) + interval '1 month') at time zone 'utc'));
        return fence;
    end loop;
    return null;
end
$function$
;

CREATE OR REPLACE FUNCTION public.follow_space_call()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
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
$function$
;

CREATE OR REPLACE FUNCTION public.follow_space_result()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
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
$function$
;

CREATE OR REPLACE FUNCTION public.guard_erased_tenant()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
    if tg_op = 'INSERT' and exists (select from tenant_erasures e where e.tenant_id = new.id or e.slug = new.slug) then
        raise exception 'tenant % was erased', new.slug using errcode = 'unique_violation';
    elsif tg_op = 'UPDATE' and new.status <> 'suspended' and exists (select from tenant_erasures e where e.tenant_id = new.id) then
        raise exception 'tenant % is being erased', new.slug using errcode = 'restrict_violation';
    end if;
    return new;
end
$function$
;

CREATE OR REPLACE FUNCTION public.guard_tool_egress()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
    new.requires_approval := true;
    return new;
end
$function$
;

CREATE OR REPLACE FUNCTION public.index_document(of_tenant uuid, of_document uuid)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
    d record;
    b bigint;
    n bigint;
    title tsvector;
begin
    perform unindex_document(of_tenant, of_document);
    select x.pipeline_id, x.live_version, x.live_title, p.language::regconfig as language,
           (select count(*)::integer from chunks c where c.tenant_id = of_tenant and c.document_id = x.id and c.version = x.live_version) as passages
    into d
    from documents x join pipelines p on p.tenant_id = x.tenant_id and p.id = x.pipeline_id
    where x.tenant_id = of_tenant and x.id = of_document;
    if not found or d.passages = 0 then
        return;
    end if;
    insert into word_blocks (tenant_id, pipeline_id, passages, live, length)
    values (of_tenant, d.pipeline_id, d.passages, d.passages, 0) returning number into b;
    insert into word_documents (tenant_id, document_id, version, block, passages, form)
    values (of_tenant, of_document, d.live_version, b, d.passages, 2) returning number into n;
    title := setweight(index_words(d.language, d.live_title), 'A');
    with vectors as materialized (
        select c.position, title || setweight(index_words(d.language, array_to_string(c.headings, e'\n')), 'B') || index_words(d.language, c.text) as terms
        from chunks c
        where c.tenant_id = of_tenant and c.document_id = of_document and c.version = d.live_version
    ), measured as materialized (
        select v.position, v.terms, (select coalesce(sum(cardinality(u.positions[1:255])), 0) from unnest(v.terms) u)::integer as length from vectors v
    ), entries as (
        select u.lexeme, m.position,
            int2send(m.position::smallint) || substring(int4send(least(m.length / 8, 255) * 256 + coalesce(cardinality(u.positions[1:255]), 0)) from 3)
            || case
                when cardinality(u.positions) = 1 and u.weights[1] = 'D' then int2send(u.positions[1])
                else coalesce((
                    select string_agg(int2send((case o.weight when 'A' then -o.at when 'B' then o.at + 16384 else o.at end)::smallint), '' order by o.at)
                    from unnest(u.positions[1:255], u.weights[1:255]) o (at, weight)), '')
            end as entry
        from measured m, unnest(m.terms) u
    ), packed as (
        select e.lexeme, count(*)::integer as passages, string_agg(e.entry, '' order by e.position) as entries from entries e group by e.lexeme
    ), kept as (
        insert into word_postings (tenant_id, pipeline_id, word, block, passages, entries)
        select of_tenant, d.pipeline_id, p.lexeme, b, p.passages, int8send(n) || int4send(octet_length(p.entries)) || p.entries from packed p
    )
    update word_blocks set length = (select sum(m.length) from measured m) where tenant_id = of_tenant and number = b;
end
$function$
;

CREATE OR REPLACE FUNCTION public.index_documents(of_tenant uuid, most integer)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
declare
    next record;
    indexed integer := 0;
begin
    for next in
        select d.id, d.pipeline_id from word_documents w
        join documents d on d.tenant_id = w.tenant_id and d.id = w.document_id
        where w.tenant_id = of_tenant and w.form < 2
        order by w.number limit most for no key update of d
    loop
        perform index_document(of_tenant, next.id);
        perform merge_words(of_tenant, next.pipeline_id);
        indexed := indexed + 1;
    end loop;
    if indexed > 0 then
        return most; -- There may be more.
    end if;
    for next in
        select d.id, d.pipeline_id from documents d
        where d.tenant_id = of_tenant and d.live_version > 0 and not exists (
            select from word_documents w where w.tenant_id = of_tenant and w.document_id = d.id)
          and exists (select from chunks c where c.tenant_id = of_tenant and c.document_id = d.id and c.version = d.live_version)
        limit most for no key update of d
    loop
        perform index_document(of_tenant, next.id);
        perform merge_words(of_tenant, next.pipeline_id);
        indexed := indexed + 1;
    end loop;
    return indexed;
end
$function$
;

CREATE OR REPLACE FUNCTION public.index_words(language regconfig, body text)
 RETURNS tsvector
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
    select to_tsvector(language, split_words(body)) || array_to_tsvector(whole_words(body))
$function$
;

CREATE OR REPLACE FUNCTION public.keep_audit()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
    if exists (select from tenant_erasures e where e.tenant_id = old.tenant_id and e.keys_destroyed_at is not null
        and e.finished_at is null)
    then
        return old;
    end if;
    raise exception 'what stands in % is immutable', tg_table_name using errcode = 'restrict_violation';
end
$function$
;

CREATE OR REPLACE FUNCTION public.keep_override()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
    if tg_op <> 'DELETE' then
        insert into tool_override_versions (tenant_id, tool_id, tool_scope_id, revision, enabled, requires_approval, description,
            defaults, limits, reason, changed_by, changed_at)
        values (new.tenant_id, new.tool_id, new.tool_scope_id, new.revision, new.enabled, new.requires_approval, new.description,
            new.defaults, new.limits, new.reason, new.changed_by, new.changed_at);
    elsif exists (select from tool_registry t where t.id = old.tool_id and t.scope_id = old.tool_scope_id)
        and (old.tenant_id is null or exists (select from tenants n where n.id = old.tenant_id))
    then
        insert into tool_override_versions (tenant_id, tool_id, tool_scope_id, revision, requires_approval, description, reason,
            removed, changed_by, changed_at)
        values (old.tenant_id, old.tool_id, old.tool_scope_id, old.revision + 1, false, '', '', true,
            coalesce(nullif(current_setting('app.actor', true), '')::json ->> 'subject', 'platform'), now());
    end if;
    return null;
end
$function$
;

CREATE OR REPLACE FUNCTION public.keep_words()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
    if tg_op = 'DELETE' then
        perform unindex_document(old.tenant_id, old.id);
    else
        perform index_document(new.tenant_id, new.id);
    end if;
    perform merge_words(old.tenant_id, old.pipeline_id);
    return null;
end
$function$
;

CREATE OR REPLACE FUNCTION public.leave_file()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
    if old.location <> 'postgres' then
        insert into left_files (tenant_id, file_id, location) values (old.tenant_id, old.id, old.location)
        on conflict do nothing;
    end if;
    return null;
end
$function$
;

CREATE OR REPLACE FUNCTION public.lock_budgets(p_tenant uuid)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
    perform pg_advisory_xact_lock(hashtextextended('budgets/' || p_tenant::text, 0));
end
$function$
;

CREATE OR REPLACE FUNCTION public.lock_rates(p_tenant uuid, p_agent uuid, p_begin json)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
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
$function$
;

CREATE OR REPLACE FUNCTION public.merge_words(of_tenant uuid, of_pipeline uuid, most_blocks integer DEFAULT 256, most_passages integer DEFAULT 4096)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
    small constant integer := 512;
    b bigint;
    merged bigint[];
begin
    if not exists (
        select from word_blocks w where w.tenant_id = of_tenant and w.pipeline_id = of_pipeline and w.live < small and w.live = w.passages
        having count(*) >= most_blocks or sum(w.live) >= most_passages)
        or not pg_try_advisory_xact_lock(hashtextextended(of_pipeline::text, 29)) then
        return;
    end if;
    merged := array(
        select w.number from word_blocks w
        where w.tenant_id = of_tenant and w.pipeline_id = of_pipeline and w.live < small and w.live = w.passages
        order by w.number for update skip locked);
    if cardinality(merged) < 2 or cardinality(merged) < most_blocks and most_passages > (
        select sum(w.live) from word_blocks w where w.tenant_id = of_tenant and w.number = any (merged)) then
        return;
    end if;
    insert into word_blocks (tenant_id, pipeline_id, passages, live, length)
    select of_tenant, of_pipeline, sum(w.passages), sum(w.live), sum(w.length) from word_blocks w
    where w.tenant_id = of_tenant and w.number = any (merged)
    returning number into b;
    insert into word_postings (tenant_id, pipeline_id, word, block, passages, entries)
    select of_tenant, of_pipeline, p.word, b, sum(p.passages), string_agg(p.entries, '' order by p.block) from word_postings p
    where p.tenant_id = of_tenant and p.block = any (merged) group by p.word;
    update word_documents set block = b where tenant_id = of_tenant and block = any (merged);
    delete from word_postings where tenant_id = of_tenant and block = any (merged);
    delete from word_blocks where tenant_id = of_tenant and number = any (merged);
end
$function$
;

CREATE OR REPLACE FUNCTION public.metadata_fulfils(metadata jsonb, conditions jsonb)
 RETURNS boolean
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
declare
    c jsonb;
    have jsonb;
    wanted jsonb;
    holds boolean;
begin
    for i in 0 .. jsonb_array_length(conditions) - 1 loop
        c := conditions -> i;
        have := metadata -> (c ->> 'field');
        wanted := c -> 'values' -> 0;
        holds := false;
        case c ->> 'comparison'
            when 'in' then
                for j in 0 .. jsonb_array_length(c -> 'values') - 1 loop
                    holds := coalesce(have @> (c -> 'values' -> j), false);
                    exit when holds;
                end loop;
            when 'exists' then
                holds := (have is not null) = wanted::boolean;
            when 'gte' then
                if jsonb_typeof(have) = 'number' and jsonb_typeof(wanted) = 'number' then
                    holds := have::numeric >= wanted::numeric;
                elsif jsonb_typeof(have) = 'string' and jsonb_typeof(wanted) = 'string' then
                    holds := (have #>> '{}') collate "C" >= (wanted #>> '{}');
                end if;
            when 'lte' then
                if jsonb_typeof(have) = 'number' and jsonb_typeof(wanted) = 'number' then
                    holds := have::numeric <= wanted::numeric;
                elsif jsonb_typeof(have) = 'string' and jsonb_typeof(wanted) = 'string' then
                    holds := (have #>> '{}') collate "C" <= (wanted #>> '{}');
                end if;
            else -- It is unknown, and holds for nothing.
        end case;
        if holds is not true then
            return false;
        end if;
    end loop;
    return true;
end
$function$
;

CREATE OR REPLACE FUNCTION public.move_web_sessions(from_hash bytea, to_hash bytea)
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
    update web_sessions w set token_hash = to_hash
    where w.token_hash = from_hash and w.idle_ends_at > now() and w.ends_at > now()
$function$
;

CREATE OR REPLACE FUNCTION public.new_uuid7()
 RETURNS uuid
 LANGUAGE sql
 SET search_path TO 'public', 'pg_temp'
AS $function$
    select encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
        placing substring(int8send(floor(extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6),
        52, 1), 53, 1), 'hex')::uuid
$function$
;

CREATE OR REPLACE FUNCTION public.next_space_seq(tenant uuid, space uuid)
 RETURNS bigint
 LANGUAGE sql
 SET search_path TO 'public', 'pg_temp'
AS $function$
    update spaces s set last_seq = s.last_seq + 1
    where s.tenant_id = tenant and s.id = space and s.archived_at is null
    returning s.last_seq
$function$
;

CREATE OR REPLACE FUNCTION public.note_failed_status()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
    new.failed_status := new.status;
    return new;
end
$function$
;

CREATE OR REPLACE FUNCTION public.number_override()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
    if tg_op = 'UPDATE' then
        new.revision := old.revision + 1;
    else
        select coalesce(max(v.revision), 0) + 1 into new.revision from tool_override_versions v
        where v.scope_id = coalesce(new.tenant_id, '00000000-0000-0000-0000-000000000000') and v.tool_id = new.tool_id;
    end if;
    return new;
end
$function$
;

CREATE OR REPLACE FUNCTION public.overdue_approvals(most integer, over interval)
 RETURNS json
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
    select coalesce(json_agg(json_build_object('t', o.tenant_id, 'i', o.id)), '[]') from (
        select a.tenant_id, a.id from approvals a
        where a.status = 'pending' and a.expires_at <= now() - over
        order by a.expires_at
        limit most) o
$function$
;

CREATE OR REPLACE FUNCTION public.part_words(body text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
    select regexp_replace(regexp_replace(regexp_replace(plain_words(body),
        '([a-z0-9])([A-Z])', '\1 \2', 'g'), '([A-Z])([A-Z][a-z]|V[0-9])', '\1 \2', 'g'),
        '([A-Za-z])([0-9])|([0-9])([a-z])', '\1\3 \2\4', 'g')
$function$
;

CREATE OR REPLACE FUNCTION public.pause_run(p_tenant uuid, p_run uuid, p_pause boolean, p_by text, p_reason text, p_lease interval)
 RETURNS json
 LANGUAGE plpgsql
AS $function$
declare
    v_run record;
    v_at timestamptz;
    v_round integer;
    v_seq bigint;
    v_level uuid[];
begin
    select r.status, r.kind, r.parent_run_id, r.detached, r.paused_at, r.pause_round into v_run
    from runs r where r.tenant_id = p_tenant and r.id = p_run for no key update;
    if not found then
        return json_build_object('known', false, 'round', 0);
    end if;
    if v_run.status not in ('pending', 'running') or v_run.kind = 'host'
        or v_run.parent_run_id is not null and not v_run.detached
        or (v_run.paused_at is not null) = p_pause then
        return json_build_object('known', true, 'round', 0);
    end if;
    v_at := case when p_pause then now() end;
    v_round := v_run.pause_round + 1;
    update runs r set pause_round = v_round, paused_at = v_at, paused_by = p_by, pause_reason = p_reason,
        pause_due = now() + p_lease, last_seq = r.last_seq + 1
    where r.tenant_id = p_tenant and r.id = p_run
    returning r.last_seq into v_seq;
    insert into run_events (tenant_id, run_id, seq, type, data)
    values (p_tenant, p_run, v_seq, case when p_pause then 'run.paused' else 'run.resumed' end,
        json_strip_nulls(json_build_object('by', p_by, 'reason', nullif(p_reason, ''))));
    v_level := array[p_run];
    while v_level is not null loop
        perform pg_notify('toolcrib_control', p_tenant || ' ' || l.id) from unnest(v_level) as l (id);
        with below as (
            update runs r set pause_round = v_round, paused_at = v_at, paused_by = p_by, pause_reason = p_reason
            where r.tenant_id = p_tenant and r.parent_run_id = any (v_level) and not r.detached and r.completed_at is null
            returning r.id
        )
        select array_agg(b.id) into v_level from below b;
    end loop;
    return json_build_object('known', true, 'round', v_round);
end
$function$
;

CREATE OR REPLACE FUNCTION public.permissions_of_roles(p_tenant uuid, p_names text[])
 RETURNS text[]
 LANGUAGE sql
 STABLE
AS $function$
    select coalesce(array_agg(distinct p), '{}')
    from roles r cross join unnest(r.permissions) p
    where r.tenant_id = p_tenant and r.name = any (p_names)
$function$
;

CREATE OR REPLACE FUNCTION public.plain_words(body text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
    select translate(body, '!"#$%&()*+,-./:;<=>?@[\]^_`{|}~', repeat(' ', 31))
$function$
;

CREATE OR REPLACE FUNCTION public.post_space_call()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
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
$function$
;

CREATE OR REPLACE FUNCTION public.prefix_lexemes(prefix text, terms text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
    select regexp_replace(terms, '''((?:[^'']|'''')*)''', '''' || prefix || '\1''', 'g')
$function$
;

CREATE OR REPLACE FUNCTION public.price_ended_call()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
    v_costs boolean := new.status in ('completed', 'unknown');
begin
    new.cost_micros := priced_call(new.tenant_id, false, new.tool_id, new.version, new.output);
    if new.cost_micros is not null and not v_costs then
        new.cost_micros := 0;
    end if;
    if exists (select from budget_holds h where h.tenant_id = new.tenant_id and h.holder = new.id::text) then
        perform spend_budgets(new.tenant_id, new.id::text, coalesce(new.cost_micros, 0), case when v_costs then
            coalesce(priced_call(new.tenant_id, true, new.tool_id, new.version, new.output), 0) else 0 end);
    end if;
    return new;
end
$function$
;

CREATE OR REPLACE FUNCTION public.price_turn()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
    v_cached bigint := coalesce(new.cached_input_tokens, 0);
    v_reasoning bigint := coalesce(new.reasoning_tokens, 0);
    v_holder text := new.run_id::text || '/' || new.turn_key;
begin
    if new.input_tokens is not null then
        new.cost_micros := priced_tokens(new.tenant_id, false, new.model, new.input_tokens, v_cached, new.output_tokens, v_reasoning);
    end if;
    if not exists (select from budget_holds h where h.tenant_id = new.tenant_id and h.holder = v_holder) then
        return new;
    end if;
    if new.input_tokens is null then
        perform spend_budgets(new.tenant_id, v_holder, null);
    else
        perform spend_budgets(new.tenant_id, v_holder, coalesce(new.cost_micros, 0), coalesce(
            priced_tokens(new.tenant_id, true, new.model, new.input_tokens, v_cached, new.output_tokens, v_reasoning), 0));
    end if;
    return new;
end
$function$
;

CREATE OR REPLACE FUNCTION public.priced_call(p_tenant uuid, p_platform boolean, p_tool uuid, p_version text, p_result json)
 RETURNS bigint
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
    return (
        select least(p.call_micros + coalesce(round(p.unit_micros * case
                when u.units ~ '^[0-9]{1,12}([.][0-9]{1,30})?$' then u.units::numeric else 0 end), 0), 1e15)::bigint
        from prices p
        left join lateral (
            select p_result #>> (array['structured'] || p.unit_path) as units where p.unit_path is not null and p_result is not null
        ) u on true
        where p.scope_id in (p_tenant, '00000000-0000-0000-0000-000000000000') and p.subject = 'tool/' || p_tool::text
          and p.version in (p_version, '') and p.valid_from <= now() and (p.valid_until is null or p.valid_until > now())
        order by (p.tenant_id is null) <> p_platform, p.version = '', p.valid_from desc
        limit 1);
end
$function$
;

CREATE OR REPLACE FUNCTION public.priced_call(p_tenant uuid, p_tool uuid, p_version text, p_result json)
 RETURNS bigint
 LANGUAGE sql
 STABLE
AS $function$
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
$function$
;

CREATE OR REPLACE FUNCTION public.priced_tokens(p_tenant uuid, p_model text, p_input bigint, p_cached bigint, p_output bigint, p_reasoning bigint)
 RETURNS bigint
 LANGUAGE sql
 STABLE
AS $function$
    select least(round((
            greatest(p_input - p_cached, 0)::numeric * p.input_micros + p_cached::numeric * coalesce(p.cached_micros, p.input_micros)
            + greatest(p_output - p_reasoning, 0)::numeric * p.output_micros
            + p_reasoning::numeric * coalesce(p.reasoning_micros, p.output_micros)) / 1000000), 1e15)::bigint
    from prices p
    where p.scope_id in (p_tenant, '00000000-0000-0000-0000-000000000000') and p.subject = 'model/' || p_model
      and p.valid_from <= now() and (p.valid_until is null or p.valid_until > now())
    order by p.tenant_id is null, p.valid_from desc
    limit 1
$function$
;

CREATE OR REPLACE FUNCTION public.priced_tokens(p_tenant uuid, p_platform boolean, p_model text, p_input bigint, p_cached bigint, p_output bigint, p_reasoning bigint)
 RETURNS bigint
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
    return (
        select least(round((
                greatest(p_input - p_cached, 0)::numeric * p.input_micros + p_cached::numeric * coalesce(p.cached_micros, p.input_micros)
                + greatest(p_output - p_reasoning, 0)::numeric * p.output_micros
                + p_reasoning::numeric * coalesce(p.reasoning_micros, p.output_micros)) / 1000000), 1e15)::bigint
        from prices p
        where p.scope_id in (p_tenant, '00000000-0000-0000-0000-000000000000') and p.subject = 'model/' || p_model
          and p.valid_from <= now() and (p.valid_until is null or p.valid_until > now())
        order by (p.tenant_id is null) <> p_platform, p.valid_from desc
        limit 1);
end
$function$
;

CREATE OR REPLACE PROCEDURE public.protect_partition(IN partition_name text)
 LANGUAGE plpgsql
AS $procedure$
begin
    execute format('alter table %I set (fillfactor = 80)', partition_name);
    execute format('alter table %I enable row level security', partition_name);
    execute format('alter table %I force row level security', partition_name);
    execute format($policy$
        create policy tenant_isolation on %I
            using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
            with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
        $policy$, partition_name);
end
$procedure$
;

CREATE OR REPLACE FUNCTION public.purge_runs(ended_before timestamp with time zone, most integer)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
    tenant uuid;
    purged integer := 0;
begin
    for tenant in select t.id from tenants t order by t.id loop
        perform set_config('app.tenant_id', tenant::text, true);
        purged := purged + purge_tenant_runs(tenant, ended_before, most - purged);
        exit when purged >= most;
    end loop;
    perform set_config('app.tenant_id', '', true);
    return purged;
end
$function$
;

CREATE OR REPLACE FUNCTION public.purge_tenant_runs(tenant uuid, before timestamp with time zone, most integer)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
declare
    gone uuid[];
begin
    execute format('select array(select x.id from runs x where %s order by x.id limit $3 for update skip locked)',
        (retention_rows('runs')).due) into gone using tenant, before, most;
    update effects e set run_gone_at = now() from tool_invocations i
    where i.tenant_id = tenant and i.run_id = any (gone) and e.tenant_id = tenant and e.effect_id = i.effect_id
      and (i.egress_class not in ('none', 'read_only') or e.status = 'unknown')
      and (e.phase = 'sent' or e.sent_before or e.status = 'unknown' or e.result is not null);
    delete from effects e using tool_invocations i
    where i.tenant_id = tenant and i.run_id = any (gone) and e.tenant_id = tenant and e.effect_id = i.effect_id
      and e.run_gone_at is null;
    delete from runs r where r.tenant_id = tenant and r.id = any (gone);
    return cardinality(gone);
end
$function$
;

CREATE OR REPLACE FUNCTION public.queue_depths(most integer)
 RETURNS json
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
    with open as (
        select r.tenant_id, count(*) filter (where r.status = 'pending') as pending,
            count(*) filter (where r.status = 'running') as running,
            min(r.created_at) filter (where r.status = 'pending') as oldest
        from runs r where r.completed_at is null
        group by r.tenant_id
    ), waits as (
        select w.tenant_id, count(*) as waiting from (
            select a.tenant_id from approvals a where a.status = 'pending'
            union all
            select p.tenant_id from pending_tool_calls p where p.status = 'waiting') w
        group by w.tenant_id
    ), depths as (
        select coalesce(o.tenant_id, w.tenant_id) as tenant_id, coalesce(o.pending, 0) as pending,
            coalesce(o.running, 0) as running, coalesce(w.waiting, 0) as waiting,
            coalesce(extract(epoch from clock_timestamp() - o.oldest), 0) as oldest_s
        from open o full join waits w on w.tenant_id = o.tenant_id
    ), top as (
        select d.*, t.slug from depths d join tenants t on t.id = d.tenant_id
        where d.pending + d.running + d.waiting > 0
        order by d.pending desc, d.running + d.waiting desc, d.tenant_id
        limit most
    )
    select json_build_object(
        'pending', coalesce(sum(d.pending), 0), 'running', coalesce(sum(d.running), 0),
        'waiting', coalesce(sum(d.waiting), 0), 'oldest_s', coalesce(max(d.oldest_s), 0),
        'tenants', coalesce((
            select json_agg(json_build_object('tenant_id', x.tenant_id, 'slug', x.slug, 'pending', x.pending,
                'running', x.running, 'waiting', x.waiting, 'oldest_s', x.oldest_s)
                order by x.pending desc, x.running + x.waiting desc, x.tenant_id)
            from top x), '[]'))
    from depths d
$function$
;

CREATE OR REPLACE FUNCTION public.quota_of(p_tenant uuid, p_name text)
 RETURNS bigint
 LANGUAGE plpgsql
 STABLE
AS $function$
declare
    v_most bigint;
begin
    select q.most into v_most from quotas q
    where q.scope_id in (p_tenant, '00000000-0000-0000-0000-000000000000') and q.name = p_name
    order by q.tenant_id nulls last
    limit 1;
    return v_most;
end
$function$
;

CREATE OR REPLACE FUNCTION public.record_steps(p_tenant uuid, p_run uuid, p_mode text, p_subject text, p_agent uuid, p_ended json, p_turn json, p_begin json, p_ask json, p_end json)
 RETURNS json
 LANGUAGE plpgsql
AS $function$
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
    v_taint jsonb;
    v_tainted jsonb;
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
                message_id uuid, answer_id uuid, turn integer, position integer, taints boolean)
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
            if c.taints and v_taint is null and not exists (
                select from runs r where r.tenant_id = p_tenant and r.id = p_run and r.taint is not null)
            then
                v_taint := jsonb_build_object('run_id', p_run, 'invocation_id', v_invocation, 'tool', c.tool, 'version', c.version,
                    'turn', c.turn, 'at', now());
                v_types := v_types || 'run.tainted'::text;
                v_calls := v_calls || v_invocation;
                v_data := v_data || v_taint::json;
            end if;
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
                receipt json, send boolean, hidden boolean, assigned boolean, secret boolean, permissions jsonb)
            left join lateral (
                select r.*, u.list as profiles, u.rated from tenants n
                join tool_registry r on r.id = x.tool_id and r.scope_id in (n.id, '00000000-0000-0000-0000-000000000000')
                left join tool_overrides own on own.scope_id = n.id and own.tool_id = r.id
                left join tool_overrides preset on preset.scope_id = '00000000-0000-0000-0000-000000000000' and preset.tool_id = r.id
                cross join lateral (
                    select json_agg(y order by y.agent_id nulls first) as list, bool_or(y.rate_calls is not null) as rated,
                           bool_or(y.required_permission <> '' and not coalesce(x.permissions, '[]') ?| array[y.required_permission, '*']
                               or y.denied or y.requires_approval or y.permission_policy = 'always_ask' or y.egress_class = 'write') as stops
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
                  and (r.required_permission = '' or coalesce(x.permissions, '[]') ?| array[r.required_permission, '*'])
                  and case when coalesce(x.secret, false) and n.taint <> 'off' then not exists (
                          select from runs w
                          where w.tenant_id = p_tenant and w.id = p_run and coalesce(w.taint, v_taint) is not null and (
                              x.turn = 0 or x.parent_id is not null
                              or x.turn > (coalesce(w.taint, v_taint) ->> 'turn')::integer))
                      else true end
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
        select coalesce(r.followed_until > now(), false), r.cancel_execution, r.pause_round, r.inbox, r.taint
            into v_followed, v_cancel, v_pause, v_inbox, v_tainted
        from runs r where r.tenant_id = p_tenant and r.id = p_run;
        if not found then
            raise exception 'run not found' using errcode = 'TC001';
        end if;
    else
        update runs r set last_seq = r.last_seq + cardinality(v_types), taint = coalesce(r.taint, v_taint),
            head_message_id = case when v_saved and (r.head_message_id is null or r.head_message_id = v_parent
                                        or r.head_message_id < v_id) then v_id else r.head_message_id end,
            turns = case when v_saved and (r.head_message_id is null or r.head_message_id = v_parent
                                        or r.head_message_id < v_id) then v_turn else r.turns end
        where r.tenant_id = p_tenant and r.id = p_run
        returning r.last_seq, coalesce(r.followed_until > now(), false), r.cancel_execution, r.pause_round, r.inbox, r.taint
            into v_seq, v_followed, v_cancel, v_pause, v_inbox, v_tainted;
        if not found then
            raise exception 'run not found' using errcode = 'TC001';
        elsif v_taint <> v_tainted then
            raise exception 'another call has tainted the run meanwhile' using errcode = 'TC001';
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
        'budgeted', v_budgeted, 'at', now(),
        'taint', case when v_tainted is not null then v_tainted
            || jsonb_build_object('rule', (select n.taint from tenants n where n.id = p_tenant)) end);
end
$function$
;

CREATE OR REPLACE FUNCTION public.recount_quotas(p_tenant uuid, p_repair boolean)
 RETURNS json
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
    v_wrong json;
begin
    if p_repair then
        perform pg_advisory_xact_lock(hashtextextended('quotas/' || p_tenant::text, 0));
    end if;
    perform set_config('app.tenant_id', p_tenant::text, true);
    with found as (
        select 'tools' as name, count(*) as n from tool_registry t where t.scope_id = p_tenant and t.deleted_at is null
        union all
        select 'agents', count(*) from agents a where a.tenant_id = p_tenant
        union all
        select 'documents', count(*) from documents d where d.tenant_id = p_tenant
        union all
        select 'storage_bytes', (select coalesce(sum(d.bytes), 0) from documents d where d.tenant_id = p_tenant)
            + (select coalesce(sum(f.size), 0) from files f where f.tenant_id = p_tenant)
        union all
        select 'artifacts', count(*) from artifacts a where a.tenant_id = p_tenant
        union all
        select 'artifact_bytes', coalesce(sum(octet_length(v.content)), 0) from artifact_versions v where v.tenant_id = p_tenant
        union all
        select 'idempotency_keys', count(*) from idempotency_keys k where k.tenant_id = p_tenant
    ), counted as (
        select c.name, sum(c.used) as n from quota_counts c where c.tenant_id = p_tenant group by c.name
    ), wrong as (
        select f.name, coalesce(c.n, 0)::bigint as counted, f.n::bigint as found
        from found f left join counted c on c.name = f.name
        where f.n <> coalesce(c.n, 0)
    )
    select coalesce(json_agg(json_build_object('name', w.name, 'counted', w.counted, 'found', w.found) order by w.name), '[]')
    into v_wrong from wrong w;
    perform set_config('app.tenant_id', '', true);
    if p_repair then
        insert into quota_counts as c (tenant_id, name, used)
        select p_tenant, w.name, w.found - w.counted
        from json_to_recordset(v_wrong) as w (name text, counted bigint, found bigint) order by w.name
        on conflict (tenant_id, name, part) do update set used = c.used + excluded.used;
        delete from quota_counts c where c.tenant_id = p_tenant and c.name = 'uncounted';
    end if;
    return v_wrong;
end
$function$
;

CREATE OR REPLACE FUNCTION public.refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
    raise exception 'what stands in % is immutable', tg_table_name using errcode = 'restrict_violation';
end
$function$
;

CREATE OR REPLACE FUNCTION public.refuse_quota(p_name text, p_most bigint, p_used bigint, p_more bigint)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
    raise exception 'the quota % of the tenant is used up', p_name using errcode = 'TC002',
        detail = json_build_object('name', p_name, 'limit', p_most, 'used', p_used, 'more', p_more)::text;
end
$function$
;

CREATE OR REPLACE FUNCTION public.release_turns()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
    delete from budget_holds h where (h.tenant_id, h.holder, h.budget_id, h.span) in (
        select x.tenant_id, x.holder, x.budget_id, x.span from budget_holds x
        where x.tenant_id = new.tenant_id and x.turn_of = new.id
        for update skip locked);
    return null;
end
$function$
;

CREATE OR REPLACE FUNCTION public.remove_postings(of_tenant uuid, of_block bigint, of_number bigint, of_passages integer)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
    needle constant bytea := int8send(of_number);
    p record;
    entries bytea;
    total integer;
    at integer;
    size integer;
    entry integer;
    held integer;
    words bigint := 0;
begin
    for p in
        -- Other bytes may look like the number too, hence the walk below.
        select w.pipeline_id, w.word, w.passages, w.entries || ''::bytea as entries from word_postings w
        where w.tenant_id = of_tenant and w.block = of_block and position(needle in w.entries) > 0
    loop
        entries := p.entries;
        total := octet_length(entries);
        at := 0;
        while at < total loop
            size := (get_byte(entries, at + 8) << 24) + (get_byte(entries, at + 9) << 16) + (get_byte(entries, at + 10) << 8) + get_byte(entries, at + 11);
            exit when substring(entries from at + 1 for 8) = needle;
            at := at + 12 + size;
        end loop;
        continue when at >= total;
        held := 0;
        entry := at + 12;
        while entry + 3 < at + 12 + size loop
            held := held + 1;
            words := words + get_byte(entries, entry + 3);
            entry := entry + 4 + 2 * get_byte(entries, entry + 3);
        end loop;
        if total = 12 + size then
            delete from word_postings w
            where w.tenant_id = of_tenant and w.pipeline_id = p.pipeline_id and w.word = p.word and w.block = of_block;
        else
            update word_postings w
            set entries = substring(p.entries from 1 for at) || substring(p.entries from at + 13 + size),
                passages = greatest(p.passages - held, 1)
            where w.tenant_id = of_tenant and w.pipeline_id = p.pipeline_id and w.word = p.word and w.block = of_block;
        end if;
    end loop;
    update word_blocks b
    set passages = b.passages - of_passages, live = b.live - of_passages, length = greatest(b.length - words, 0)
    where b.tenant_id = of_tenant and b.number = of_block;
end
$function$
;

CREATE OR REPLACE FUNCTION public.reserve_budgets(p_tenant uuid, p_holder text, p_turn_of uuid, p_effect text, p_run uuid, p_agent uuid, p_tool uuid, p_micros bigint, p_platform_micros bigint)
 RETURNS json
 LANGUAGE plpgsql
AS $function$
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
$function$
;

CREATE OR REPLACE FUNCTION public.reserve_budgets(p_tenant uuid, p_holder text, p_turn_of uuid, p_run uuid, p_agent uuid, p_tool uuid, p_micros bigint)
 RETURNS json
 LANGUAGE plpgsql
AS $function$
begin
    return reserve_budgets(p_tenant, p_holder, p_turn_of, null, p_run, p_agent, p_tool, p_micros, p_micros);
end
$function$
;

CREATE OR REPLACE FUNCTION public.reserved_call(p_tenant uuid, p_platform boolean, p_tool uuid, p_version text)
 RETURNS bigint
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
    return (
        select least(p.call_micros + coalesce(p.unit_micros::numeric * p.unit_estimate, 0), 1e15)::bigint
        from (
            select p.* from prices p
            where p.scope_id in (p_tenant, '00000000-0000-0000-0000-000000000000') and p.subject = 'tool/' || p_tool::text
              and p.version in (p_version, '') and p.valid_from <= now() and (p.valid_until is null or p.valid_until > now())
            order by (p.tenant_id is null) <> p_platform, p.version = '', p.valid_from desc
            limit 1
        ) p
        where p.call_micros > 0 or p.unit_micros > 0);
end
$function$
;

CREATE OR REPLACE FUNCTION public.reserved_call(p_tenant uuid, p_tool uuid, p_version text)
 RETURNS bigint
 LANGUAGE sql
 STABLE
AS $function$
    select least(p.call_micros + coalesce(p.unit_micros::numeric * p.unit_estimate, 0), 1e15)::bigint
    from (
        select p.* from prices p
        where p.scope_id in (p_tenant, '00000000-0000-0000-0000-000000000000') and p.subject = 'tool/' || p_tool::text
          and p.version in (p_version, '') and p.valid_from <= now() and (p.valid_until is null or p.valid_until > now())
        order by p.tenant_id is null, p.version = '', p.valid_from desc
        limit 1
    ) p
    where p.call_micros > 0 or p.unit_micros > 0
$function$
;

CREATE OR REPLACE FUNCTION public.retention_before(tenant uuid, of_class text)
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE
AS $function$
    select now() - make_interval(days => r.keep_days) from retention_rules r
    where r.class = of_class and (r.tenant_id = tenant or r.tenant_id is null)
    order by r.tenant_id nulls last
    limit 1
$function$
;

CREATE OR REPLACE FUNCTION public.retention_rows(of_class text, OUT source text, OUT key text, OUT due text)
 RETURNS record
 LANGUAGE sql
 IMMUTABLE
AS $function$
    select v.source, v.key, v.due from (values
        ('runs', 'runs', 'id', $due$x.tenant_id = $1 and x.id < uuid_floor($2)
            and (x.status in ('completed', 'failed', 'cancelled') and x.completed_at < $2
              or x.status = 'hosted'
                and not exists (select from run_events e where e.tenant_id = $1 and e.run_id = x.id and e.at >= $2)
                and not exists (
                    select from tool_invocations i where i.tenant_id = $1 and i.run_id = x.id
                      and i.status in ('pending', 'approved', 'running', 'waiting')))
            and not exists (select from runs c where c.tenant_id = $1 and c.parent_run_id = x.id)
            and not exists (
                select from webhook_deliveries d join webhooks w on w.tenant_id = $1 and w.id = d.webhook_id
                where d.tenant_id = $1 and d.run_id = x.id and d.status = 'pending' and w.active)$due$),
        ('deliveries', 'webhook_deliveries', 'id', $due$x.tenant_id = $1 and x.id < uuid_floor($2) and x.created_at < $2
            and (x.status = 'delivered' or x.status = 'pending' and not exists (
                select from webhooks w where w.tenant_id = $1 and w.id = x.webhook_id and w.active))$due$),
        ('dead_letters', 'webhook_deliveries', 'id', $due$x.tenant_id = $1 and x.id < uuid_floor($2)
            and x.ended_at < $2 and x.status = 'failed'$due$),
        ('schedule_starts', 'schedule_starts', 'id', $due$x.tenant_id = $1 and x.id < uuid_floor($2)
            and x.created_at < $2$due$),
        ('space_messages', 'space_messages', 'id', $due$x.tenant_id = $1 and x.id < uuid_floor($2) and x.updated_at < $2
            and x.status in ('complete', 'failed') and not exists (
                select from runs r where r.tenant_id = $1 and r.id = x.run_id and r.status in ('pending', 'running'))$due$),
        ('files', 'files', 'id', $due$x.tenant_id = $1 and x.id < uuid_floor($2) and x.created_at < $2 and x.expires_at is null
            and not exists (
                select from runs r where r.tenant_id = $1 and r.id in (x.run_id, x.root_run_id)
                  and r.status in ('pending', 'running', 'hosted'))
            and not exists (
                select from tool_invocations i where i.tenant_id = $1
                  and i.status in ('pending', 'approved', 'running', 'waiting')
                  and (i.id = x.invocation_id or strpos(i.input::text, x.id::text) > 0))
            and not exists (
                select from runs r join messages m on m.tenant_id = $1 and m.run_id = r.id
                where r.tenant_id = $1 and r.status in ('pending', 'running')
                  and (strpos(r.input::text, x.id::text) > 0 or strpos(m.content::text, x.id::text) > 0))$due$),
        ('notes', 'agent_notes', 'ctid', $due$x.tenant_id = $1 and x.updated_at < $2
            and (x.kind = 'memory' or x.done)$due$)
    ) v (class, source, key, due)
    where v.class = of_class
$function$
;

CREATE OR REPLACE FUNCTION public.retention_state(of_tenant uuid, counting boolean)
 RETURNS json
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
    tenant uuid;
    classes text[] := array['runs', 'effects', 'deliveries', 'dead_letters', 'schedule_starts', 'space_messages', 'files', 'notes'];
    due bigint[] := array_fill(0::bigint, array[8]);
    oldest timestamptz[] := array_fill(null::timestamptz, array[8]);
    rows_of record;
    before timestamptz;
    n bigint;
    at timestamptz;
begin
    for tenant in select t.id from tenants t where of_tenant is null or t.id = of_tenant loop
        perform set_config('app.tenant_id', tenant::text, true);
        for k in 1 .. 8 loop
            before := retention_before(tenant, classes[k]);
            n := 0;
            if classes[k] = 'effects' then
                continue;
            end if;
            rows_of := retention_rows(classes[k]);
            if counting and before is not null then
                execute format('select count(*) from %I x where %s', rows_of.source, rows_of.due) into n using tenant, before;
            end if;
            execute format('select x.created_at from %I x where x.tenant_id = $1 %s order by x.%s limit 1', rows_of.source,
                case classes[k] when 'deliveries' then $q$and x.status <> 'failed'$q$
                    when 'dead_letters' then $q$and x.status = 'failed'$q$ else '' end,
                case rows_of.key when 'id' then 'id' else 'created_at' end) into at using tenant;
            due[k] := due[k] + n;
            oldest[k] := least(oldest[k], at);
        end loop;
    end loop;
    perform set_config('app.tenant_id', '', true);
    select min(e.created_at) into at from effects e
    where e.run_gone_at is not null and (of_tenant is null or e.tenant_id = of_tenant);
    oldest[2] := at;
    if counting then
        select count(*) into n from effects e
        where e.run_gone_at is not null and (of_tenant is null or e.tenant_id = of_tenant)
          and e.created_at < retention_before(e.tenant_id, 'effects');
        due[2] := n;
    end if;
    return (select json_agg(json_build_object('class', classes[g], 'due', due[g], 'oldest', oldest[g]) order by g)
        from generate_series(1, 8) g);
end
$function$
;

CREATE OR REPLACE FUNCTION public.return_space_wakes()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
    n integer;
begin
    with left_over as (
        delete from inbox_items i
        where i.tenant_id = new.tenant_id and i.run_id = new.id and i.message_id is null and i.space_id is not null
        returning i.space_id, i.from_seq, i.upto_seq, i.hops
    ), due as (
        select l.space_id, min(l.from_seq) as from_seq, max(l.upto_seq) as upto_seq, min(l.hops) as hops
        from left_over l
        where exists (
            select from space_members m
            where m.tenant_id = new.tenant_id and m.space_id = l.space_id and m.kind = 'agent' and m.agent_id = new.agent_id)
        group by l.space_id
    ), returned as (
        insert into space_wakes as w (tenant_id, space_id, agent_id, subject, permissions, scopes, from_seq, upto_seq, hops, run_id)
        select new.tenant_id, d.space_id, new.agent_id, new.subject, new.permissions, new.scopes, d.from_seq, d.upto_seq, d.hops,
            new_uuid7()
        from due d
        order by d.space_id
        on conflict (tenant_id, space_id, agent_id, subject) do update
            set from_seq = least(w.from_seq, excluded.from_seq), upto_seq = greatest(w.upto_seq, excluded.upto_seq),
                hops = least(w.hops, excluded.hops)
    )
    select count(*)::integer into n from left_over;
    if n > 0 then
        update runs r set inbox = greatest(r.inbox - n, 0) where r.tenant_id = new.tenant_id and r.id = new.id;
    end if;
    return null;
end
$function$
;

CREATE OR REPLACE FUNCTION public.schedule_tenants(most integer)
 RETURNS json
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
    select coalesce(json_agg(d.tenant_id), '[]') from (
        select distinct s.tenant_id from schedules s
        where s.sync_due <= now() and (s.sync_lease is null or s.sync_lease <= now())
        limit most) d
$function$
;

CREATE OR REPLACE FUNCTION public.schedules_due_of_tenant()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
    update schedules s set sync_due = now() where s.tenant_id = new.id;
    return null;
end
$function$
;

CREATE OR REPLACE FUNCTION public.seal_audit(most integer)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
    of_scope record;
    head audit_heads;
    e audit_log;
    done integer := 0;
begin
    for of_scope in
        with recursive scopes as (
            (select l.scope_id, l.tenant_id from audit_log l where l.seq is null order by l.scope_id limit 1)
            union all
            select x.* from scopes s, lateral (
                select l.scope_id, l.tenant_id from audit_log l where l.seq is null and l.scope_id > s.scope_id
                order by l.scope_id limit 1) x
        )
        select s.scope_id, s.tenant_id from scopes s
    loop
        insert into audit_heads (tenant_id) values (of_scope.tenant_id) on conflict do nothing;
        select h.* into head from audit_heads h where h.scope_id = of_scope.scope_id for update skip locked;
        continue when not found;
        perform set_config('app.tenant_id', coalesce(of_scope.tenant_id::text, ''), true); -- for row-level security
        for e in
            select l.* from audit_log l where l.scope_id = of_scope.scope_id and l.seq is null order by l.id limit most - done
        loop
            e.seq := head.seq + 1;
            e.sealed_at := now();
            e.hash := audit_digest(head.hash, e);
            update audit_log l set seq = e.seq, hash = e.hash, sealed_at = e.sealed_at where l.scope_id = e.scope_id and l.id = e.id;
            head.seq := e.seq;
            head.hash := e.hash;
            done := done + 1;
        end loop;
        update audit_heads h set seq = head.seq, hash = head.hash, sealed_at = now() where h.scope_id = of_scope.scope_id;
        exit when done >= most;
    end loop;
    perform set_config('app.tenant_id', '', true);
    return done;
end
$function$
;

CREATE OR REPLACE FUNCTION public.seal_events(of_tenant uuid, most integer)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_seqscan TO 'off'
AS $function$
declare
    head tenant_event_heads;
    newest bigint;
    writers text[];
    ended boolean;
    found_count integer;
    cut bigint;
    sealed integer;
begin
    select h.* into head from tenant_event_heads h where h.tenant_id = of_tenant;
    head.settled_id := coalesce(head.settled_id, 0);
    if not exists (select from run_events e where e.tenant_id = of_tenant and e.id > head.settled_id) then
        return 0;
    end if;
    if head.tenant_id is null then
        insert into tenant_event_heads (tenant_id) values (of_tenant) on conflict do nothing;
    end if;
    select h.* into head from tenant_event_heads h where h.tenant_id = of_tenant for update;

    -- The snapshot of this statement is older than its look at the locks: who
    -- drew an id up to newest has ended, or is among the writers.
    select (select coalesce(max(e.id), 0) from run_events e where e.tenant_id = of_tenant),
           array(select distinct l.virtualtransaction from pg_locks l
                 where l.locktype = 'relation' and l.relation = 'run_events'::regclass and l.granted
                   and l.database = (select d.oid from pg_database d where d.datname = current_database())
                   and l.mode in ('RowExclusiveLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
                   and l.pid is distinct from pg_backend_pid())
    into newest, writers;
    ended := head.pending_id is not null and not head.pending_writers && writers;

    -- A statement of its own, whose snapshot sees what those who ended wrote.
    with unsealed as (
        select e.id, e.run_id, e.seq from run_events e
        where e.tenant_id = of_tenant and e.id > head.settled_id
          and not exists (select from event_seals s where s.tenant_id = of_tenant and s.run_id = e.run_id and s.run_seq = e.seq offset 0)
        order by e.id
        limit most
    ), spans as ( -- From each run everything up to the last one, so that its order holds.
        select u.run_id, max(u.seq) as last_seq, least(min(u.seq), (
            select coalesce(max(s.run_seq), 0) + 1 from event_seals s where s.tenant_id = of_tenant and s.run_id = u.run_id)) as first_seq
        from unsealed u
        group by u.run_id
    ), fresh as (
        select e.run_id, e.seq, max(e.id) over (partition by e.run_id order by e.seq) as place
        from spans p
        join run_events e on e.tenant_id = of_tenant and e.run_id = p.run_id and e.seq between p.first_seq and p.last_seq
        where not exists (select from event_seals s where s.tenant_id = of_tenant and s.run_id = e.run_id and s.run_seq = e.seq offset 0)
    ), added as (
        insert into event_seals (tenant_id, run_id, run_seq, seq)
        select of_tenant, f.run_id, f.seq, head.last_seq + row_number() over (order by f.place, f.run_id, f.seq)
        from fresh f
        returning 1
    )
    select (select count(*) from added), (select count(*) from unsealed), (select max(u.id) from unsealed u)
    into sealed, found_count, cut;

    if found_count < most then
        cut := greatest(newest, head.pending_id);
    end if;
    if ended then
        head.settled_id := greatest(head.settled_id, least(head.pending_id, cut));
        head.pending_id := null;
    end if;
    if writers = '{}' then
        head.settled_id := greatest(head.settled_id, least(newest, cut));
        head.pending_id := null;
    elsif head.pending_id is null and least(newest, cut) > head.settled_id then
        head.pending_id := least(newest, cut);
        head.pending_writers := writers;
    end if;
    update tenant_event_heads h set last_seq = head.last_seq + sealed, settled_id = head.settled_id,
        pending_id = head.pending_id, pending_writers = case when head.pending_id is null then '{}' else head.pending_writers end
    where h.tenant_id = of_tenant;
    return sealed;
end
$function$
;

CREATE OR REPLACE FUNCTION public.space_call_status(status text, is_error boolean)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO 'public', 'pg_temp'
AS $function$
    select case
        when status in ('pending', 'approved', 'waiting') then 'requires_action'
        when status = 'running' then 'running'
        when status = 'completed' and not is_error then 'complete'
        else 'failed'
    end
$function$
;

CREATE OR REPLACE FUNCTION public.space_value(value json, most integer)
 RETURNS json
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO 'public', 'pg_temp'
AS $function$
    select case when octet_length(value::text) > most
        then json_build_object('truncated', true, 'bytes', octet_length(value::text)) else value end
$function$
;

CREATE OR REPLACE FUNCTION public.spend_budgets(p_tenant uuid, p_holder text, p_micros bigint)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
    perform spend_budgets(p_tenant, p_holder, p_micros, p_micros);
end
$function$
;

CREATE OR REPLACE FUNCTION public.spend_budgets(p_tenant uuid, p_holder text, p_micros bigint, p_platform_micros bigint)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
    perform lock_budgets(p_tenant);
    with ended as (
        delete from budget_holds h where h.tenant_id = p_tenant and h.holder = p_holder returning h.budget_id, h.span, h.micros
    )
    update budget_windows w
    set spent_micros = least(w.spent_micros::numeric
        + coalesce(case when b.by_platform then p_platform_micros else p_micros end, e.micros), 9e18)::bigint
    from ended e join budgets b on b.tenant_id = p_tenant and b.id = e.budget_id
    where w.tenant_id = p_tenant and w.budget_id = e.budget_id and w.span = e.span;
end
$function$
;

CREATE OR REPLACE FUNCTION public.split_words(body text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
    select plain_words(body) || coalesce((
        select e'\n' || part_words(string_agg(found.word[1], ' '))
        from regexp_matches(body, '[A-Za-z0-9]*(?:[a-z][A-Z]|[A-Z]{2}[a-z]|[0-9][A-Za-z]|[A-Za-z][0-9])[A-Za-z0-9]*', 'g') found (word)
        where length(found.word[1]) <= 128), '')
$function$
;

CREATE OR REPLACE FUNCTION public.subjects_behind(p_tenant uuid, p_subjects text[])
 RETURNS text[]
 LANGUAGE sql
 STABLE
AS $function$
    with recursive behind as (
        select unnest(p_subjects) as subject
        union
        select k.created_by from behind b join api_keys k on k.tenant_id = p_tenant and 'key:' || k.id::text = b.subject
    )
    select coalesce(array_agg(b.subject), '{}') from behind b
$function$
;

CREATE OR REPLACE FUNCTION public.sweep_files(most integer)
 RETURNS integer
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
    with gone as (
        delete from files d using (
            select o.tenant_id, o.id from files o
            where o.expires_at <= now()
            order by o.expires_at
            limit most) old
        where d.tenant_id = old.tenant_id and d.id = old.id
        returning 1
    )
    select count(*)::integer from gone
$function$
;

CREATE OR REPLACE FUNCTION public.sweep_idempotency_keys(most integer)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
    gone integer;
begin
    delete from idempotency_keys where expires_at <= now() and ctid = any (array(
        select k.ctid from idempotency_keys k where k.expires_at <= now() order by k.expires_at limit most));
    get diagnostics gone = row_count;
    return gone;
end
$function$
;

CREATE OR REPLACE FUNCTION public.sweep_rate_buckets(most integer)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
    gone integer;
begin
    delete from rate_buckets where full_at <= now() and ctid = any (array(
        select b.ctid from rate_buckets b where b.full_at <= now() limit most for update skip locked));
    get diagnostics gone = row_count;
    return gone;
end
$function$
;

CREATE OR REPLACE FUNCTION public.sweep_retention(of_class text, after_tenant uuid, most integer, tenants_at_once integer)
 RETURNS json
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
    tenant uuid;
    before timestamptz;
    rows_of record;
    seen integer := 0;
    n integer;
    removed integer := 0;
begin
    if not pg_try_advisory_xact_lock(hashtextextended('retention/' || of_class, 0)) then
        return json_build_object('busy', true, 'removed', 0, 'after', after_tenant, 'more', false);
    end if;
    if of_class = 'effects' then
        with gone as (
            delete from effects e using (
                select o.tenant_id, o.effect_id from effects o
                where o.run_gone_at is not null
                  and o.created_at < now() - (select make_interval(days => min(r.keep_days)) from retention_rules r
                                              where r.class = 'effects')
                  and o.created_at < retention_before(o.tenant_id, 'effects')
                order by o.created_at
                limit most) due
            where e.tenant_id = due.tenant_id and e.effect_id = due.effect_id
            returning 1
        )
        select count(*) into removed from gone;
        return json_build_object('busy', false, 'removed', removed, 'after', after_tenant, 'more', removed >= most);
    end if;
    rows_of := retention_rows(of_class);
    for tenant in select t.id from tenants t where t.id > after_tenant order by t.id limit tenants_at_once loop
        seen := seen + 1;
        before := retention_before(tenant, of_class);
        if before is not null then
            perform set_config('app.tenant_id', tenant::text, true);
            if of_class = 'runs' then
                removed := removed + purge_tenant_runs(tenant, before, most - removed);
            else
                execute format('delete from %1$I d where d.tenant_id = $1 and d.%2$s = any (array(
                        select x.%2$s from %1$I x where %3$s limit $3 for update skip locked))',
                    rows_of.source, rows_of.key, rows_of.due)
                    using tenant, before, most - removed;
                get diagnostics n = row_count;
                removed := removed + n;
            end if;
            exit when removed >= most;
        end if;
        after_tenant := tenant;
    end loop;
    perform set_config('app.tenant_id', '', true);
    return json_build_object('busy', false, 'removed', removed, 'after', after_tenant,
        'more', removed >= most or seen >= tenants_at_once);
end
$function$
;

CREATE OR REPLACE FUNCTION public.sweep_schedule_starts(most integer)
 RETURNS integer
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
    select (sweep_retention('schedule_starts', '00000000-0000-0000-0000-000000000000', most, 2147483647) ->> 'removed')::integer
$function$
;

CREATE OR REPLACE FUNCTION public.sweep_webhook_deliveries(most integer)
 RETURNS integer
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
    select (sweep_retention('deliveries', '00000000-0000-0000-0000-000000000000', most, 2147483647) ->> 'removed')::integer
$function$
;

CREATE OR REPLACE FUNCTION public.taint_by_link(p_tenant uuid, p_run uuid)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
 SET search_path TO 'public', 'pg_temp'
AS $function$
    select jsonb_build_object('source', 'link', 'run_id', r.id, 'invocation_id', coalesce(i.id::text, ''), 'tool', coalesce(i.tool, ''),
        'version', coalesce(i.version, ''), 'turn', 0, 'at', now())
    from runs r
    left join lateral (
        select c.id, c.tool, c.version from tool_invocations c
        where c.tenant_id = r.tenant_id and c.run_id = r.id and c.parent_id is null
        order by c.id limit 1) i on true
    where r.tenant_id = p_tenant and r.id = p_run and r.by_link
$function$
;

CREATE OR REPLACE FUNCTION public.take_expired_mcp_sessions(most integer)
 RETURNS TABLE(tenant_id uuid, session_id text, protocol text, server json)
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
    delete from mcp_sessions s where s.expires_at <= now() and s.ctid = any (array(
        select e.ctid from mcp_sessions e where e.expires_at <= now() order by e.expires_at limit most))
    returning s.tenant_id, s.session_id, s.protocol, s.server;
$function$
;

CREATE OR REPLACE FUNCTION public.take_rates(p_tenant uuid, p_effect text, p_tool uuid, p_agent uuid)
 RETURNS json
 LANGUAGE plpgsql
AS $function$
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
    if exists (select from effects e where e.tenant_id = p_tenant and e.effect_id = p_effect and e.attempt > 0) then
        return null;
    end if;
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
$function$
;

CREATE OR REPLACE FUNCTION public.take_requests(p_tenant uuid, p_subject text, p_rate double precision, p_burst double precision, p_bytes_per_minute double precision, p_unused double precision, p_bytes double precision)
 RETURNS double precision[]
 LANGUAGE plpgsql
AS $function$
declare
    b request_buckets;
    elapsed double precision;
    taken double precision := 0;
begin
    insert into request_buckets (tenant_id, subject, requests, bytes)
    values (p_tenant, p_subject, p_burst, p_bytes_per_minute)
    on conflict do nothing;
    if found then
        delete from request_buckets d
        where d.tenant_id = p_tenant and (d.tenant_id, d.subject) in (
            select o.tenant_id, o.subject from request_buckets o
            where o.tenant_id = p_tenant and o.filled_at < now() - interval '1 day'
            order by o.filled_at limit 10 for update skip locked);
    end if;
    select * into b from request_buckets o where o.tenant_id = p_tenant and o.subject = p_subject for update;
    elapsed := greatest(0, extract(epoch from clock_timestamp() - b.filled_at));
    b.requests := least(p_burst, b.requests + elapsed * p_rate + p_unused);
    b.bytes := least(p_bytes_per_minute, b.bytes + elapsed * p_bytes_per_minute / 60 - p_bytes);
    if p_rate > 0 and (p_bytes_per_minute = 0 or b.bytes > 0) then
        taken := greatest(0, least(floor(b.requests), greatest(1, ceil(p_rate / 4))));
        b.requests := b.requests - taken;
    end if;
    update request_buckets o set requests = b.requests, bytes = b.bytes, filled_at = greatest(b.filled_at, clock_timestamp())
    where o.tenant_id = p_tenant and o.subject = p_subject;
    return array[taken, b.requests, b.bytes];
end
$function$
;

CREATE OR REPLACE FUNCTION public.tenant_of_slug(of_slug text)
 RETURNS uuid
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
    select t.id from tenants t where t.slug = of_slug
$function$
;

CREATE OR REPLACE FUNCTION public.unindex_document(of_tenant uuid, of_document uuid)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
    b bigint;
    gone record;
    missing boolean;
begin
    loop
        select w.block into b from word_documents w where w.tenant_id = of_tenant and w.document_id = of_document;
        exit when not found;
        -- Blocks are locked before their documents, everywhere.
        perform from word_blocks where tenant_id = of_tenant and number = b for update;
        missing := not found; -- It went with its pipeline, and its postings did.
        delete from word_documents w
        where w.tenant_id = of_tenant and w.document_id = of_document and w.block = b returning w.number, w.passages into gone;
        continue when not found; -- Its block was merged into another meanwhile.
        exit when missing;
        if exists (select from word_documents w where w.tenant_id = of_tenant and w.block = b) then
            perform remove_postings(of_tenant, b, gone.number, gone.passages);
        else
            delete from word_postings where tenant_id = of_tenant and block = b;
            delete from word_blocks where tenant_id = of_tenant and number = b;
        end if;
        exit;
    end loop;
end
$function$
;

CREATE OR REPLACE FUNCTION public.uuid_floor(at timestamp with time zone)
 RETURNS uuid
 LANGUAGE sql
 IMMUTABLE STRICT
AS $function$
    select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$function$
;

CREATE OR REPLACE FUNCTION public.validate_default_fence(fence text)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET lock_timeout TO '2s'
AS $function$
begin
    if fence !~ '^outside_\d{8}$' then
        raise exception 'no fence is named %', fence using errcode = 'invalid_parameter_value';
    end if;
    execute format('alter table tool_invocations_default validate constraint %I', fence);
end
$function$
;

CREATE OR REPLACE FUNCTION public.web_session_tenants(of_hash bytea)
 RETURNS json
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
    select coalesce(json_agg(json_build_object('slug', t.slug, 'name', t.name) order by t.slug), '[]')
    from web_sessions w join tenants t on t.id = w.tenant_id
    where w.token_hash = of_hash and w.idle_ends_at > now() and w.ends_at > now() and t.status = 'active'
$function$
;

CREATE OR REPLACE FUNCTION public.webhook_tenants(most integer)
 RETURNS json
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
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
$function$
;

CREATE OR REPLACE FUNCTION public.whole_words(body text)
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
    select coalesce(array_agg(distinct lower(found.word[1]) collate "C"), '{}')
    from unnest(array['[A-Za-z0-9_]+(?:[-.:/@#]+[A-Za-z0-9_]+)+', '[A-Za-z0-9]+(?:[-_]+[A-Za-z0-9]+)+']) pattern,
         regexp_matches(body, pattern, 'g') found (word)
    where length(found.word[1]) <= 128
$function$
;

CREATE OR REPLACE FUNCTION public.word_sequence(language regconfig, words text)
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
    select coalesce(array_agg(place || ' ' || u.lexeme order by place), '{}')
    from unnest(to_tsvector(language, words)) u, unnest(u.positions) place
$function$
;

create table agent_notes (
    tenant_id uuid not null,
    agent_id uuid not null,
    kind text not null,
    key text not null,
    text text not null,
    done boolean not null default false,
    created_at timestamp with time zone not null default now(),
    updated_at timestamp with time zone not null default now(),
    constraint agent_notes_pkey PRIMARY KEY (tenant_id, agent_id, kind, key),
    constraint agent_notes_key_check CHECK ((key <> ''::text)),
    constraint agent_notes_kind_check CHECK ((kind = ANY (ARRAY['goal'::text, 'memory'::text, 'plan'::text]))),
    constraint agent_notes_text_check CHECK ((text <> ''::text)),
    constraint agent_notes_tenant_id_agent_id_fkey FOREIGN KEY (tenant_id, agent_id) REFERENCES agents(tenant_id, id) ON DELETE CASCADE
);
alter table agent_notes enable row level security;
alter table agent_notes force row level security;
create policy tenant_isolation on agent_notes for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant delete, insert, select, update on agent_notes to toolcrib_app;
comment on table agent_notes is 'Goals, memories and plans that an agent keeps from run to run.';

create table agent_versions (
    id uuid not null,
    agent_id uuid not null,
    tenant_id uuid not null,
    version text not null,
    digest text not null,
    snapshot json not null,
    published boolean not null default false,
    published_at timestamp with time zone,
    created_at timestamp with time zone not null default now(),
    constraint agent_versions_pkey PRIMARY KEY (tenant_id, id),
    constraint agent_versions_tenant_id_agent_id_version_key UNIQUE (tenant_id, agent_id, version),
    constraint agent_versions_digest_check CHECK ((digest ~ '^[0-9a-f]{64}$'::text)),
    constraint agent_versions_tenant_id_agent_id_fkey FOREIGN KEY (tenant_id, agent_id) REFERENCES agents(tenant_id, id) ON DELETE CASCADE
);
CREATE TRIGGER agent_versions_immutable BEFORE UPDATE OF id, agent_id, tenant_id, version, digest, snapshot, created_at ON public.agent_versions FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER agent_versions_published_once BEFORE UPDATE ON public.agent_versions FOR EACH ROW WHEN ((old.published AND ((NOT new.published) OR (new.published_at IS DISTINCT FROM old.published_at)))) EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.agent_versions FOR EACH ROW EXECUTE FUNCTION audit_row('{snapshot,published_at}', '{}');
alter table agent_versions enable row level security;
alter table agent_versions force row level security;
create policy tenant_isolation on agent_versions for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant insert, select on agent_versions to toolcrib_app;
grant update (published, published_at) on agent_versions to toolcrib_app;
comment on table agent_versions is 'Immutable snapshots of agents; runs pin them by digest.';

create table agents (
    id uuid not null,
    tenant_id uuid not null,
    slug text not null,
    name text not null,
    definition json not null,
    status text not null default 'draft'::text,
    version text not null,
    revision bigint not null default 1,
    published_at timestamp with time zone,
    created_at timestamp with time zone not null default now(),
    updated_at timestamp with time zone not null default now(),
    constraint agents_pkey PRIMARY KEY (tenant_id, id),
    constraint agents_tenant_id_slug_key UNIQUE (tenant_id, slug),
    constraint agents_slug_check CHECK ((slug ~ '^[a-zA-Z][a-zA-Z0-9_-]{0,63}$'::text)),
    constraint agents_status_check CHECK ((status = ANY (ARRAY['draft'::text, 'published'::text, 'deprecated'::text, 'disabled'::text]))),
    constraint agents_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.agents FOR EACH ROW EXECUTE FUNCTION audit_row('{}', '{}');
CREATE TRIGGER quota_gone AFTER DELETE ON public.agents REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_rows('agents');
CREATE TRIGGER quota_made AFTER INSERT ON public.agents REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_rows('agents');
alter table agents enable row level security;
alter table agents force row level security;
create policy tenant_isolation on agents for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant insert, select, update on agents to toolcrib_app;

create table api_keys (
    id uuid not null,
    tenant_id uuid not null,
    name text not null,
    secret_hash bytea not null,
    permissions text[] not null default '{}'::text[],
    scopes text[] not null default '{}'::text[],
    created_by text not null default ''::text,
    expires_at timestamp with time zone,
    revoked_at timestamp with time zone,
    last_used_at timestamp with time zone,
    created_at timestamp with time zone not null default now(),
    toolset_id uuid,
    roles text[] not null default '{}'::text[],
    owner text not null default ''::text,
    requests_per_second integer,
    burst integer,
    bytes_per_minute bigint,
    constraint api_keys_pkey PRIMARY KEY (tenant_id, id),
    constraint api_keys_name_check CHECK ((name <> ''::text)),
    constraint api_keys_secret_hash_check CHECK ((octet_length(secret_hash) = 32)),
    constraint api_keys_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE INDEX api_keys_maker ON public.api_keys USING btree (tenant_id, created_by);
CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.api_keys FOR EACH ROW EXECUTE FUNCTION audit_row('{last_used_at}', '{secret_hash}');
alter table api_keys enable row level security;
alter table api_keys force row level security;
create policy tenant_isolation on api_keys for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant insert, select on api_keys to toolcrib_app;
grant update (revoked_at, last_used_at) on api_keys to toolcrib_app;

create table applied_objects (
    tenant_id uuid not null,
    kind text not null,
    object_id uuid not null,
    slug text not null,
    set_name text not null,
    applied_at timestamp with time zone not null default now(),
    applied_by text not null,
    removed_at timestamp with time zone,
    claimed_at timestamp with time zone,
    gone boolean not null default false,
    constraint applied_objects_pkey PRIMARY KEY (tenant_id, kind, object_id),
    constraint applied_objects_kind_check CHECK ((kind = ANY (ARRAY['tool'::text, 'agent'::text, 'mcp_server'::text, 'artifact'::text, 'pipeline'::text, 'profile'::text, 'toolset'::text]))),
    constraint applied_objects_set_name_check CHECK ((set_name ~ '^[a-z0-9][a-z0-9._-]{0,62}$'::text)),
    constraint applied_objects_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE INDEX applied_objects_of_set ON public.applied_objects USING btree (tenant_id, set_name);
alter table applied_objects enable row level security;
alter table applied_objects force row level security;
create policy tenant_isolation on applied_objects for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant delete, insert, select, update on applied_objects to toolcrib_app;
comment on table applied_objects is 'The set of definitions that an object belongs to: that of the last one that it was applied with.';

create table approval_decisions (
    tenant_id uuid not null,
    approval_id uuid not null,
    round integer not null,
    subject text not null,
    approve boolean not null,
    reason text not null default ''::text,
    edited json,
    at timestamp with time zone not null default now(),
    grant_id uuid,
    constraint approval_decisions_pkey PRIMARY KEY (tenant_id, approval_id, round, subject),
    constraint approval_decisions_subject_check CHECK ((subject <> ''::text)),
    constraint approval_decisions_tenant_id_approval_id_fkey FOREIGN KEY (tenant_id, approval_id) REFERENCES approvals(tenant_id, id) ON DELETE CASCADE
);
CREATE TRIGGER approval_decisions_immutable BEFORE UPDATE ON public.approval_decisions FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.approval_decisions FOR EACH ROW EXECUTE FUNCTION audit_row('{}', '{edited,reason}');
alter table approval_decisions enable row level security;
alter table approval_decisions force row level security;
create policy tenant_isolation on approval_decisions for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant insert, select on approval_decisions to toolcrib_app;
comment on table approval_decisions is 'What people said of requests; immutable rows.';

create table approval_grants (
    tenant_id uuid not null,
    id uuid not null,
    tool text not null,
    version text not null default ''::text,
    agent text not null default ''::text,
    requester text not null default ''::text,
    condition text not null default ''::text,
    uses integer not null,
    used integer not null default 0,
    reason text not null default ''::text,
    created_by text not null,
    created_at timestamp with time zone not null default now(),
    expires_at timestamp with time zone not null,
    revoked_at timestamp with time zone,
    revoked_by text not null default ''::text,
    constraint approval_grants_pkey PRIMARY KEY (tenant_id, id),
    constraint approval_grants_check CHECK (((used >= 0) AND (used <= uses))),
    constraint approval_grants_created_by_check CHECK ((created_by <> ''::text)),
    constraint approval_grants_tool_check CHECK ((tool <> ''::text)),
    constraint approval_grants_uses_check CHECK ((uses > 0)),
    constraint approval_grants_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id)
) with (fillfactor=70);
CREATE INDEX approval_grants_live ON public.approval_grants USING btree (tenant_id, tool, id) WHERE (revoked_at IS NULL);
CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.approval_grants FOR EACH ROW EXECUTE FUNCTION audit_row('{used}', '{}');
alter table approval_grants enable row level security;
alter table approval_grants force row level security;
create policy tenant_isolation on approval_grants for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant insert, select, update on approval_grants to toolcrib_app;
comment on table approval_grants is 'Standing grants: approvals given in advance, within limits.';

create table approvals (
    tenant_id uuid not null,
    id uuid not null,
    run_id uuid not null,
    root_run_id uuid not null,
    effect_id text not null,
    turn integer not null default 0,
    call_id text not null,
    tool text not null,
    version text not null default ''::text,
    agent text not null default ''::text,
    requester text not null default ''::text,
    content text not null,
    credential text not null default ''::text,
    host text not null default ''::text,
    asked text not null,
    binding text not null,
    edited json,
    message text not null default ''::text,
    reasons text[] not null default '{}'::text[],
    round integer not null default 1,
    needed integer not null,
    permission text not null,
    status text not null default 'pending'::text,
    reason text not null default ''::text,
    workflow_id text not null,
    created_at timestamp with time zone not null default now(),
    expires_at timestamp with time zone not null,
    ended_at timestamp with time zone,
    deliver_at timestamp with time zone,
    escalates_at timestamp with time zone,
    escalate_to text not null default ''::text,
    escalated_at timestamp with time zone,
    own boolean not null default false,
    constraint approvals_pkey PRIMARY KEY (tenant_id, id),
    constraint approvals_check CHECK (((status = 'pending'::text) = (ended_at IS NULL))),
    constraint approvals_needed_check CHECK ((needed > 0)),
    constraint approvals_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'approved'::text, 'rejected'::text, 'expired'::text, 'cancelled'::text]))),
    constraint approvals_tenant_id_run_id_fkey FOREIGN KEY (tenant_id, run_id) REFERENCES runs(tenant_id, id) ON DELETE CASCADE
) with (fillfactor=70);
CREATE UNIQUE INDEX approvals_effect ON public.approvals USING btree (tenant_id, effect_id);
CREATE INDEX approvals_escalating ON public.approvals USING btree (escalates_at) WHERE ((status = 'pending'::text) AND (escalates_at IS NOT NULL) AND (escalated_at IS NULL));
CREATE INDEX approvals_overdue ON public.approvals USING btree (expires_at) WHERE (status = 'pending'::text);
CREATE INDEX approvals_pending ON public.approvals USING btree (tenant_id, id DESC) WHERE (status = 'pending'::text);
CREATE INDEX approvals_root ON public.approvals USING btree (tenant_id, root_run_id, id DESC);
CREATE INDEX approvals_run ON public.approvals USING btree (tenant_id, run_id, id DESC);
CREATE INDEX approvals_undelivered ON public.approvals USING btree (deliver_at) WHERE (deliver_at IS NOT NULL);
alter table approvals enable row level security;
alter table approvals force row level security;
create policy open_claim on approvals for update to toolcrib_owner using ((deliver_at IS NOT NULL)) with check (true);
create policy open_read on approvals for select to toolcrib_owner using (((status = 'pending'::text) OR (deliver_at IS NOT NULL)));
create policy tenant_isolation on approvals for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant insert, select, update on approvals to toolcrib_app;
comment on table approvals is 'Requests to approve calls; one for each call that waits for people.';

create table artifact_versions (
    tenant_id uuid not null,
    artifact_id uuid not null,
    version text not null,
    digest text not null,
    inputs json not null default '[]'::json,
    content bytea not null,
    created_by text not null default ''::text,
    created_at timestamp with time zone not null default now(),
    constraint artifact_versions_pkey PRIMARY KEY (tenant_id, artifact_id, version),
    constraint artifact_versions_content_check CHECK ((octet_length(content) <= 4194304)),
    constraint artifact_versions_tenant_id_artifact_id_fkey FOREIGN KEY (tenant_id, artifact_id) REFERENCES artifacts(tenant_id, id) ON DELETE CASCADE,
    constraint artifact_versions_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE TRIGGER audit AFTER INSERT OR DELETE ON public.artifact_versions FOR EACH ROW EXECUTE FUNCTION audit_row('{content}', '{}');
CREATE TRIGGER quota_gone AFTER DELETE ON public.artifact_versions REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_artifact_versions();
CREATE TRIGGER quota_made AFTER INSERT ON public.artifact_versions REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_artifact_versions();
alter table artifact_versions enable row level security;
alter table artifact_versions force row level security;
create policy tenant_isolation on artifact_versions for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant insert, select on artifact_versions to toolcrib_app;
comment on table artifact_versions is 'Versions of uploaded programs, which never change.';

create table artifacts (
    id uuid not null,
    tenant_id uuid not null,
    slug text not null,
    name text not null,
    description text not null default ''::text,
    language text not null,
    status text not null default 'active'::text,
    version text not null default ''::text,
    revision bigint not null default 1,
    created_by text not null default ''::text,
    created_at timestamp with time zone not null default now(),
    updated_at timestamp with time zone not null default now(),
    constraint artifacts_pkey PRIMARY KEY (tenant_id, id),
    constraint artifacts_tenant_id_slug_key UNIQUE (tenant_id, slug),
    constraint artifacts_language_check CHECK ((language = ANY (ARRAY['jq'::text, 'javascript'::text, 'wasm'::text]))),
    constraint artifacts_slug_check CHECK ((slug ~ '^[a-zA-Z][a-zA-Z0-9_-]{0,63}$'::text)),
    constraint artifacts_status_check CHECK ((status = ANY (ARRAY['active'::text, 'deprecated'::text, 'disabled'::text]))),
    constraint artifacts_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE INDEX artifacts_disabled ON public.artifacts USING btree (tenant_id, id) WHERE (status = 'disabled'::text);
CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.artifacts FOR EACH ROW EXECUTE FUNCTION audit_row('{}', '{}');
CREATE TRIGGER quota_gone AFTER DELETE ON public.artifacts REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_rows('artifacts');
CREATE TRIGGER quota_made AFTER INSERT ON public.artifacts REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_rows('artifacts');
alter table artifacts enable row level security;
alter table artifacts force row level security;
create policy tenant_isolation on artifacts for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant insert, select, update on artifacts to toolcrib_app;
comment on table artifacts is 'Programs that tenants uploaded.';

create table audit_heads (
    tenant_id uuid,
    scope_id uuid not null generated always as (COALESCE(tenant_id, '00000000-0000-0000-0000-000000000000'::uuid)) stored,
    seq bigint not null default 0,
    hash text not null default repeat('0'::text, 64),
    sealed_at timestamp with time zone not null default now(),
    constraint audit_heads_pkey PRIMARY KEY (scope_id)
) with (fillfactor=50);
CREATE TRIGGER audit_heads_kept BEFORE DELETE ON public.audit_heads FOR EACH ROW EXECUTE FUNCTION keep_audit();
CREATE TRIGGER audit_heads_not_emptied BEFORE TRUNCATE ON public.audit_heads FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
alter table audit_heads enable row level security;
alter table audit_heads force row level security;
create policy owner_all on audit_heads for all to toolcrib_owner using (true) with check (true);
create policy tenant_read on audit_heads for select to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant select on audit_heads to toolcrib_app;
comment on table audit_heads is 'The last link of each chain of the audit log.';

create table audit_log (
    tenant_id uuid,
    scope_id uuid not null generated always as (COALESCE(tenant_id, '00000000-0000-0000-0000-000000000000'::uuid)) stored,
    id uuid not null,
    at timestamp with time zone not null,
    actor_kind text not null,
    actor text not null,
    key_id uuid,
    action text not null,
    object_kind text not null,
    object_id text not null default ''::text,
    object_name text not null default ''::text,
    request_id text not null default ''::text,
    outcome text not null,
    reason text not null default ''::text,
    before json,
    after json,
    seq bigint,
    hash text,
    sealed_at timestamp with time zone,
    constraint audit_log_pkey PRIMARY KEY (scope_id, id),
    constraint audit_log_action_check CHECK ((action ~ '^[a-z_]+\.[a-z_]+$'::text)),
    constraint audit_log_actor_kind_check CHECK ((actor_kind = ANY (ARRAY['key'::text, 'token'::text, 'user'::text, 'cli'::text, 'system'::text, 'database'::text]))),
    constraint audit_log_check CHECK ((((seq IS NULL) = (hash IS NULL)) AND ((seq IS NULL) = (sealed_at IS NULL)))),
    constraint audit_log_hash_check CHECK ((hash ~ '^[0-9a-f]{64}$'::text)),
    constraint audit_log_outcome_check CHECK ((outcome = ANY (ARRAY['done'::text, 'refused'::text]))),
    constraint audit_log_seq_check CHECK ((seq > 0))
);
CREATE INDEX audit_log_actor ON public.audit_log USING btree (scope_id, actor, id);
CREATE INDEX audit_log_object ON public.audit_log USING btree (scope_id, object_id, id);
CREATE UNIQUE INDEX audit_log_seq ON public.audit_log USING btree (scope_id, seq) WHERE (seq IS NOT NULL);
CREATE INDEX audit_log_unsealed ON public.audit_log USING btree (scope_id, id) WHERE (seq IS NULL);
CREATE TRIGGER audit_log_immutable BEFORE UPDATE OF tenant_id, id, at, actor_kind, actor, key_id, action, object_kind, object_id, object_name, request_id, outcome, reason, before, after ON public.audit_log FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_log_kept BEFORE DELETE ON public.audit_log FOR EACH ROW EXECUTE FUNCTION keep_audit();
CREATE TRIGGER audit_log_not_emptied BEFORE TRUNCATE ON public.audit_log FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_log_sealed_once BEFORE UPDATE ON public.audit_log FOR EACH ROW WHEN ((old.seq IS NOT NULL)) EXECUTE FUNCTION refuse_change();
alter table audit_log enable row level security;
alter table audit_log force row level security;
create policy any_insert on audit_log for insert to toolcrib_owner with check (true);
create policy erased_delete on audit_log for delete to toolcrib_owner using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
create policy platform_read on audit_log for select to toolcrib_owner using (((tenant_id IS NULL) OR (seq IS NULL)));
create policy tenant_read on audit_log for select to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
create policy unsealed_update on audit_log for update to toolcrib_owner using ((seq IS NULL)) with check (true);
grant select on audit_log to toolcrib_app;
comment on table audit_log is 'Who changed what; rows are only added, and chained by hashes.';

create table budget_holds (
    tenant_id uuid not null,
    holder text not null,
    budget_id uuid not null,
    span text not null,
    turn_of uuid,
    micros bigint not null,
    constraint budget_holds_pkey PRIMARY KEY (tenant_id, holder, budget_id, span),
    constraint budget_holds_tenant_id_budget_id_span_fkey FOREIGN KEY (tenant_id, budget_id, span) REFERENCES budget_windows(tenant_id, budget_id, span) ON DELETE CASCADE,
    constraint budget_holds_tenant_id_turn_of_fkey FOREIGN KEY (tenant_id, turn_of) REFERENCES runs(tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX budget_holds_turn ON public.budget_holds USING btree (tenant_id, turn_of) WHERE (turn_of IS NOT NULL);
CREATE INDEX budget_holds_window ON public.budget_holds USING btree (tenant_id, budget_id, span);
alter table budget_holds enable row level security;
alter table budget_holds force row level security;
create policy platform_read on budget_holds for select to toolcrib_owner using (true);
create policy tenant_read on budget_holds for select to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
create policy tenant_write on budget_holds for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant delete, insert, select, update on budget_holds to toolcrib_app;
comment on table budget_holds is 'What calls and turns that have not ended reserved of a budget.';

create table budget_windows (
    tenant_id uuid not null,
    budget_id uuid not null,
    span text not null,
    run_id uuid,
    spent_micros bigint not null default 0,
    created_at timestamp with time zone not null default now(),
    alerted_at timestamp with time zone,
    constraint budget_windows_pkey PRIMARY KEY (tenant_id, budget_id, span),
    constraint budget_windows_tenant_id_budget_id_fkey FOREIGN KEY (tenant_id, budget_id) REFERENCES budgets(tenant_id, id) ON DELETE CASCADE,
    constraint budget_windows_tenant_id_run_id_fkey FOREIGN KEY (tenant_id, run_id) REFERENCES runs(tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX budget_windows_run ON public.budget_windows USING btree (tenant_id, run_id) WHERE (run_id IS NOT NULL);
CREATE TRIGGER budget_windows_alert BEFORE UPDATE OF spent_micros ON public.budget_windows FOR EACH ROW WHEN (((new.alerted_at IS NULL) AND (new.spent_micros > old.spent_micros))) EXECUTE FUNCTION alert_of_budget();
alter table budget_windows enable row level security;
alter table budget_windows force row level security;
create policy platform_read on budget_windows for select to toolcrib_owner using (true);
create policy tenant_read on budget_windows for select to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
create policy tenant_write on budget_windows for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant delete, insert, select, update on budget_windows to toolcrib_app;
comment on table budget_windows is 'What was spent of a budget in one of its periods.';

create table budgets (
    tenant_id uuid not null,
    id uuid not null,
    name text not null,
    by_platform boolean not null default false,
    agent_id uuid,
    tool_id uuid,
    tool_scope_id uuid,
    period text not null,
    limit_micros bigint not null,
    changed_by text not null default ''::text,
    changed_at timestamp with time zone not null default now(),
    profile_id uuid,
    constraint budgets_pkey PRIMARY KEY (tenant_id, id),
    constraint budgets_tenant_id_by_platform_name_key UNIQUE (tenant_id, by_platform, name),
    constraint budgets_check CHECK (((tool_id IS NULL) = (tool_scope_id IS NULL))),
    constraint budgets_check1 CHECK (((tool_scope_id = tenant_id) OR (tool_scope_id = '00000000-0000-0000-0000-000000000000'::uuid))),
    constraint budgets_limit_micros_check CHECK (((limit_micros >= 0) AND (limit_micros <= '1000000000000000'::bigint))),
    constraint budgets_name_check CHECK ((name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'::text)),
    constraint budgets_period_check CHECK ((period = ANY (ARRAY['day'::text, 'month'::text, 'run'::text]))),
    constraint budgets_profile FOREIGN KEY (tenant_id, profile_id) REFERENCES profiles(tenant_id, id) ON DELETE CASCADE,
    constraint budgets_tenant_id_agent_id_fkey FOREIGN KEY (tenant_id, agent_id) REFERENCES agents(tenant_id, id) ON DELETE CASCADE,
    constraint budgets_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE,
    constraint budgets_tool_id_tool_scope_id_fkey FOREIGN KEY (tool_id, tool_scope_id) REFERENCES tool_registry(id, scope_id) ON DELETE CASCADE
);
CREATE INDEX budgets_tool ON public.budgets USING btree (tool_id) WHERE (tool_id IS NOT NULL);
CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.budgets FOR EACH ROW EXECUTE FUNCTION audit_row('{tool_scope_id,changed_at,changed_by}', '{}', 'budget');
alter table budgets enable row level security;
alter table budgets force row level security;
create policy platform_budgets on budgets for all to toolcrib_owner using (by_platform) with check (by_platform);
create policy tenant_delete on budgets for delete to public using (((NOT by_platform) AND (tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)));
create policy tenant_insert on budgets for insert to public with check (((NOT by_platform) AND (tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)));
create policy tenant_read on budgets for select to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
create policy tenant_update on budgets for update to public using (((NOT by_platform) AND (tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid))) with check (((NOT by_platform) AND (tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)));
grant delete, insert, select, update on budgets to toolcrib_app;
comment on table budgets is 'Limits of what a tenant, its agents, its tools and each of its runs may spend, in millionths of one currency.';

create table chunk_embeddings (
    tenant_id uuid not null,
    pipeline_id uuid not null,
    generation integer not null,
    document_id uuid not null,
    version bigint not null,
    chunk_id uuid not null,
    embedding bytea not null,
    constraint chunk_embeddings_pkey PRIMARY KEY (tenant_id, chunk_id, generation),
    constraint chunk_embeddings_tenant_id_document_id_fkey FOREIGN KEY (tenant_id, document_id) REFERENCES documents(tenant_id, id) ON DELETE CASCADE,
    constraint chunk_embeddings_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE INDEX chunk_embeddings_document ON public.chunk_embeddings USING btree (tenant_id, document_id, version);
CREATE INDEX chunk_embeddings_generation ON public.chunk_embeddings USING btree (tenant_id, pipeline_id, generation);
alter table chunk_embeddings enable row level security;
alter table chunk_embeddings force row level security;
create policy tenant_isolation on chunk_embeddings for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant delete, insert, select on chunk_embeddings to toolcrib_app;
comment on table chunk_embeddings is 'Passages by their meaning.';

create table chunk_terms (
    tenant_id uuid not null,
    pipeline_id uuid not null,
    document_id uuid not null,
    version bigint not null,
    chunk_id uuid not null,
    terms tsvector not null,
    constraint chunk_terms_tenant_id_document_id_fkey FOREIGN KEY (tenant_id, document_id) REFERENCES documents(tenant_id, id) ON DELETE CASCADE,
    constraint chunk_terms_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
) with (toast_tuple_target=128);
CREATE INDEX chunk_terms_document ON public.chunk_terms USING btree (document_id, version);
CREATE INDEX chunk_terms_terms ON public.chunk_terms USING gin (terms) WITH (fastupdate=off);
alter table chunk_terms enable row level security;
alter table chunk_terms force row level security;
create policy tenant_deletes on chunk_terms for delete to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
create policy tenant_inserts on chunk_terms for insert to public with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
create policy tenant_isolation on chunk_terms for select to public using (((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid) AND (terms @@ (COALESCE(NULLIF(current_setting('app.terms'::text, true), ''::text), '!none'::text))::tsquery)));
grant delete, insert, select on chunk_terms to toolcrib_app;
comment on table chunk_terms is 'Passages by their words.';

create table chunks (
    id uuid not null,
    tenant_id uuid not null,
    document_id uuid not null,
    version bigint not null,
    position integer not null,
    text text not null,
    headings text[] not null default '{}'::text[],
    start_at integer not null,
    end_at integer not null,
    page integer not null default 0,
    constraint chunks_pkey PRIMARY KEY (tenant_id, id),
    constraint chunks_tenant_id_document_id_version_position_key UNIQUE (tenant_id, document_id, version, "position"),
    constraint chunks_tenant_id_document_id_fkey FOREIGN KEY (tenant_id, document_id) REFERENCES documents(tenant_id, id) ON DELETE CASCADE,
    constraint chunks_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
alter table chunks enable row level security;
alter table chunks force row level security;
create policy tenant_isolation on chunks for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant delete, insert, select on chunks to toolcrib_app;
comment on table chunks is 'Passages of documents.';

create table credentials (
    tenant_id uuid not null,
    id uuid not null,
    ref text not null,
    category text not null default ''::text,
    provider_key text not null default ''::text,
    provider_variant text not null default ''::text,
    hosts text[] not null,
    version integer not null,
    key_version integer not null,
    ciphertext bytea,
    revision bigint not null default 1,
    created_at timestamp with time zone not null default now(),
    updated_at timestamp with time zone not null default now(),
    rotated_at timestamp with time zone,
    last_used_at timestamp with time zone,
    expires_at timestamp with time zone,
    revoked_at timestamp with time zone,
    constraint credentials_pkey PRIMARY KEY (tenant_id, id),
    constraint credentials_check CHECK ((((category = ''::text) = (provider_key = ''::text)) AND ((category <> ''::text) OR (provider_variant = ''::text)))),
    constraint credentials_check1 CHECK (((ciphertext IS NULL) = (revoked_at IS NOT NULL))),
    constraint credentials_ref_check CHECK ((ref ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$'::text)),
    constraint credentials_version_check CHECK ((version > 0)),
    constraint credentials_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE,
    constraint credentials_tenant_id_key_version_fkey FOREIGN KEY (tenant_id, key_version) REFERENCES tenant_keys(tenant_id, version)
) with (fillfactor=80);
CREATE UNIQUE INDEX credentials_ref ON public.credentials USING btree (tenant_id, ref) WHERE (revoked_at IS NULL);
CREATE UNIQUE INDEX credentials_selector ON public.credentials USING btree (tenant_id, category, provider_key, provider_variant) WHERE ((revoked_at IS NULL) AND (category <> ''::text));
CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.credentials FOR EACH ROW EXECUTE FUNCTION audit_row('{last_used_at,rotated_at}', '{ciphertext}');
alter table credentials enable row level security;
alter table credentials force row level security;
create policy tenant_isolation on credentials for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant insert, select on credentials to toolcrib_app;
grant update (category, provider_key, provider_variant, hosts, version, key_version, ciphertext, revision, updated_at, rotated_at, last_used_at, expires_at, revoked_at) on credentials to toolcrib_app;
comment on table credentials is 'What tools authenticate with, encrypted; a revoked one has no value any more.';

create table document_contents (
    tenant_id uuid not null,
    document_id uuid not null,
    content bytea not null,
    constraint document_contents_pkey PRIMARY KEY (tenant_id, document_id),
    constraint document_contents_tenant_id_document_id_fkey FOREIGN KEY (tenant_id, document_id) REFERENCES documents(tenant_id, id) ON DELETE CASCADE,
    constraint document_contents_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
alter table document_contents enable row level security;
alter table document_contents force row level security;
create policy tenant_isolation on document_contents for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant delete, insert, select, update on document_contents to toolcrib_app;
comment on table document_contents is 'What documents are made of, until they are cut into chunks.';

create table document_texts (
    tenant_id uuid not null,
    document_id uuid not null,
    version bigint not null,
    text text not null,
    constraint document_texts_pkey PRIMARY KEY (tenant_id, document_id, version),
    constraint document_texts_tenant_id_document_id_fkey FOREIGN KEY (tenant_id, document_id) REFERENCES documents(tenant_id, id) ON DELETE CASCADE,
    constraint document_texts_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
alter table document_texts enable row level security;
alter table document_texts force row level security;
create policy tenant_isolation on document_texts for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant delete, insert, select on document_texts to toolcrib_app;
comment on table document_texts is 'What documents say: the text that their passages were cut of.';

create table documents (
    id uuid not null,
    tenant_id uuid not null,
    pipeline_id uuid not null,
    key text not null,
    title text not null default ''::text,
    own_title text not null default ''::text,
    media_type text not null,
    source text not null default ''::text,
    metadata jsonb not null default '{}'::jsonb,
    digest text not null,
    bytes integer not null,
    version bigint not null default 1,
    status text not null default 'pending'::text,
    error text not null default ''::text,
    chunks integer not null default 0,
    embedded integer not null default 0,
    live_version bigint not null default 0,
    live_title text not null default ''::text,
    live_source text not null default ''::text,
    live_metadata jsonb not null default '{}'::jsonb,
    created_by text not null default ''::text,
    created_at timestamp with time zone not null default now(),
    updated_at timestamp with time zone not null default now(),
    ready_at timestamp with time zone,
    constraint documents_pkey PRIMARY KEY (tenant_id, id),
    constraint documents_tenant_id_pipeline_id_key_key UNIQUE (tenant_id, pipeline_id, key),
    constraint documents_media_type_check CHECK ((media_type = ANY (ARRAY['text/plain'::text, 'text/markdown'::text, 'text/html'::text, 'application/pdf'::text]))),
    constraint documents_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'ingesting'::text, 'ready'::text, 'failed'::text]))),
    constraint documents_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE,
    constraint documents_tenant_id_pipeline_id_fkey FOREIGN KEY (tenant_id, pipeline_id) REFERENCES pipelines(tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX documents_open ON public.documents USING btree (tenant_id, id) WHERE (status = ANY (ARRAY['pending'::text, 'ingesting'::text]));
CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE OF digest ON public.documents FOR EACH ROW EXECUTE FUNCTION audit_row('{status,error,chunks,embedded,live_version,live_title,live_source,live_metadata,ready_at}', '{}');
CREATE TRIGGER documents_words AFTER UPDATE OF live_version ON public.documents FOR EACH ROW WHEN ((new.live_version <> old.live_version)) EXECUTE FUNCTION keep_words();
CREATE TRIGGER documents_words_gone AFTER DELETE ON public.documents FOR EACH ROW WHEN ((old.live_version > 0)) EXECUTE FUNCTION keep_words();
CREATE TRIGGER quota_changed AFTER UPDATE OF bytes ON public.documents FOR EACH ROW WHEN ((new.bytes <> old.bytes)) EXECUTE FUNCTION count_documents();
CREATE TRIGGER quota_gone AFTER DELETE ON public.documents REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_documents();
CREATE TRIGGER quota_made AFTER INSERT ON public.documents REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_documents();
alter table documents enable row level security;
alter table documents force row level security;
create policy maintenance_read on documents for select to toolcrib_maintenance using (true);
create policy tenant_isolation on documents for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant delete, insert, select, update on documents to toolcrib_app;
grant select (id, tenant_id, pipeline_id, version, status, updated_at) on documents to toolcrib_maintenance;
comment on table documents is 'What pipelines were fed.';

create table effects (
    effect_id text not null,
    tenant_id uuid not null,
    phase text not null,
    fence bigint not null,
    attempt integer not null,
    sent_before boolean not null default false,
    invocation_id uuid not null,
    version_digest text not null,
    arguments_digest text not null,
    status text,
    result json,
    error_kind text,
    error text,
    created_at timestamp with time zone not null default now(),
    done_at timestamp with time zone,
    run_gone_at timestamp with time zone,
    constraint effects_pkey PRIMARY KEY (tenant_id, effect_id),
    constraint effects_check CHECK (((phase = 'done'::text) = (status IS NOT NULL))),
    constraint effects_effect_id_check CHECK ((effect_id <> ''::text)),
    constraint effects_phase_check CHECK ((phase = ANY ('{accepted,admitted,sent,done}'::text[])))
) with (fillfactor=70);
CREATE INDEX effects_created ON public.effects USING btree (created_at);
CREATE INDEX effects_open ON public.effects USING btree (tenant_id, invocation_id DESC) WHERE (phase <> 'done'::text);
alter table effects enable row level security;
alter table effects force row level security;
create policy left_delete on effects for delete to toolcrib_owner using ((run_gone_at IS NOT NULL));
create policy left_read on effects for select to toolcrib_owner using ((run_gone_at IS NOT NULL));
create policy maintenance_read on effects for select to toolcrib_maintenance using (true);
create policy tenant_isolation on effects for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant insert, select, update on effects to toolcrib_app;
grant select on effects to toolcrib_maintenance;
comment on table effects is 'The effect ledger: how far each call has come; every move is a compare-and-set on phase and fence.';

create table embed_origins (
    tenant_id uuid not null,
    id uuid not null,
    name text not null,
    created_by text not null default ''::text,
    created_at timestamp with time zone not null default now(),
    constraint embed_origins_pkey PRIMARY KEY (tenant_id, id),
    constraint embed_origins_tenant_id_name_key UNIQUE (tenant_id, name),
    constraint embed_origins_name_check CHECK (((length(name) >= 1) AND (length(name) <= 255))),
    constraint embed_origins_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.embed_origins FOR EACH ROW EXECUTE FUNCTION audit_row('{created_by}', '{}', 'embed_origin');
alter table embed_origins enable row level security;
alter table embed_origins force row level security;
create policy tenant_isolation on embed_origins for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant delete, insert, select on embed_origins to toolcrib_app;
comment on table embed_origins is 'Origins whose pages may frame the tools of a tenant; at most 20 of one.';

create table embed_tokens (
    tenant_id uuid not null,
    id uuid not null,
    secret_hash bytea not null,
    origin text not null,
    tool_id uuid not null,
    tool text not null,
    version text not null,
    digest text not null,
    caller text not null,
    key_id uuid not null,
    permission text not null default ''::text,
    expires_at timestamp with time zone not null,
    created_at timestamp with time zone not null default now(),
    constraint embed_tokens_pkey PRIMARY KEY (tenant_id, id),
    constraint embed_tokens_caller_check CHECK (((length(caller) >= 1) AND (length(caller) <= 128))),
    constraint embed_tokens_secret_hash_check CHECK ((length(secret_hash) = 32)),
    constraint embed_tokens_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE INDEX embed_tokens_expires ON public.embed_tokens USING btree (tenant_id, expires_at);
alter table embed_tokens enable row level security;
alter table embed_tokens force row level security;
create policy tenant_isolation on embed_tokens for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant delete, insert, select on embed_tokens to toolcrib_app;
comment on table embed_tokens is 'Tokens that run one version of a tool in a frame, good for five minutes. Those that expired are deleted as others of the tenant are made.';

create table event_seals (
    tenant_id uuid not null,
    run_id uuid not null,
    run_seq bigint not null,
    seq bigint not null,
    constraint event_seals_pkey PRIMARY KEY (tenant_id, run_id, run_seq),
    constraint event_seals_tenant_id_seq_key UNIQUE (tenant_id, seq)
);
alter table event_seals enable row level security;
alter table event_seals force row level security;
create policy tenant_isolation on event_seals for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant select on event_seals to toolcrib_app;
comment on table event_seals is 'The place of each committed event in its tenant''s stream.';

create table file_chunks (
    tenant_id uuid not null,
    file_id uuid not null,
    position integer not null,
    content bytea not null,
    constraint file_chunks_pkey PRIMARY KEY (tenant_id, file_id, "position"),
    constraint file_chunks_content_check CHECK (((octet_length(content) >= 1) AND (octet_length(content) <= 1048576))),
    constraint file_chunks_tenant_id_file_id_fkey FOREIGN KEY (tenant_id, file_id) REFERENCES files(tenant_id, id) ON DELETE CASCADE
);
alter table file_chunks enable row level security;
alter table file_chunks force row level security;
create policy tenant_isolation on file_chunks for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant delete, insert, select on file_chunks to toolcrib_app;
comment on table file_chunks is 'Contents of files, in order.';

create table files (
    tenant_id uuid not null,
    id uuid not null,
    name text not null,
    media_type text not null,
    size bigint not null,
    sha256 text not null,
    width integer not null default 0,
    height integer not null default 0,
    kind text not null,
    run_id uuid,
    root_run_id uuid,
    invocation_id uuid,
    location text not null,
    stored boolean not null default false,
    created_by text not null default ''::text,
    created_at timestamp with time zone not null default now(),
    expires_at timestamp with time zone,
    constraint files_pkey PRIMARY KEY (tenant_id, id),
    constraint files_check CHECK (((run_id IS NULL) = (root_run_id IS NULL))),
    constraint files_kind_check CHECK ((kind = ANY (ARRAY['upload'::text, 'markup'::text]))),
    constraint files_location_check CHECK ((location <> ''::text)),
    constraint files_name_check CHECK ((name <> ''::text)),
    constraint files_sha256_check CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text)),
    constraint files_size_check CHECK ((size > 0)),
    constraint files_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE,
    constraint files_tenant_id_run_id_fkey FOREIGN KEY (tenant_id, run_id) REFERENCES runs(tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX files_expiring ON public.files USING btree (expires_at) WHERE (expires_at IS NOT NULL);
CREATE INDEX files_of_call ON public.files USING btree (tenant_id, invocation_id) WHERE (invocation_id IS NOT NULL);
CREATE INDEX files_of_root ON public.files USING btree (tenant_id, root_run_id, id DESC) WHERE (root_run_id IS NOT NULL);
CREATE INDEX files_of_run ON public.files USING btree (tenant_id, run_id, id DESC) WHERE (run_id IS NOT NULL);
CREATE TRIGGER audit_deleted AFTER DELETE ON public.files FOR EACH ROW WHEN ((old.kind = 'upload'::text)) EXECUTE FUNCTION audit_row('{stored,location}', '{}');
CREATE TRIGGER audit_uploaded AFTER INSERT ON public.files FOR EACH ROW WHEN ((new.kind = 'upload'::text)) EXECUTE FUNCTION audit_row('{stored,location}', '{}');
CREATE TRIGGER files_leave AFTER DELETE ON public.files FOR EACH ROW EXECUTE FUNCTION leave_file();
CREATE TRIGGER quota_gone AFTER DELETE ON public.files REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_files();
CREATE TRIGGER quota_made AFTER INSERT ON public.files REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_files();
alter table files enable row level security;
alter table files force row level security;
create policy expired_delete on files for delete to toolcrib_owner using ((expires_at <= now()));
create policy expired_read on files for select to toolcrib_owner using ((expires_at <= now()));
create policy tenant_isolation on files for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant delete, insert, select, update on files to toolcrib_app;
comment on table files is 'Files of tenants, without their contents.';

create table graph_nodes (
    tenant_id uuid not null,
    effect_id text not null,
    path text not null,
    run_id uuid not null,
    node text not null,
    kind text not null,
    status text not null,
    item json,
    result json,
    text text not null default ''::text,
    error_kind text not null default ''::text,
    error text not null default ''::text,
    state json,
    branch text not null default ''::text,
    call text not null default ''::text,
    child_run uuid,
    attempts integer not null default 0,
    ended_at timestamp with time zone,
    place bigint not null generated always as identity,
    constraint graph_nodes_pkey PRIMARY KEY (tenant_id, effect_id, path),
    constraint graph_nodes_check CHECK (((status = 'pending'::text) = (ended_at IS NULL))),
    constraint graph_nodes_path_check CHECK ((octet_length(path) <= 2000)),
    constraint graph_nodes_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'completed'::text, 'failed'::text, 'skipped'::text, 'cancelled'::text]))),
    constraint graph_nodes_tenant_id_run_id_fkey FOREIGN KEY (tenant_id, run_id) REFERENCES runs(tenant_id, id) ON DELETE CASCADE
) with (fillfactor=90);
CREATE INDEX graph_nodes_run ON public.graph_nodes USING btree (tenant_id, run_id, place);
alter table graph_nodes enable row level security;
alter table graph_nodes force row level security;
create policy tenant_isolation on graph_nodes for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant insert, select, update on graph_nodes to toolcrib_app;
comment on table graph_nodes is 'Nodes of runs of graphs, and how they ended.';

create table idempotency_keys (
    tenant_id uuid not null,
    subject text not null,
    key_hash bytea not null,
    id uuid not null,
    digest text not null,
    fence bigint not null default 1,
    lease_until timestamp with time zone not null,
    status integer,
    header json,
    body bytea,
    created_at timestamp with time zone not null default now(),
    expires_at timestamp with time zone not null,
    constraint idempotency_keys_pkey PRIMARY KEY (tenant_id, subject, key_hash),
    constraint idempotency_keys_digest_check CHECK ((digest ~ '^[0-9a-f]{64}$'::text)),
    constraint idempotency_keys_key_hash_check CHECK ((octet_length(key_hash) = 32)),
    constraint idempotency_keys_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
) with (fillfactor=70);
CREATE INDEX idempotency_keys_expired ON public.idempotency_keys USING btree (expires_at);
CREATE TRIGGER quota_gone AFTER DELETE ON public.idempotency_keys REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_idempotency_keys();
CREATE TRIGGER quota_made AFTER INSERT ON public.idempotency_keys REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_idempotency_keys();
alter table idempotency_keys enable row level security;
alter table idempotency_keys force row level security;
create policy expired_delete on idempotency_keys for delete to toolcrib_owner using ((expires_at <= now()));
create policy expired_read on idempotency_keys for select to toolcrib_owner using ((expires_at <= now()));
create policy tenant_isolation on idempotency_keys for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant insert, select, update on idempotency_keys to toolcrib_app;
comment on table idempotency_keys is 'Requests that callers named, and their answers; kept for a day.';

create table inbox_items (
    tenant_id uuid not null,
    id uuid not null,
    run_id uuid not null,
    kind text not null,
    content json not null,
    call_id uuid,
    author text not null default ''::text,
    created_at timestamp with time zone not null default now(),
    message_id uuid,
    taken_at timestamp with time zone,
    space_id uuid,
    from_seq bigint,
    upto_seq bigint,
    hops integer,
    constraint inbox_items_pkey PRIMARY KEY (tenant_id, id),
    constraint inbox_items_check CHECK (((message_id IS NULL) = (taken_at IS NULL))),
    constraint inbox_items_kind_check CHECK ((kind = ANY (ARRAY['tool_result'::text, 'message'::text]))),
    constraint inbox_items_tenant_id_run_id_fkey FOREIGN KEY (tenant_id, run_id) REFERENCES runs(tenant_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX inbox_items_call ON public.inbox_items USING btree (tenant_id, call_id) WHERE (call_id IS NOT NULL);
CREATE INDEX inbox_items_run ON public.inbox_items USING btree (tenant_id, run_id, id);
alter table inbox_items enable row level security;
alter table inbox_items force row level security;
create policy tenant_isolation on inbox_items for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant insert, select, update on inbox_items to toolcrib_app;
comment on table inbox_items is 'What comes to runs from outside, until a turn takes it up.';

create table leases (
    name text not null,
    holder text not null,
    scope text not null,
    fence bigint not null default 1,
    expires_at timestamp with time zone not null,
    passed_at timestamp with time zone,
    constraint leases_pkey PRIMARY KEY (name),
    constraint leases_name_check CHECK ((name <> ''::text))
);
alter table leases enable row level security;
alter table leases force row level security;
create policy app_read on leases for select to toolcrib_app using (true);
create policy maintenance_leases on leases for all to toolcrib_maintenance using (true) with check (true);
grant select on leases to toolcrib_app;
grant insert, select, update on leases to toolcrib_maintenance;
comment on table leases is 'Who does the work that one process does for all.';

create table left_files (
    tenant_id uuid not null,
    file_id uuid not null,
    location text not null,
    due_at timestamp with time zone not null default now(),
    created_at timestamp with time zone not null default now(),
    constraint left_files_pkey PRIMARY KEY (tenant_id, file_id)
);
CREATE INDEX left_files_due ON public.left_files USING btree (location, due_at);
alter table left_files enable row level security;
alter table left_files force row level security;
create policy left_add on left_files for insert to toolcrib_owner with check (true);
create policy left_claim on left_files for update to toolcrib_owner using (true) with check (true);
create policy left_read on left_files for select to toolcrib_owner using (true);
create policy tenant_isolation on left_files for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant delete, insert, select on left_files to toolcrib_app;
comment on table left_files is 'Contents in stores of objects that no file has any more.';

create table mcp_remote_tools (
    tenant_id uuid not null,
    server_id uuid not null,
    name text not null,
    tool_id uuid,
    state text not null,
    reason text not null default ''::text,
    pinned_digest text not null default ''::text,
    pinned json,
    approved_digest text not null default ''::text,
    approved_by text not null default ''::text,
    approved_at timestamp with time zone,
    seen_digest text not null default ''::text,
    seen json,
    first_seen_at timestamp with time zone not null default now(),
    seen_at timestamp with time zone not null default now(),
    changed_at timestamp with time zone not null default now(),
    constraint mcp_remote_tools_pkey PRIMARY KEY (tenant_id, server_id, name),
    constraint mcp_remote_tools_state_check CHECK ((state = ANY (ARRAY['offered'::text, 'pinned'::text, 'changed'::text, 'approved'::text, 'gone'::text, 'refused'::text]))),
    constraint mcp_remote_tools_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE,
    constraint mcp_remote_tools_tenant_id_server_id_fkey FOREIGN KEY (tenant_id, server_id) REFERENCES mcp_servers(tenant_id, id) ON DELETE CASCADE,
    constraint mcp_remote_tools_tool_id_tenant_id_fkey FOREIGN KEY (tool_id, tenant_id) REFERENCES tool_registry(id, scope_id)
);
CREATE UNIQUE INDEX mcp_remote_tools_tool ON public.mcp_remote_tools USING btree (tenant_id, tool_id) WHERE (tool_id IS NOT NULL);
CREATE TRIGGER audit AFTER UPDATE OF approved_digest ON public.mcp_remote_tools FOR EACH ROW WHEN (((new.approved_digest <> ''::text) AND (old.approved_digest <> new.approved_digest))) EXECUTE FUNCTION audit_row('{pinned,seen,first_seen_at,seen_at,changed_at,approved_at}', '{}');
alter table mcp_remote_tools enable row level security;
alter table mcp_remote_tools force row level security;
create policy tenant_isolation on mcp_remote_tools for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant insert, select, update on mcp_remote_tools to toolcrib_app;
comment on table mcp_remote_tools is 'What MCP servers offer, and which definition of it may run.';

create table mcp_servers (
    id uuid not null,
    tenant_id uuid not null,
    slug text not null,
    name text not null,
    transport text not null,
    url text not null default ''::text,
    command text not null default ''::text,
    headers json not null default '{}'::json,
    auth json,
    allowed_tools text[] not null default '{}'::text[],
    trust_hints boolean not null default false,
    status text not null default 'active'::text,
    discovered_at timestamp with time zone,
    discovery_error text not null default ''::text,
    protocol_version text not null default ''::text,
    server_name text not null default ''::text,
    server_version text not null default ''::text,
    revision bigint not null default 1,
    created_by text not null default ''::text,
    created_at timestamp with time zone not null default now(),
    updated_at timestamp with time zone not null default now(),
    detached_at timestamp with time zone,
    trusted boolean not null default false,
    constraint mcp_servers_pkey PRIMARY KEY (tenant_id, id),
    constraint mcp_servers_slug_check CHECK ((slug ~ '^[a-z][a-z0-9-]{0,31}$'::text)),
    constraint mcp_servers_status_check CHECK ((status = ANY (ARRAY['active'::text, 'disabled'::text]))),
    constraint mcp_servers_transport_check CHECK ((transport = ANY (ARRAY['streamable_http'::text, 'sse'::text, 'stdio'::text]))),
    constraint mcp_servers_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX mcp_servers_slug ON public.mcp_servers USING btree (tenant_id, slug) WHERE (detached_at IS NULL);
CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.mcp_servers FOR EACH ROW EXECUTE FUNCTION audit_row('{discovered_at,discovery_error,protocol_version,server_name,server_version}', '{headers,auth}');
alter table mcp_servers enable row level security;
alter table mcp_servers force row level security;
create policy tenant_isolation on mcp_servers for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant insert, select, update on mcp_servers to toolcrib_app;
comment on table mcp_servers is 'MCP servers that tenants attached.';

create table mcp_sessions (
    tenant_id uuid not null,
    run_id uuid not null,
    server_key text not null,
    session_id text not null,
    protocol text not null,
    handshake json not null,
    server json not null,
    created_at timestamp with time zone not null default now(),
    expires_at timestamp with time zone not null,
    constraint mcp_sessions_pkey PRIMARY KEY (tenant_id, run_id, server_key),
    constraint mcp_sessions_server_key_check CHECK ((server_key ~ '^[0-9a-f]{64}$'::text)),
    constraint mcp_sessions_tenant_id_run_id_fkey FOREIGN KEY (tenant_id, run_id) REFERENCES runs(tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX mcp_sessions_expired ON public.mcp_sessions USING btree (expires_at);
alter table mcp_sessions enable row level security;
alter table mcp_sessions force row level security;
create policy expired_delete on mcp_sessions for delete to toolcrib_owner using ((expires_at <= now()));
create policy expired_read on mcp_sessions for select to toolcrib_owner using ((expires_at <= now()));
create policy tenant_isolation on mcp_sessions for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant insert, select, update on mcp_sessions to toolcrib_app;
comment on table mcp_sessions is 'Sessions with MCP servers, of one run each; ended when nobody has used them for an hour.';

create table messages (
    id uuid not null,
    tenant_id uuid not null,
    run_id uuid not null,
    parent_id uuid,
    turn integer not null,
    position integer not null default 0,
    role text not null,
    content json not null,
    calls json,
    prepared json,
    turn_key text,
    call_id text not null default ''::text,
    is_error boolean not null default false,
    input_tokens integer,
    output_tokens integer,
    created_at timestamp with time zone not null default now(),
    model text,
    cached_input_tokens integer,
    reasoning_tokens integer,
    cost_micros bigint,
    constraint messages_pkey PRIMARY KEY (tenant_id, run_id, id),
    constraint messages_check CHECK ((parent_id <> id)),
    constraint messages_role_check CHECK ((role = ANY ('{system,user,assistant,tool}'::text[]))),
    constraint messages_tenant_id_run_id_fkey FOREIGN KEY (tenant_id, run_id) REFERENCES runs(tenant_id, id) ON DELETE CASCADE,
    constraint messages_tenant_id_run_id_parent_id_fkey FOREIGN KEY (tenant_id, run_id, parent_id) REFERENCES messages(tenant_id, run_id, id)
);
CREATE UNIQUE INDEX messages_answer ON public.messages USING btree (tenant_id, run_id, parent_id, "position") WHERE (role = 'tool'::text);
CREATE UNIQUE INDEX messages_turn ON public.messages USING btree (tenant_id, run_id, turn_key) WHERE (turn_key IS NOT NULL);
CREATE TRIGGER messages_immutable BEFORE UPDATE ON public.messages FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER messages_price BEFORE INSERT ON public.messages FOR EACH ROW WHEN (((new.role = 'assistant'::text) AND (new.turn_key IS NOT NULL))) EXECUTE FUNCTION price_turn();
CREATE TRIGGER messages_usage AFTER INSERT ON public.messages FOR EACH ROW WHEN (((new.role = 'assistant'::text) AND (new.turn_key IS NOT NULL))) EXECUTE FUNCTION count_turn();
alter table messages enable row level security;
alter table messages force row level security;
create policy tenant_isolation on messages for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant insert, select on messages to toolcrib_app;
comment on table messages is 'Transcripts: immutable rows, linked to their parents.';

create table pending_tool_calls (
    tenant_id uuid not null,
    id uuid not null,
    run_id uuid not null,
    root_run_id uuid not null,
    effect_id text not null,
    message_id uuid,
    parent_id uuid,
    agent_id uuid,
    turn integer not null default 0,
    position integer not null default 0,
    call_id text not null,
    tool_id uuid,
    tool text not null,
    version text not null default ''::text,
    digest text not null default ''::text,
    implementation_type text not null default ''::text,
    subject text not null default ''::text,
    mode text not null,
    intent text not null default ''::text,
    shown boolean not null default true,
    requires_response boolean not null,
    is_async boolean not null,
    status text not null,
    result json,
    late boolean not null default false,
    submitted_by text not null default ''::text,
    submit_key bytea not null,
    workflow_id text not null,
    created_at timestamp with time zone not null default now(),
    answer_by timestamp with time zone,
    expires_at timestamp with time zone not null,
    resolved_at timestamp with time zone,
    deliver_at timestamp with time zone,
    inline_bytes integer,
    by_link boolean not null default false,
    constraint pending_tool_calls_pkey PRIMARY KEY (tenant_id, id),
    constraint pending_tool_calls_check CHECK (((status = 'resolved'::text) = (resolved_at IS NOT NULL))),
    constraint pending_tool_calls_status_check CHECK ((status = ANY (ARRAY['waiting'::text, 'pending'::text, 'resolved'::text, 'cancelled'::text]))),
    constraint pending_tool_calls_tenant_id_run_id_fkey FOREIGN KEY (tenant_id, run_id) REFERENCES runs(tenant_id, id) ON DELETE CASCADE
) with (fillfactor=70);
CREATE INDEX pending_tool_calls_open ON public.pending_tool_calls USING btree (tenant_id, id DESC) WHERE (status = ANY (ARRAY['waiting'::text, 'pending'::text]));
CREATE INDEX pending_tool_calls_root ON public.pending_tool_calls USING btree (tenant_id, root_run_id, id DESC);
CREATE INDEX pending_tool_calls_run ON public.pending_tool_calls USING btree (tenant_id, run_id, id DESC);
CREATE INDEX pending_tool_calls_undelivered ON public.pending_tool_calls USING btree (deliver_at) WHERE (deliver_at IS NOT NULL);
CREATE TRIGGER audit AFTER UPDATE OF status ON public.pending_tool_calls FOR EACH ROW WHEN (((new.status = 'resolved'::text) AND (old.status <> 'resolved'::text))) EXECUTE FUNCTION audit_row('{resolved_at,deliver_at}', '{result,submit_key}');
CREATE TRIGGER pending_tool_calls_space AFTER UPDATE OF status ON public.pending_tool_calls FOR EACH ROW WHEN (((new.status = ANY (ARRAY['resolved'::text, 'cancelled'::text])) AND (old.status IS DISTINCT FROM new.status))) EXECUTE FUNCTION follow_space_result();
alter table pending_tool_calls enable row level security;
alter table pending_tool_calls force row level security;
create policy open_claim on pending_tool_calls for update to toolcrib_owner using ((deliver_at IS NOT NULL)) with check (true);
create policy open_read on pending_tool_calls for select to toolcrib_owner using ((deliver_at IS NOT NULL));
create policy tenant_isolation on pending_tool_calls for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
create policy waiting_read on pending_tool_calls for select to toolcrib_owner using ((status = 'waiting'::text));
grant insert, select, update on pending_tool_calls to toolcrib_app;
comment on table pending_tool_calls is 'Calls that are answered from outside, and their results.';

create table pipelines (
    id uuid not null,
    tenant_id uuid not null,
    number bigint not null generated always as identity,
    slug text not null,
    name text not null,
    description text not null default ''::text,
    search text not null,
    language text not null,
    max_chars integer not null default 0,
    overlap integer not null default 0,
    embedding json,
    generation integer not null default 0,
    next_embedding json,
    next_generation integer not null default 0,
    last_generation integer not null default 0,
    disabled boolean not null default false,
    revision bigint not null default 1,
    created_by text not null default ''::text,
    created_at timestamp with time zone not null default now(),
    updated_at timestamp with time zone not null default now(),
    deleted_at timestamp with time zone,
    embedding_error text not null default ''::text,
    constraint pipelines_pkey PRIMARY KEY (tenant_id, id),
    constraint pipelines_check CHECK (((embedding IS NULL) = (generation = 0))),
    constraint pipelines_check1 CHECK (((next_embedding IS NULL) = (next_generation = 0))),
    constraint pipelines_search_check CHECK ((search = ANY (ARRAY['full_text'::text, 'vector'::text, 'hybrid'::text]))),
    constraint pipelines_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE INDEX pipelines_building ON public.pipelines USING btree (tenant_id, id) WHERE (next_generation <> 0);
CREATE UNIQUE INDEX pipelines_slug ON public.pipelines USING btree (tenant_id, slug) WHERE (deleted_at IS NULL);
CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.pipelines FOR EACH ROW EXECUTE FUNCTION audit_row('{number,generation,next_embedding,next_generation,last_generation,embedding_error}', '{}');
alter table pipelines enable row level security;
alter table pipelines force row level security;
create policy maintenance_read on pipelines for select to toolcrib_maintenance using (true);
create policy tenant_isolation on pipelines for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant insert, select, update on pipelines to toolcrib_app;
grant select (id, tenant_id, next_generation, updated_at, deleted_at) on pipelines to toolcrib_maintenance;
comment on table pipelines is 'Collections of documents, and how they are searched.';

create table prices (
    tenant_id uuid,
    scope_id uuid not null generated always as (COALESCE(tenant_id, '00000000-0000-0000-0000-000000000000'::uuid)) stored,
    id uuid not null,
    tool_id uuid,
    tool_scope_id uuid,
    version text not null default ''::text,
    model text,
    subject text not null generated always as (COALESCE(('tool/'::text || (tool_id)::text), ('model/'::text || model))) stored,
    valid_from timestamp with time zone not null,
    valid_until timestamp with time zone,
    call_micros bigint,
    unit_pointer text,
    unit_path text[],
    unit_micros bigint,
    input_micros bigint,
    cached_micros bigint,
    output_micros bigint,
    reasoning_micros bigint,
    changed_by text not null default ''::text,
    changed_at timestamp with time zone not null default now(),
    unit_estimate bigint not null default 1,
    constraint prices_pkey PRIMARY KEY (scope_id, id),
    constraint prices_scope_id_subject_version_valid_from_key UNIQUE (scope_id, subject, version, valid_from),
    constraint prices_check CHECK (((tool_scope_id = scope_id) OR (tool_scope_id = '00000000-0000-0000-0000-000000000000'::uuid))),
    constraint prices_check1 CHECK ((((tool_id IS NULL) = (tool_scope_id IS NULL)) AND ((tool_id IS NULL) = (model IS NOT NULL)))),
    constraint prices_check2 CHECK (((tool_id IS NOT NULL) OR (version = ''::text))),
    constraint prices_check3 CHECK (((tool_id IS NULL) = (call_micros IS NULL))),
    constraint prices_check4 CHECK (((tool_id IS NOT NULL) OR ((input_micros IS NOT NULL) AND (output_micros IS NOT NULL)))),
    constraint prices_check5 CHECK ((((unit_pointer IS NULL) = (unit_micros IS NULL)) AND ((unit_pointer IS NULL) = (unit_path IS NULL)))),
    constraint prices_check6 CHECK ((valid_until > valid_from)),
    constraint prices_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE,
    constraint prices_tool_id_tool_scope_id_fkey FOREIGN KEY (tool_id, tool_scope_id) REFERENCES tool_registry(id, scope_id) ON DELETE CASCADE
);
CREATE INDEX prices_tool ON public.prices USING btree (tool_id);
CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.prices FOR EACH ROW EXECUTE FUNCTION audit_row('{tool_scope_id,unit_path,subject,changed_at,changed_by}', '{}');
alter table prices enable row level security;
alter table prices force row level security;
create policy platform_globals on prices for all to toolcrib_owner using ((tenant_id IS NULL)) with check ((tenant_id IS NULL));
create policy tenant_delete on prices for delete to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
create policy tenant_insert on prices for insert to public with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
create policy tenant_read on prices for select to public using (((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid) OR ((tenant_id IS NULL) AND ((tool_id IS NULL) OR ( SELECT true
   FROM tool_registry t
  WHERE ((t.id = prices.tool_id) AND (t.scope_id = prices.tool_scope_id)))))));
create policy tenant_update on prices for update to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant delete, insert, select, update on prices to toolcrib_app;
comment on table prices is 'What a call or a million tokens costs, in millionths of one currency: of tenants, and of the platform for all of them.';

create table profiles (
    tenant_id uuid not null,
    id uuid not null,
    name text not null,
    description text not null default ''::text,
    denied boolean not null default false,
    requires_approval boolean not null default false,
    permission_policy text not null default ''::text,
    egress_class text not null default ''::text,
    required_permission text not null default ''::text,
    rate_calls integer,
    rate_per text,
    rate_burst integer,
    max_concurrency integer,
    revision bigint not null default 1,
    changed_by text not null default ''::text,
    created_at timestamp with time zone not null default now(),
    updated_at timestamp with time zone not null default now(),
    constraint profiles_pkey PRIMARY KEY (tenant_id, id),
    constraint profiles_tenant_id_name_key UNIQUE (tenant_id, name),
    constraint profiles_check CHECK ((((rate_calls IS NULL) = (rate_per IS NULL)) AND ((rate_calls IS NULL) = (rate_burst IS NULL)))),
    constraint profiles_description_check CHECK ((length(description) <= 1000)),
    constraint profiles_egress_class_check CHECK ((egress_class = ANY (ARRAY[''::text, 'read_only'::text, 'write'::text]))),
    constraint profiles_max_concurrency_check CHECK (((max_concurrency >= 1) AND (max_concurrency <= 1000))),
    constraint profiles_name_check CHECK ((name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'::text)),
    constraint profiles_permission_policy_check CHECK ((permission_policy = ANY (ARRAY[''::text, 'always_ask'::text]))),
    constraint profiles_rate_burst_check CHECK (((rate_burst >= 1) AND (rate_burst <= 1000000))),
    constraint profiles_rate_calls_check CHECK (((rate_calls >= 1) AND (rate_calls <= 1000000))),
    constraint profiles_rate_per_check CHECK ((rate_per = ANY (ARRAY['second'::text, 'minute'::text, 'hour'::text, 'day'::text]))),
    constraint profiles_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.profiles FOR EACH ROW EXECUTE FUNCTION audit_row('{changed_by}', '{}', 'profile');
alter table profiles enable row level security;
alter table profiles force row level security;
create policy tenant_isolation on profiles for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant delete, insert, select, update on profiles to toolcrib_app;
comment on table profiles is 'Named sets of restrictions, which can only be stricter than the tools that they are assigned with.';

create table published_views (
    tenant_id uuid not null,
    id uuid not null,
    name text not null,
    description text not null default ''::text,
    kind text not null,
    tool_id uuid not null,
    tool text not null,
    version text not null,
    digest text not null,
    run_id uuid,
    secret_hash bytea not null,
    expires_at timestamp with time zone not null,
    revoked_at timestamp with time zone,
    rotations integer not null default 0,
    created_by text not null default ''::text,
    changed_by text not null default ''::text,
    created_at timestamp with time zone not null default now(),
    updated_at timestamp with time zone not null default now(),
    constraint published_views_pkey PRIMARY KEY (tenant_id, id),
    constraint published_views_check CHECK (((run_id IS NULL) = (kind = 'tool'::text))),
    constraint published_views_description_check CHECK ((length(description) <= 2000)),
    constraint published_views_kind_check CHECK ((kind = ANY (ARRAY['result'::text, 'tool'::text]))),
    constraint published_views_name_check CHECK (((name <> ''::text) AND (length(name) <= 200))),
    constraint published_views_secret_hash_check CHECK ((length(secret_hash) = 32)),
    constraint published_views_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE INDEX published_views_expires ON public.published_views USING btree (tenant_id, expires_at);
CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.published_views FOR EACH ROW EXECUTE FUNCTION audit_row('{changed_by,created_by,digest}', '{secret_hash}', 'view');
alter table published_views enable row level security;
alter table published_views force row level security;
create policy tenant_isolation on published_views for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant delete, insert, select, update on published_views to toolcrib_app;
comment on table published_views is 'Views that a link shows without a login. Those that expired or were revoked more than 90 days ago are deleted as others are published.';

create table quota_counts (
    tenant_id uuid not null,
    name text not null,
    part integer not null default 0,
    used bigint not null default 0,
    constraint quota_counts_pkey PRIMARY KEY (tenant_id, name, part),
    constraint quota_counts_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
) with (fillfactor=50);
alter table quota_counts enable row level security;
alter table quota_counts force row level security;
create policy platform_all on quota_counts for all to toolcrib_owner using (true) with check (true);
create policy tenant_read on quota_counts for select to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant select on quota_counts to toolcrib_app;
comment on table quota_counts is 'How much tenants have of what quotas limit, counted by triggers.';

create table quotas (
    tenant_id uuid,
    scope_id uuid not null generated always as (COALESCE(tenant_id, '00000000-0000-0000-0000-000000000000'::uuid)) stored,
    name text not null,
    most bigint,
    changed_by text not null default ''::text,
    changed_at timestamp with time zone not null default now(),
    constraint quotas_pkey PRIMARY KEY (scope_id, name),
    constraint quotas_most_check CHECK (((most >= 0) AND (most <= '1000000000000000'::bigint))),
    constraint quotas_name_check CHECK ((name = ANY (ARRAY['tools'::text, 'agents'::text, 'documents'::text, 'storage_bytes'::text, 'artifacts'::text, 'artifact_bytes'::text, 'idempotency_keys'::text]))),
    constraint quotas_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.quotas FOR EACH ROW EXECUTE FUNCTION audit_row('{changed_by,changed_at}', '{}', 'quota');
alter table quotas enable row level security;
alter table quotas force row level security;
create policy platform_all on quotas for all to toolcrib_owner using (true) with check (true);
create policy tenant_read on quotas for select to public using (((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid) OR (tenant_id IS NULL)));
grant select on quotas to toolcrib_app;
comment on table quotas is 'How much tenants may have, as the platform says: each tenant, and all without a quota of their own.';

create table rate_buckets (
    tenant_id uuid not null,
    profile_id uuid not null,
    tool_id uuid not null,
    agent_id uuid not null,
    full_at timestamp with time zone not null,
    constraint rate_buckets_pkey PRIMARY KEY (tenant_id, profile_id, tool_id, agent_id),
    constraint rate_buckets_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
) with (fillfactor=50);
alter table rate_buckets enable row level security;
alter table rate_buckets force row level security;
create policy full_delete on rate_buckets for delete to toolcrib_owner using ((full_at <= now()));
create policy full_lock on rate_buckets for update to toolcrib_owner using ((full_at <= now())) with check (false);
create policy full_read on rate_buckets for select to toolcrib_owner using ((full_at <= now()));
create policy tenant_isolation on rate_buckets for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant insert, select, update on rate_buckets to toolcrib_app;
comment on table rate_buckets is 'How much of the rates of profiles is used.';

create table request_buckets (
    tenant_id uuid not null,
    subject text not null,
    requests double precision not null,
    bytes double precision not null,
    filled_at timestamp with time zone not null default now(),
    constraint request_buckets_pkey PRIMARY KEY (tenant_id, subject),
    constraint request_buckets_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
) with (fillfactor=50);
CREATE INDEX request_buckets_filled ON public.request_buckets USING btree (tenant_id, filled_at);
alter table request_buckets enable row level security;
alter table request_buckets force row level security;
create policy tenant_isolation on request_buckets for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant delete, insert, select, update on request_buckets to toolcrib_app;
comment on table request_buckets is 'What principals with a limit of requests or bytes may still send. Those that are full are deleted as others come.';

create table retention_rules (
    tenant_id uuid,
    scope_id uuid not null generated always as (COALESCE(tenant_id, '00000000-0000-0000-0000-000000000000'::uuid)) stored,
    class text not null,
    keep_days integer,
    updated_at timestamp with time zone not null default now(),
    constraint retention_rules_pkey PRIMARY KEY (scope_id, class),
    constraint retention_rules_check CHECK (((class <> 'effects'::text) OR (keep_days >= 30))),
    constraint retention_rules_class_check CHECK ((class = ANY (ARRAY['runs'::text, 'effects'::text, 'deliveries'::text, 'dead_letters'::text, 'schedule_starts'::text, 'space_messages'::text, 'files'::text, 'notes'::text]))),
    constraint retention_rules_keep_days_check CHECK (((keep_days > 0) AND (keep_days <= 36500))),
    constraint retention_rules_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.retention_rules FOR EACH ROW EXECUTE FUNCTION audit_row('{}', '{}');
alter table retention_rules enable row level security;
alter table retention_rules force row level security;
create policy owner_all on retention_rules for all to toolcrib_owner using (true) with check (true);
create policy tenant_isolation on retention_rules for select to public using (((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid) OR (tenant_id IS NULL)));
grant select on retention_rules to toolcrib_app;
comment on table retention_rules is 'How many days ended records are kept, by class.';

create table roles (
    tenant_id uuid not null,
    id uuid not null,
    name text not null,
    description text not null default ''::text,
    permissions text[] not null,
    revision bigint not null default 1,
    created_by text not null default ''::text,
    changed_by text not null default ''::text,
    created_at timestamp with time zone not null default now(),
    changed_at timestamp with time zone not null default now(),
    constraint roles_pkey PRIMARY KEY (tenant_id, id),
    constraint roles_tenant_id_name_key UNIQUE (tenant_id, name),
    constraint roles_name_check CHECK ((name ~ '^[a-z][a-z0-9_-]{0,62}$'::text)),
    constraint roles_permissions_check CHECK (((cardinality(permissions) >= 1) AND (cardinality(permissions) <= 200))),
    constraint roles_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.roles FOR EACH ROW EXECUTE FUNCTION audit_row('{changed_at,changed_by,created_by}', '{}', 'role');
alter table roles enable row level security;
alter table roles force row level security;
create policy tenant_isolation on roles for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant delete, insert, select, update on roles to toolcrib_app;
comment on table roles is 'Sets of permissions that a tenant made, beside the built-in ones. Keys name them, and have what they permit at each use.';

create table run_events (
    id bigint not null generated always as identity,
    tenant_id uuid not null,
    run_id uuid not null,
    seq bigint not null,
    type text not null,
    invocation_id uuid,
    data json,
    xid xid8 not null default pg_current_xact_id(),
    at timestamp with time zone not null default now(),
    constraint run_events_pkey PRIMARY KEY (tenant_id, run_id, seq),
    constraint run_events_tenant_id_run_id_fkey FOREIGN KEY (tenant_id, run_id) REFERENCES runs(tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX run_events_order ON public.run_events USING btree (tenant_id, id);
CREATE TRIGGER run_events_seals AFTER DELETE ON public.run_events REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION drop_event_seals();
alter table run_events enable row level security;
alter table run_events force row level security;
create policy tenant_isolation on run_events for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant insert, select on run_events to toolcrib_app;

create table run_output (
    tenant_id uuid not null,
    run_id uuid not null,
    seq bigint not null,
    turn integer not null,
    attempt integer not null,
    call_id text,
    text text not null,
    created_at timestamp with time zone not null default now(),
    constraint run_output_pkey PRIMARY KEY (tenant_id, run_id, seq),
    constraint run_output_tenant_id_run_id_fkey FOREIGN KEY (tenant_id, run_id) REFERENCES runs(tenant_id, id) ON DELETE CASCADE
);
alter table run_output enable row level security;
alter table run_output force row level security;
create policy tenant_isolation on run_output for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant insert, select on run_output to toolcrib_app;
comment on table run_output is 'Output of models and tools as it was made; goes with its run, as the events do.';

create table run_spaces (
    tenant_id uuid not null,
    run_id uuid not null,
    space_id uuid,
    woken_in uuid,
    hops integer not null default 0,
    constraint run_spaces_pkey PRIMARY KEY (tenant_id, run_id),
    constraint run_spaces_tenant_id_space_id_fkey FOREIGN KEY (tenant_id, space_id) REFERENCES spaces(tenant_id, id) ON DELETE CASCADE,
    constraint run_spaces_tenant_id_woken_in_fkey FOREIGN KEY (tenant_id, woken_in) REFERENCES spaces(tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX run_spaces_space ON public.run_spaces USING btree (tenant_id, space_id);
CREATE INDEX run_spaces_woken ON public.run_spaces USING btree (tenant_id, woken_in);
alter table run_spaces enable row level security;
alter table run_spaces force row level security;
create policy tenant_isolation on run_spaces for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant delete, insert, select, update on run_spaces to toolcrib_app;
comment on table run_spaces is 'The space that a run of an agent is in.';

create table run_state (
    tenant_id uuid not null,
    run_id uuid not null,
    key text not null,
    value json,
    revision bigint not null,
    effect_id text not null,
    fence bigint not null,
    before_value json,
    before_revision bigint not null default 0,
    constraint run_state_pkey PRIMARY KEY (tenant_id, run_id, key),
    constraint run_state_key_check CHECK (((octet_length(key) >= 1) AND (octet_length(key) <= 128))),
    constraint run_state_revision_check CHECK ((revision > 0)),
    constraint run_state_value_check CHECK ((octet_length((value)::text) <= 16384)),
    constraint run_state_tenant_id_run_id_fkey FOREIGN KEY (tenant_id, run_id) REFERENCES runs(tenant_id, id) ON DELETE CASCADE
) with (fillfactor=70);
alter table run_state enable row level security;
alter table run_state force row level security;
create policy tenant_isolation on run_state for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant insert, select, update on run_state to toolcrib_app;
comment on table run_state is 'Values that the tools of a run share.';

create table runs (
    id uuid not null,
    tenant_id uuid not null,
    kind text not null,
    agent_id uuid,
    agent text not null default ''::text,
    agent_version text not null default ''::text,
    mode text not null,
    subject text not null default ''::text,
    permissions text[] not null default '{}'::text[],
    scopes text[] not null default '{}'::text[],
    status text not null,
    input json,
    output text not null default ''::text,
    error_kind text not null default ''::text,
    error text not null default ''::text,
    workflow_id text not null,
    first_run_id text not null default ''::text,
    head_message_id uuid,
    turns integer not null default 0,
    last_seq bigint not null default 0,
    plan json,
    ended_by text not null default ''::text,
    created_at timestamp with time zone not null default now(),
    started_at timestamp with time zone,
    completed_at timestamp with time zone,
    parent_run_id uuid,
    parent_invocation_id uuid,
    detached boolean not null default false,
    depth integer not null default 0,
    calls integer not null default 0,
    followed_until timestamp with time zone,
    cancel_requested_at timestamp with time zone,
    cancel_execution text not null default ''::text,
    continues_run_id uuid,
    continues_turn integer,
    inbox integer not null default 0,
    pause_round integer not null default 0,
    paused_at timestamp with time zone,
    paused_by text not null default ''::text,
    pause_reason text not null default ''::text,
    pause_due timestamp with time zone,
    taint jsonb,
    by_link boolean not null default false,
    tool text not null default ''::text,
    constraint runs_pkey PRIMARY KEY (tenant_id, id),
    constraint runs_check CHECK (((parent_run_id IS NULL) = (parent_invocation_id IS NULL))),
    constraint runs_check1 CHECK (((parent_run_id IS NULL) = (depth = 0))),
    constraint runs_kind_check CHECK ((kind = ANY ('{agent,tool_call,tool_test,host}'::text[]))),
    constraint runs_mode_check CHECK ((mode = ANY ('{production,debug}'::text[]))),
    constraint runs_status_check CHECK ((status = ANY ('{pending,running,completed,failed,cancelled,hosted}'::text[]))),
    constraint runs_tenant_id_agent_id_fkey FOREIGN KEY (tenant_id, agent_id) REFERENCES agents(tenant_id, id) ON DELETE RESTRICT,
    constraint runs_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE,
    constraint runs_tenant_id_parent_run_id_fkey FOREIGN KEY (tenant_id, parent_run_id) REFERENCES runs(tenant_id, id) ON DELETE CASCADE
) with (fillfactor=70);
CREATE INDEX runs_agent ON public.runs USING btree (tenant_id, agent_id, id DESC) WHERE (agent_id IS NOT NULL);
CREATE INDEX runs_open ON public.runs USING btree (tenant_id, id) WHERE (completed_at IS NULL);
CREATE INDEX runs_parent ON public.runs USING btree (tenant_id, parent_run_id, id DESC) WHERE (parent_run_id IS NOT NULL);
CREATE INDEX runs_pause_due ON public.runs USING btree (pause_due) WHERE ((pause_due IS NOT NULL) AND (completed_at IS NULL));
CREATE INDEX runs_status ON public.runs USING btree (tenant_id, status, id DESC);
CREATE UNIQUE INDEX runs_workflow ON public.runs USING btree (tenant_id, workflow_id, first_run_id) WHERE (kind <> 'agent'::text);
CREATE TRIGGER audit AFTER UPDATE OF cancel_requested_at ON public.runs FOR EACH ROW WHEN (((new.cancel_requested_at IS NOT NULL) AND (old.cancel_requested_at IS NULL))) EXECUTE FUNCTION audit_row('{}', '{}');
CREATE TRIGGER audit_paused AFTER UPDATE OF pause_round ON public.runs FOR EACH ROW WHEN (((new.pause_round <> old.pause_round) AND ((new.parent_run_id IS NULL) OR new.detached))) EXECUTE FUNCTION audit_row('{}', '{}');
CREATE TRIGGER runs_end_approvals AFTER UPDATE OF status ON public.runs FOR EACH ROW WHEN ((new.status = ANY (ARRAY['completed'::text, 'failed'::text, 'cancelled'::text]))) EXECUTE FUNCTION cancel_run_approvals();
CREATE TRIGGER runs_end_sessions AFTER UPDATE OF status ON public.runs FOR EACH ROW WHEN ((new.status = ANY (ARRAY['completed'::text, 'failed'::text, 'cancelled'::text]))) EXECUTE FUNCTION expire_run_sessions();
CREATE TRIGGER runs_end_waits AFTER UPDATE OF status ON public.runs FOR EACH ROW WHEN ((new.status = ANY (ARRAY['completed'::text, 'failed'::text, 'cancelled'::text]))) EXECUTE FUNCTION end_run_waits();
CREATE TRIGGER runs_release_turns AFTER UPDATE OF status ON public.runs FOR EACH ROW WHEN ((new.status = ANY (ARRAY['completed'::text, 'failed'::text, 'cancelled'::text]))) EXECUTE FUNCTION release_turns();
CREATE TRIGGER runs_return_wakes AFTER UPDATE OF status ON public.runs FOR EACH ROW WHEN (((new.inbox > 0) AND (new.agent_id IS NOT NULL) AND (new.status = ANY (ARRAY['completed'::text, 'failed'::text, 'cancelled'::text])) AND (old.status IS DISTINCT FROM new.status))) EXECUTE FUNCTION return_space_wakes();
CREATE TRIGGER runs_spaces AFTER DELETE ON public.runs REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION drop_run_spaces();
CREATE TRIGGER runs_webhook_deliveries AFTER DELETE ON public.runs REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION drop_webhook_deliveries();
alter table runs enable row level security;
alter table runs force row level security;
create policy maintenance_read on runs for select to toolcrib_maintenance using (true);
create policy open_read on runs for select to toolcrib_owner using ((completed_at IS NULL));
create policy pause_claim on runs for update to toolcrib_owner using (((pause_due IS NOT NULL) AND (completed_at IS NULL))) with check (true);
create policy tenant_isolation on runs for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant insert, select, update on runs to toolcrib_app;
grant select (id, tenant_id, kind, status, workflow_id, first_run_id, created_at, completed_at) on runs to toolcrib_maintenance;

create table schedule_starts (
    tenant_id uuid not null,
    id uuid not null,
    schedule_id uuid not null,
    scheduled_at timestamp with time zone not null,
    run_id uuid not null,
    status text not null default 'starting'::text,
    kind text not null default ''::text,
    reason text not null default ''::text,
    created_at timestamp with time zone not null default now(),
    constraint schedule_starts_pkey PRIMARY KEY (tenant_id, id),
    constraint schedule_starts_tenant_id_schedule_id_scheduled_at_key UNIQUE (tenant_id, schedule_id, scheduled_at),
    constraint schedule_starts_status_check CHECK ((status = ANY (ARRAY['starting'::text, 'started'::text, 'refused'::text]))),
    constraint schedule_starts_tenant_id_schedule_id_fkey FOREIGN KEY (tenant_id, schedule_id) REFERENCES schedules(tenant_id, id) ON DELETE CASCADE
) with (fillfactor=70);
CREATE INDEX schedule_starts_age ON public.schedule_starts USING btree (created_at);
CREATE INDEX schedule_starts_list ON public.schedule_starts USING btree (tenant_id, schedule_id, id DESC);
alter table schedule_starts enable row level security;
alter table schedule_starts force row level security;
create policy old_delete on schedule_starts for delete to toolcrib_owner using ((created_at < (now() - '30 days'::interval)));
create policy old_read on schedule_starts for select to toolcrib_owner using ((created_at < (now() - '30 days'::interval)));
create policy tenant_isolation on schedule_starts for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant insert, select, update on schedule_starts to toolcrib_app;
comment on table schedule_starts is 'Times at which schedules started runs, or why they did not.';

create table schedules (
    tenant_id uuid not null,
    id uuid not null,
    name text not null,
    agent text not null,
    version_constraint text not null default ''::text,
    input json not null,
    crons text[] not null default '{}'::text[],
    every_s bigint not null default 0,
    offset_s bigint not null default 0,
    time_zone text not null default 'UTC'::text,
    start_at timestamp with time zone,
    end_at timestamp with time zone,
    jitter_s bigint not null default 0,
    overlap text not null,
    catchup_s bigint not null,
    paused boolean not null default false,
    note text not null default ''::text,
    starts_left bigint,
    created_by text not null,
    revision bigint not null default 1,
    applied_revision bigint not null default 0,
    sync_due timestamp with time zone not null default now(),
    sync_lease timestamp with time zone,
    sync_fence bigint not null default 0,
    sync_failures integer not null default 0,
    sync_error text not null default ''::text,
    deleted_at timestamp with time zone,
    created_at timestamp with time zone not null default now(),
    updated_at timestamp with time zone not null default now(),
    constraint schedules_pkey PRIMARY KEY (tenant_id, id),
    constraint schedules_agent_check CHECK ((agent <> ''::text)),
    constraint schedules_check CHECK (((cardinality(crons) > 0) <> (every_s > 0))),
    constraint schedules_name_check CHECK ((name <> ''::text)),
    constraint schedules_overlap_check CHECK ((overlap = ANY (ARRAY['skip'::text, 'buffer_one'::text, 'buffer_all'::text, 'cancel_other'::text, 'allow_all'::text]))),
    constraint schedules_starts_left_check CHECK ((starts_left >= 0)),
    constraint schedules_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
) with (fillfactor=70);
CREATE INDEX schedules_due ON public.schedules USING btree (sync_due);
CREATE UNIQUE INDEX schedules_name ON public.schedules USING btree (tenant_id, name) WHERE (deleted_at IS NULL);
CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.schedules FOR EACH ROW EXECUTE FUNCTION audit_row('{starts_left,applied_revision,sync_due,sync_lease,sync_fence,sync_failures,sync_error}', '{input}');
alter table schedules enable row level security;
alter table schedules force row level security;
create policy all_due on schedules for update to toolcrib_owner using (true) with check (true);
create policy all_read on schedules for select to toolcrib_owner using (true);
create policy tenant_isolation on schedules for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant delete, insert, select, update on schedules to toolcrib_app;
comment on table schedules is 'Agents that are run at certain times.';

create table space_members (
    tenant_id uuid not null,
    space_id uuid not null,
    kind text not null,
    name text not null,
    agent_id uuid,
    added_by text not null default ''::text,
    created_at timestamp with time zone not null default now(),
    constraint space_members_pkey PRIMARY KEY (tenant_id, space_id, kind, name),
    constraint space_members_check CHECK (((kind = 'agent'::text) = (agent_id IS NOT NULL))),
    constraint space_members_kind_check CHECK ((kind = ANY (ARRAY['agent'::text, 'person'::text]))),
    constraint space_members_name_check CHECK ((name <> ''::text)),
    constraint space_members_tenant_id_agent_id_fkey FOREIGN KEY (tenant_id, agent_id) REFERENCES agents(tenant_id, id) ON DELETE CASCADE,
    constraint space_members_tenant_id_space_id_fkey FOREIGN KEY (tenant_id, space_id) REFERENCES spaces(tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX space_members_name ON public.space_members USING btree (tenant_id, kind, name);
CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.space_members FOR EACH ROW EXECUTE FUNCTION audit_row('{space_id}', '{}');
alter table space_members enable row level security;
alter table space_members force row level security;
create policy tenant_isolation on space_members for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant delete, insert, select, update on space_members to toolcrib_app;
comment on table space_members is 'The agents and people of a space.';

create table space_messages (
    tenant_id uuid not null,
    id uuid not null,
    space_id uuid not null,
    seq bigint not null,
    changed_seq bigint not null,
    kind text not null,
    from_kind text not null,
    from_name text not null,
    subject text not null default ''::text,
    run_id uuid,
    hops integer not null default 0,
    text text not null default ''::text,
    not_woken text not null default ''::text,
    tool text not null default ''::text,
    version text not null default ''::text,
    call_id text not null default ''::text,
    status text not null,
    input json,
    output json,
    error_kind text not null default ''::text,
    error text not null default ''::text,
    expires_at timestamp with time zone,
    created_at timestamp with time zone not null default now(),
    updated_at timestamp with time zone not null default now(),
    constraint space_messages_pkey PRIMARY KEY (tenant_id, id),
    constraint space_messages_tenant_id_space_id_seq_key UNIQUE (tenant_id, space_id, seq),
    constraint space_messages_check CHECK (((kind = 'tool'::text) = (tool <> ''::text))),
    constraint space_messages_from_kind_check CHECK ((from_kind = ANY (ARRAY['agent'::text, 'person'::text]))),
    constraint space_messages_kind_check CHECK ((kind = ANY (ARRAY['text'::text, 'tool'::text]))),
    constraint space_messages_status_check CHECK ((status = ANY (ARRAY['running'::text, 'requires_action'::text, 'complete'::text, 'failed'::text]))),
    constraint space_messages_tenant_id_space_id_fkey FOREIGN KEY (tenant_id, space_id) REFERENCES spaces(tenant_id, id) ON DELETE CASCADE
) with (fillfactor=70);
CREATE INDEX space_messages_changed ON public.space_messages USING btree (tenant_id, space_id, changed_seq);
alter table space_messages enable row level security;
alter table space_messages force row level security;
create policy tenant_isolation on space_messages for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant delete, insert, select, update on space_messages to toolcrib_app;
comment on table space_messages is 'What was said in a space, and the visible calls that were made in it.';

create table space_wakes (
    tenant_id uuid not null,
    space_id uuid not null,
    agent_id uuid not null,
    subject text not null,
    permissions text[] not null default '{}'::text[],
    scopes text[] not null default '{}'::text[],
    from_seq bigint not null,
    upto_seq bigint not null,
    hops integer not null,
    run_id uuid not null,
    attempts integer not null default 0,
    due_at timestamp with time zone not null default now(),
    created_at timestamp with time zone not null default now(),
    constraint space_wakes_pkey PRIMARY KEY (tenant_id, space_id, agent_id, subject),
    constraint space_wakes_tenant_id_agent_id_fkey FOREIGN KEY (tenant_id, agent_id) REFERENCES agents(tenant_id, id) ON DELETE CASCADE,
    constraint space_wakes_tenant_id_space_id_fkey FOREIGN KEY (tenant_id, space_id) REFERENCES spaces(tenant_id, id) ON DELETE CASCADE
) with (fillfactor=70);
CREATE INDEX space_wakes_due ON public.space_wakes USING btree (due_at);
alter table space_wakes enable row level security;
alter table space_wakes force row level security;
create policy due_claim on space_wakes for update to toolcrib_owner using (true) with check (true);
create policy due_read on space_wakes for select to toolcrib_owner using (true);
create policy tenant_isolation on space_wakes for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant delete, insert, select, update on space_wakes to toolcrib_app;
comment on table space_wakes is 'Agents that are to be woken by messages of a space.';

create table spaces (
    tenant_id uuid not null,
    id uuid not null,
    slug text not null,
    name text not null,
    description text not null default ''::text,
    max_hops integer not null,
    last_seq bigint not null default 0,
    archived_at timestamp with time zone,
    revision bigint not null default 1,
    created_by text not null default ''::text,
    created_at timestamp with time zone not null default now(),
    updated_at timestamp with time zone not null default now(),
    constraint spaces_pkey PRIMARY KEY (tenant_id, id),
    constraint spaces_tenant_id_slug_key UNIQUE (tenant_id, slug),
    constraint spaces_max_hops_check CHECK (((max_hops >= 0) AND (max_hops <= 50))),
    constraint spaces_name_check CHECK ((name <> ''::text)),
    constraint spaces_slug_check CHECK ((slug ~ '^[a-zA-Z][a-zA-Z0-9_-]{0,63}$'::text)),
    constraint spaces_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
) with (fillfactor=70);
CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.spaces FOR EACH ROW EXECUTE FUNCTION audit_row('{last_seq}', '{}');
alter table spaces enable row level security;
alter table spaces force row level security;
create policy tenant_isolation on spaces for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant delete, insert, select, update on spaces to toolcrib_app;
comment on table spaces is 'Where people and agents talk, and where visible calls are posted.';

create table tenant_erasures (
    tenant_id uuid not null,
    slug text not null,
    requested_by text not null,
    started_at timestamp with time zone not null default now(),
    keys_destroyed_at timestamp with time zone,
    finished_at timestamp with time zone,
    counts json not null,
    workflows bigint not null default 0,
    schedules bigint not null default 0,
    objects bigint not null default 0,
    audit_seq bigint not null,
    audit_hash text not null,
    constraint tenant_erasures_pkey PRIMARY KEY (tenant_id),
    constraint tenant_erasures_check CHECK (((finished_at IS NULL) OR (keys_destroyed_at IS NOT NULL)))
);
CREATE TRIGGER audit_finished AFTER UPDATE OF finished_at ON public.tenant_erasures FOR EACH ROW WHEN (((new.finished_at IS NOT NULL) AND (old.finished_at IS NULL))) EXECUTE FUNCTION audit_erasure();
CREATE TRIGGER audit_started AFTER INSERT ON public.tenant_erasures FOR EACH ROW EXECUTE FUNCTION audit_erasure();
CREATE TRIGGER tenant_erasures_final BEFORE UPDATE ON public.tenant_erasures FOR EACH ROW WHEN ((old.finished_at IS NOT NULL)) EXECUTE FUNCTION refuse_change();
CREATE TRIGGER tenant_erasures_immutable BEFORE UPDATE OF tenant_id, slug, requested_by, started_at, counts, audit_seq, audit_hash ON public.tenant_erasures FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER tenant_erasures_kept BEFORE DELETE ON public.tenant_erasures FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER tenant_erasures_not_emptied BEFORE TRUNCATE ON public.tenant_erasures FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
alter table tenant_erasures enable row level security;
alter table tenant_erasures force row level security;
create policy owner_all on tenant_erasures for all to toolcrib_owner using (true) with check (true);
comment on table tenant_erasures is 'Tenants that were erased, or are being erased. Their ids and slugs are not used again.';

create table tenant_event_heads (
    tenant_id uuid not null,
    last_seq bigint not null default 0,
    settled_id bigint not null default 0,
    pending_id bigint,
    pending_writers text[] not null default '{}'::text[],
    constraint tenant_event_heads_pkey PRIMARY KEY (tenant_id),
    constraint tenant_event_heads_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
) with (fillfactor=50);
alter table tenant_event_heads enable row level security;
alter table tenant_event_heads force row level security;
create policy tenant_isolation on tenant_event_heads for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant select on tenant_event_heads to toolcrib_app;
comment on table tenant_event_heads is 'How far the events of each tenant are numbered.';

create table tenant_keys (
    tenant_id uuid not null,
    version integer not null,
    wrapped bytea not null,
    kek_id text not null,
    created_at timestamp with time zone not null default now(),
    updated_at timestamp with time zone not null default now(),
    constraint tenant_keys_pkey PRIMARY KEY (tenant_id, version),
    constraint tenant_keys_kek_id_check CHECK ((kek_id <> ''::text)),
    constraint tenant_keys_version_check CHECK ((version > 0)),
    constraint tenant_keys_wrapped_check CHECK ((octet_length(wrapped) > 0)),
    constraint tenant_keys_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.tenant_keys FOR EACH ROW EXECUTE FUNCTION audit_row('{}', '{wrapped}');
alter table tenant_keys enable row level security;
alter table tenant_keys force row level security;
create policy tenant_isolation on tenant_keys for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant insert, select on tenant_keys to toolcrib_app;
grant update (wrapped, kek_id, updated_at) on tenant_keys to toolcrib_app;
comment on table tenant_keys is 'Data keys of tenants, wrapped; credentials are encrypted by them.';

create table tenants (
    id uuid not null,
    slug text not null,
    name text not null,
    status text not null default 'active'::text,
    created_at timestamp with time zone not null default now(),
    updated_at timestamp with time zone not null default now(),
    mask_sensitive boolean not null default true,
    max_unfinished_runs integer,
    taint text not null default 'approve'::text,
    mcp_apps_publish_enabled boolean not null default false,
    constraint tenants_pkey PRIMARY KEY (id),
    constraint tenants_slug_key UNIQUE (slug),
    constraint tenants_name_check CHECK ((name <> ''::text)),
    constraint tenants_slug_check CHECK ((slug ~ '^[a-z0-9][a-z0-9-]{0,62}$'::text)),
    constraint tenants_status_check CHECK ((status = ANY (ARRAY['active'::text, 'suspended'::text])))
);
CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.tenants FOR EACH ROW EXECUTE FUNCTION audit_row('{}', '{}');
CREATE TRIGGER tenants_erased BEFORE INSERT OR UPDATE OF status ON public.tenants FOR EACH ROW EXECUTE FUNCTION guard_erased_tenant();
CREATE TRIGGER tenants_schedules AFTER UPDATE OF status ON public.tenants FOR EACH ROW WHEN ((old.status IS DISTINCT FROM new.status)) EXECUTE FUNCTION schedules_due_of_tenant();
alter table tenants enable row level security;
alter table tenants force row level security;
create policy platform_tenants on tenants for all to toolcrib_maintenance, toolcrib_owner using (true) with check (true);
create policy tenant_isolation on tenants for all to public using ((id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant select on tenants to toolcrib_app;
grant insert, select on tenants to toolcrib_maintenance;
grant update (updated_at, mask_sensitive, taint, mcp_apps_publish_enabled) on tenants to toolcrib_app;
grant update (name, status, updated_at, mask_sensitive, mcp_apps_publish_enabled) on tenants to toolcrib_maintenance;

create table token_users (
    tenant_id uuid not null,
    subject text not null,
    roles text[] not null default '{}'::text[],
    first_seen_at timestamp with time zone not null default now(),
    last_seen_at timestamp with time zone not null default now(),
    constraint token_users_pkey PRIMARY KEY (tenant_id, subject),
    constraint token_users_subject_check CHECK ((subject ~~ 'user:_%/_%'::text)),
    constraint token_users_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE INDEX token_users_seen ON public.token_users USING btree (tenant_id, last_seen_at);
alter table token_users enable row level security;
alter table token_users force row level security;
create policy tenant_isolation on token_users for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant delete, insert, select, update on token_users to toolcrib_app;
comment on table token_users is 'People who signed in with tokens of an issuer. Those who were not seen for 90 days are deleted as others come.';

create table tool_aliases (
    tenant_id uuid,
    scope_id uuid not null generated always as (COALESCE(tenant_id, '00000000-0000-0000-0000-000000000000'::uuid)) stored,
    alias text not null,
    tool_id uuid not null,
    remove_by date,
    created_at timestamp with time zone not null default now(),
    renamed boolean not null default false,
    constraint tool_aliases_pkey PRIMARY KEY (scope_id, alias),
    constraint tool_aliases_alias_check CHECK ((alias ~ '^[a-zA-Z][a-zA-Z0-9_-]{0,63}$'::text)),
    constraint tool_aliases_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE,
    constraint tool_aliases_tool_id_scope_id_fkey FOREIGN KEY (tool_id, scope_id) REFERENCES tool_registry(id, scope_id) ON DELETE CASCADE
);
CREATE INDEX tool_aliases_tool ON public.tool_aliases USING btree (tool_id);
alter table tool_aliases enable row level security;
alter table tool_aliases force row level security;
create policy erased_delete on tool_aliases for delete to toolcrib_owner using (((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid) AND (EXISTS ( SELECT
   FROM tenant_erasures e
  WHERE (e.tenant_id = tool_aliases.tenant_id)))));
create policy platform_globals on tool_aliases for all to toolcrib_owner using ((tenant_id IS NULL)) with check ((tenant_id IS NULL));
create policy tenant_insert on tool_aliases for insert to public with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
create policy tenant_read on tool_aliases for select to public using (((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid) OR ((tenant_id IS NULL) AND ( SELECT true
   FROM tool_registry t
  WHERE ((t.id = tool_aliases.tool_id) AND (t.scope_id = tool_aliases.scope_id))))));
create policy tenant_update on tool_aliases for update to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant insert, select, update on tool_aliases to toolcrib_app;
comment on table tool_aliases is 'Names, beside their slugs, that people and clients call tools by.';

create table tool_assignments (
    tenant_id uuid not null,
    id uuid not null,
    tool_id uuid not null,
    tool_scope_id uuid not null,
    agent_id uuid,
    profile_id uuid,
    changed_by text not null default ''::text,
    changed_at timestamp with time zone not null default now(),
    constraint tool_assignments_pkey PRIMARY KEY (tenant_id, id),
    constraint tool_assignments_check CHECK (((tool_scope_id = tenant_id) OR (tool_scope_id = '00000000-0000-0000-0000-000000000000'::uuid))),
    constraint tool_assignments_check1 CHECK (((agent_id IS NOT NULL) OR (profile_id IS NOT NULL))),
    constraint tool_assignments_tenant_id_agent_id_fkey FOREIGN KEY (tenant_id, agent_id) REFERENCES agents(tenant_id, id) ON DELETE CASCADE,
    constraint tool_assignments_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE,
    constraint tool_assignments_tenant_id_profile_id_fkey FOREIGN KEY (tenant_id, profile_id) REFERENCES profiles(tenant_id, id),
    constraint tool_assignments_tool_id_tool_scope_id_fkey FOREIGN KEY (tool_id, tool_scope_id) REFERENCES tool_registry(id, scope_id) ON DELETE CASCADE
);
CREATE INDEX tool_assignments_agent ON public.tool_assignments USING btree (tenant_id, agent_id) WHERE (agent_id IS NOT NULL);
CREATE INDEX tool_assignments_profile ON public.tool_assignments USING btree (tenant_id, profile_id) WHERE (profile_id IS NOT NULL);
CREATE INDEX tool_assignments_tool ON public.tool_assignments USING btree (tool_id);
CREATE UNIQUE INDEX tool_assignments_use ON public.tool_assignments USING btree (tenant_id, tool_id, COALESCE(agent_id, '00000000-0000-0000-0000-000000000000'::uuid));
CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.tool_assignments FOR EACH ROW EXECUTE FUNCTION audit_row('{tool_scope_id,changed_at,changed_by}', '{}', 'assignment');
alter table tool_assignments enable row level security;
alter table tool_assignments force row level security;
create policy tenant_isolation on tool_assignments for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant delete, insert, select, update on tool_assignments to toolcrib_app;
comment on table tool_assignments is 'Which agents have which tools beside their definitions, and which profiles apply to calls.';

create table tool_canaries (
    tenant_id uuid not null,
    id uuid not null,
    tool_id uuid not null,
    version_id uuid not null,
    version text not null,
    digest text not null,
    share smallint not null,
    until_calls integer not null,
    max_error_percent smallint not null,
    min_calls integer not null,
    promote boolean not null default false,
    state text not null default 'running'::text,
    withheld smallint not null generated always as (
CASE state
    WHEN 'promoted'::text THEN 0
    WHEN 'returned'::text THEN 100
    WHEN 'stopped'::text THEN 100
    ELSE (100 - share)
END) stored,
    calls integer not null default 0,
    failures integer not null default 0,
    stable_calls integer not null default 0,
    stable_failures integer not null default 0,
    reason text not null default ''::text,
    started_by text not null default ''::text,
    started_at timestamp with time zone not null default now(),
    ended_by text not null default ''::text,
    ended_at timestamp with time zone,
    judged_at timestamp with time zone not null default now(),
    constraint tool_canaries_pkey PRIMARY KEY (tenant_id, id),
    constraint tool_canaries_check CHECK ((min_calls <= until_calls)),
    constraint tool_canaries_max_error_percent_check CHECK (((max_error_percent >= 0) AND (max_error_percent <= 100))),
    constraint tool_canaries_min_calls_check CHECK ((min_calls >= 1)),
    constraint tool_canaries_share_check CHECK (((share >= 1) AND (share <= 99))),
    constraint tool_canaries_state_check CHECK ((state = ANY (ARRAY['running'::text, 'passed'::text, 'promoted'::text, 'returned'::text, 'stopped'::text]))),
    constraint tool_canaries_until_calls_check CHECK (((until_calls >= 1) AND (until_calls <= 100000))),
    constraint tool_canaries_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE,
    constraint tool_canaries_tool_id_tenant_id_fkey FOREIGN KEY (tool_id, tenant_id) REFERENCES tool_registry(id, scope_id) ON DELETE CASCADE,
    constraint tool_canaries_version_id_tenant_id_fkey FOREIGN KEY (version_id, tenant_id) REFERENCES tool_versions(id, scope_id) ON DELETE CASCADE
);
CREATE INDEX tool_canaries_due ON public.tool_canaries USING btree (judged_at) WHERE (state = 'running'::text);
CREATE UNIQUE INDEX tool_canaries_running ON public.tool_canaries USING btree (tenant_id, tool_id) WHERE (state = ANY (ARRAY['running'::text, 'passed'::text]));
CREATE INDEX tool_canaries_tool ON public.tool_canaries USING btree (tool_id, tenant_id);
CREATE UNIQUE INDEX tool_canaries_version ON public.tool_canaries USING btree (tenant_id, version_id);
CREATE INDEX tool_canaries_version_scope ON public.tool_canaries USING btree (version_id, tenant_id);
CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.tool_canaries FOR EACH ROW EXECUTE FUNCTION audit_row('{tool_id,version_id,withheld,calls,failures,stable_calls,stable_failures,judged_at,started_by,started_at,ended_by,ended_at}', '{}', 'canary');
CREATE TRIGGER tool_canaries_returned AFTER UPDATE OF state ON public.tool_canaries FOR EACH ROW WHEN (((new.state = 'returned'::text) AND (old.state <> 'returned'::text))) EXECUTE FUNCTION deliver_canary();
alter table tool_canaries enable row level security;
alter table tool_canaries force row level security;
create policy due_read on tool_canaries for select to toolcrib_owner using ((state = 'running'::text));
create policy tenant_isolation on tool_canaries for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant insert, select, update on tool_canaries to toolcrib_app;
comment on table tool_canaries is 'Versions of tools that a share of the runs gets, with their outcomes beside those of the other versions.';

create table tool_gates (
    tenant_id uuid not null,
    id uuid not null,
    tool_id uuid,
    replay smallint not null,
    max_different smallint not null default 0,
    changed_by text not null default ''::text,
    changed_at timestamp with time zone not null default now(),
    constraint tool_gates_pkey PRIMARY KEY (tenant_id, id),
    constraint tool_gates_max_different_check CHECK (((max_different >= 0) AND (max_different <= 50))),
    constraint tool_gates_replay_check CHECK (((replay >= 1) AND (replay <= 50))),
    constraint tool_gates_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE,
    constraint tool_gates_tool_id_tenant_id_fkey FOREIGN KEY (tool_id, tenant_id) REFERENCES tool_registry(id, scope_id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX tool_gates_of ON public.tool_gates USING btree (tenant_id, COALESCE(tool_id, '00000000-0000-0000-0000-000000000000'::uuid));
CREATE INDEX tool_gates_tool ON public.tool_gates USING btree (tool_id, tenant_id) WHERE (tool_id IS NOT NULL);
CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.tool_gates FOR EACH ROW EXECUTE FUNCTION audit_row('{changed_by,changed_at}', '{}', 'publish_gate');
alter table tool_gates enable row level security;
alter table tool_gates force row level security;
create policy tenant_isolation on tool_gates for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant delete, insert, select, update on tool_gates to toolcrib_app;
comment on table tool_gates is 'How many recorded calls a version has to be replayed with before it is published, and how many may differ.';

create table tool_invocations (
    id uuid not null,
    tenant_id uuid not null,
    run_id uuid,
    turn integer not null default 0,
    position integer not null default 0,
    call_id text not null,
    effect_id text,
    tool_id uuid,
    tool_scope_id uuid,
    tool text not null,
    version text not null default ''::text,
    digest text not null default ''::text,
    implementation_type text not null default ''::text,
    subject text not null default ''::text,
    agent_id uuid,
    mode text not null,
    status text not null,
    approval_required boolean not null default false,
    approval_status text not null default 'not_required'::text,
    approval_decided_by text,
    approval_reason text,
    egress_class text not null default ''::text,
    attempt integer not null default 0,
    input json,
    receipt json,
    output json,
    is_error boolean not null default false,
    error_kind text not null default ''::text,
    error text not null default ''::text,
    cost_estimate numeric,
    created_at timestamp with time zone not null default now(),
    started_at timestamp with time zone,
    completed_at timestamp with time zone,
    parent_id uuid,
    failed_status text,
    shown boolean,
    cost_micros bigint,
    constraint tool_invocations_pkey PRIMARY KEY (tenant_id, id),
    constraint tool_invocations_approval_status_check CHECK ((approval_status = ANY ('{not_required,pending,approved,rejected,expired}'::text[]))),
    constraint tool_invocations_check CHECK (((tool_scope_id = tenant_id) OR (tool_scope_id = '00000000-0000-0000-0000-000000000000'::uuid))),
    constraint tool_invocations_check1 CHECK (((tool_id IS NULL) = (tool_scope_id IS NULL))),
    constraint tool_invocations_mode_check CHECK ((mode = ANY ('{production,debug}'::text[]))),
    constraint tool_invocations_status_check CHECK ((status = ANY ('{pending,approved,running,waiting,completed,failed,rejected,cancelled,expired,unknown}'::text[]))),
    constraint tool_invocations_tenant_id_run_id_fkey FOREIGN KEY (tenant_id, run_id) REFERENCES runs(tenant_id, id) ON DELETE CASCADE,
    constraint tool_invocations_tool_id_tool_scope_id_fkey FOREIGN KEY (tool_id, tool_scope_id) REFERENCES tool_registry(id, scope_id) ON DELETE RESTRICT
) partition by RANGE (id);
CREATE INDEX tool_invocations_agent ON ONLY public.tool_invocations USING btree (tenant_id, agent_id, id DESC) WHERE (agent_id IS NOT NULL);
CREATE INDEX tool_invocations_agent_failed ON ONLY public.tool_invocations USING btree (tenant_id, agent_id, failed_status, id DESC) WHERE ((agent_id IS NOT NULL) AND (failed_status IS NOT NULL));
CREATE INDEX tool_invocations_approval ON ONLY public.tool_invocations USING btree (tenant_id, id) WHERE (approval_status = 'pending'::text);
CREATE INDEX tool_invocations_failed_status ON ONLY public.tool_invocations USING btree (tenant_id, failed_status, id DESC) WHERE (failed_status IS NOT NULL);
CREATE INDEX tool_invocations_run ON ONLY public.tool_invocations USING btree (tenant_id, run_id, id DESC) WHERE (run_id IS NOT NULL);
CREATE INDEX tool_invocations_tool_version ON ONLY public.tool_invocations USING btree (tenant_id, tool_id, id DESC, version) WHERE (tool_id IS NOT NULL);
CREATE TRIGGER tool_invocations_end_approval AFTER UPDATE OF status ON public.tool_invocations FOR EACH ROW WHEN (((new.approval_status = 'pending'::text) AND (new.status = ANY (ARRAY['completed'::text, 'failed'::text, 'rejected'::text, 'cancelled'::text, 'expired'::text, 'unknown'::text])))) EXECUTE FUNCTION cancel_call_approval();
CREATE TRIGGER tool_invocations_end_wait AFTER UPDATE OF status ON public.tool_invocations FOR EACH ROW WHEN (((new.implementation_type = 'client'::text) AND (new.status = ANY (ARRAY['failed'::text, 'rejected'::text, 'cancelled'::text, 'expired'::text, 'unknown'::text])))) EXECUTE FUNCTION end_call_wait();
CREATE TRIGGER tool_invocations_failed_status BEFORE INSERT OR UPDATE OF status ON public.tool_invocations FOR EACH ROW WHEN ((new.status = ANY ('{failed,rejected,cancelled,expired,unknown}'::text[]))) EXECUTE FUNCTION note_failed_status();
CREATE TRIGGER tool_invocations_price BEFORE UPDATE OF status ON public.tool_invocations FOR EACH ROW WHEN (((old.status = ANY (ARRAY['pending'::text, 'approved'::text, 'running'::text, 'waiting'::text])) AND (new.started_at IS NOT NULL) AND (new.status = ANY (ARRAY['completed'::text, 'failed'::text, 'rejected'::text, 'cancelled'::text, 'expired'::text, 'unknown'::text])))) EXECUTE FUNCTION price_ended_call();
CREATE TRIGGER tool_invocations_space_followed AFTER UPDATE OF status ON public.tool_invocations FOR EACH ROW WHEN (((new.shown IS DISTINCT FROM false) AND (new.agent_id IS NOT NULL) AND (new.parent_id IS NULL) AND (old.status IS DISTINCT FROM new.status))) EXECUTE FUNCTION follow_space_call();
CREATE TRIGGER tool_invocations_space_posted AFTER INSERT ON public.tool_invocations FOR EACH ROW WHEN (((new.shown IS DISTINCT FROM false) AND (new.agent_id IS NOT NULL) AND (new.parent_id IS NULL) AND (new.run_id IS NOT NULL) AND (new.tool_id IS NOT NULL))) EXECUTE FUNCTION post_space_call();
CREATE TRIGGER tool_invocations_usage AFTER UPDATE OF status ON public.tool_invocations FOR EACH ROW WHEN (((old.status = ANY (ARRAY['pending'::text, 'approved'::text, 'running'::text, 'waiting'::text])) AND (new.started_at IS NOT NULL) AND (new.status = ANY (ARRAY['completed'::text, 'failed'::text, 'rejected'::text, 'cancelled'::text, 'expired'::text, 'unknown'::text])))) EXECUTE FUNCTION count_ended_call();
alter table tool_invocations enable row level security;
alter table tool_invocations force row level security;
create policy maintenance_read on tool_invocations for select to toolcrib_maintenance using (true);
create policy tenant_isolation on tool_invocations for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant insert, select, update on tool_invocations to toolcrib_app;
grant select (id, tenant_id, run_id, status) on tool_invocations to toolcrib_maintenance;
comment on table tool_invocations is 'The record of each call; partitioned by month through the time in its id.';

create table tool_invocations_default partition of tool_invocations (
) with (fillfactor=80);
CREATE TRIGGER tool_invocations_end_approval AFTER UPDATE OF status ON public.tool_invocations_default FOR EACH ROW WHEN (((new.approval_status = 'pending'::text) AND (new.status = ANY (ARRAY['completed'::text, 'failed'::text, 'rejected'::text, 'cancelled'::text, 'expired'::text, 'unknown'::text])))) EXECUTE FUNCTION cancel_call_approval();
CREATE TRIGGER tool_invocations_end_wait AFTER UPDATE OF status ON public.tool_invocations_default FOR EACH ROW WHEN (((new.implementation_type = 'client'::text) AND (new.status = ANY (ARRAY['failed'::text, 'rejected'::text, 'cancelled'::text, 'expired'::text, 'unknown'::text])))) EXECUTE FUNCTION end_call_wait();
CREATE TRIGGER tool_invocations_failed_status BEFORE INSERT OR UPDATE OF status ON public.tool_invocations_default FOR EACH ROW WHEN ((new.status = ANY ('{failed,rejected,cancelled,expired,unknown}'::text[]))) EXECUTE FUNCTION note_failed_status();
CREATE TRIGGER tool_invocations_price BEFORE UPDATE OF status ON public.tool_invocations_default FOR EACH ROW WHEN (((old.status = ANY (ARRAY['pending'::text, 'approved'::text, 'running'::text, 'waiting'::text])) AND (new.started_at IS NOT NULL) AND (new.status = ANY (ARRAY['completed'::text, 'failed'::text, 'rejected'::text, 'cancelled'::text, 'expired'::text, 'unknown'::text])))) EXECUTE FUNCTION price_ended_call();
CREATE TRIGGER tool_invocations_space_followed AFTER UPDATE OF status ON public.tool_invocations_default FOR EACH ROW WHEN (((new.shown IS DISTINCT FROM false) AND (new.agent_id IS NOT NULL) AND (new.parent_id IS NULL) AND (old.status IS DISTINCT FROM new.status))) EXECUTE FUNCTION follow_space_call();
CREATE TRIGGER tool_invocations_space_posted AFTER INSERT ON public.tool_invocations_default FOR EACH ROW WHEN (((new.shown IS DISTINCT FROM false) AND (new.agent_id IS NOT NULL) AND (new.parent_id IS NULL) AND (new.run_id IS NOT NULL) AND (new.tool_id IS NOT NULL))) EXECUTE FUNCTION post_space_call();
CREATE TRIGGER tool_invocations_usage AFTER UPDATE OF status ON public.tool_invocations_default FOR EACH ROW WHEN (((old.status = ANY (ARRAY['pending'::text, 'approved'::text, 'running'::text, 'waiting'::text])) AND (new.started_at IS NOT NULL) AND (new.status = ANY (ARRAY['completed'::text, 'failed'::text, 'rejected'::text, 'cancelled'::text, 'expired'::text, 'unknown'::text])))) EXECUTE FUNCTION count_ended_call();
alter table tool_invocations_default enable row level security;
alter table tool_invocations_default force row level security;
create policy tenant_isolation on tool_invocations_default for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));

create table tool_override_versions (
    tenant_id uuid,
    scope_id uuid not null generated always as (COALESCE(tenant_id, '00000000-0000-0000-0000-000000000000'::uuid)) stored,
    tool_id uuid not null,
    tool_scope_id uuid not null,
    revision bigint not null,
    enabled boolean,
    requires_approval boolean not null,
    description text not null,
    defaults json,
    limits json,
    reason text not null,
    removed boolean not null default false,
    changed_by text not null,
    changed_at timestamp with time zone not null,
    constraint tool_override_versions_pkey PRIMARY KEY (scope_id, tool_id, revision),
    constraint tool_override_versions_check CHECK (((tool_scope_id = scope_id) OR (tool_scope_id = '00000000-0000-0000-0000-000000000000'::uuid))),
    constraint tool_override_versions_defaults_check CHECK ((json_typeof(defaults) = 'object'::text)),
    constraint tool_override_versions_description_check CHECK ((length(description) <= 4000)),
    constraint tool_override_versions_limits_check CHECK ((json_typeof(limits) = 'object'::text)),
    constraint tool_override_versions_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE,
    constraint tool_override_versions_tool_id_tool_scope_id_fkey FOREIGN KEY (tool_id, tool_scope_id) REFERENCES tool_registry(id, scope_id) ON DELETE CASCADE
);
CREATE INDEX tool_override_versions_tool ON public.tool_override_versions USING btree (tool_id);
alter table tool_override_versions enable row level security;
alter table tool_override_versions force row level security;
create policy erased_delete on tool_override_versions for delete to toolcrib_owner using (((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid) AND (EXISTS ( SELECT
   FROM tenant_erasures e
  WHERE (e.tenant_id = tool_override_versions.tenant_id)))));
create policy platform_globals on tool_override_versions for all to toolcrib_owner using ((tenant_id IS NULL)) with check ((tenant_id IS NULL));
create policy tenant_insert on tool_override_versions for insert to public with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
create policy tenant_read on tool_override_versions for select to public using (((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid) OR ((tenant_id IS NULL) AND ( SELECT true
   FROM tool_registry t
  WHERE ((t.id = tool_override_versions.tool_id) AND (t.scope_id = tool_override_versions.tool_scope_id))))));
grant insert, select on tool_override_versions to toolcrib_app;
comment on table tool_override_versions is 'Every state of an override, by its revision; the last of a removed one says so.';

create table tool_overrides (
    tenant_id uuid,
    scope_id uuid not null generated always as (COALESCE(tenant_id, '00000000-0000-0000-0000-000000000000'::uuid)) stored,
    tool_id uuid not null,
    tool_scope_id uuid not null,
    enabled boolean,
    requires_approval boolean not null default false,
    reason text not null default ''::text,
    changed_by text not null default ''::text,
    changed_at timestamp with time zone not null default now(),
    description text not null default ''::text,
    defaults json,
    limits json,
    revision bigint not null default 1,
    constraint tool_overrides_pkey PRIMARY KEY (scope_id, tool_id),
    constraint tool_overrides_check CHECK (((tool_scope_id = scope_id) OR (tool_scope_id = '00000000-0000-0000-0000-000000000000'::uuid))),
    constraint tool_overrides_reason_check CHECK ((length(reason) <= 1000)),
    constraint tool_overrides_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE,
    constraint tool_overrides_tool_id_tool_scope_id_fkey FOREIGN KEY (tool_id, tool_scope_id) REFERENCES tool_registry(id, scope_id) ON DELETE CASCADE
);
CREATE INDEX tool_overrides_tool ON public.tool_overrides USING btree (tool_id);
CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.tool_overrides FOR EACH ROW EXECUTE FUNCTION audit_row('{tool_scope_id,changed_at,changed_by}', '{}');
CREATE TRIGGER override_keep AFTER INSERT OR DELETE OR UPDATE ON public.tool_overrides FOR EACH ROW EXECUTE FUNCTION keep_override();
CREATE TRIGGER override_number BEFORE INSERT OR UPDATE ON public.tool_overrides FOR EACH ROW EXECUTE FUNCTION number_override();
alter table tool_overrides enable row level security;
alter table tool_overrides force row level security;
create policy platform_globals on tool_overrides for all to toolcrib_owner using ((tenant_id IS NULL)) with check ((tenant_id IS NULL));
create policy tenant_delete on tool_overrides for delete to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
create policy tenant_insert on tool_overrides for insert to public with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
create policy tenant_read on tool_overrides for select to public using (((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid) OR ((tenant_id IS NULL) AND ( SELECT true
   FROM tool_registry t
  WHERE ((t.id = tool_overrides.tool_id) AND (t.scope_id = tool_overrides.tool_scope_id))))));
create policy tenant_update on tool_overrides for update to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant delete, insert, select, update on tool_overrides to toolcrib_app;
comment on table tool_overrides is 'Decisions of tenants, and of the platform for all of them, about tools: switched on or off, approval required.';

create table tool_registry (
    id uuid not null,
    tenant_id uuid,
    scope_id uuid not null generated always as (COALESCE(tenant_id, '00000000-0000-0000-0000-000000000000'::uuid)) stored,
    scope text not null generated always as (
CASE
    WHEN (tenant_id IS NULL) THEN 'global'::text
    ELSE 'tenant'::text
END) stored,
    slug text not null,
    name text not null,
    description text not null default ''::text,
    category text not null default ''::text,
    icon text not null default ''::text,
    schema json not null default '{}'::json,
    config_schema json not null default '{}'::json,
    interaction json not null default '{}'::json,
    implementation_type text not null default ''::text,
    egress_class text not null default 'none'::text,
    requires_approval boolean not null default false,
    permission_policy text not null default 'auto'::text,
    required_permission text not null default ''::text,
    tenant_slugs text[] not null default '{}'::text[],
    status text not null default 'draft'::text,
    is_active boolean not null default true,
    is_system boolean not null default false,
    builtin_key text not null default ''::text,
    builtin_template_id uuid,
    is_builtin_template boolean not null default false,
    artifact_id text not null default ''::text,
    artifact_version text not null default ''::text,
    version text not null,
    revision bigint not null default 1,
    published_at timestamp with time zone,
    created_at timestamp with time zone not null default now(),
    updated_at timestamp with time zone not null default now(),
    egress_rules json not null default '{}'::json,
    quarantine text not null default ''::text,
    deleted_at timestamp with time zone,
    reads_declared_by text not null default ''::text,
    reads_declared_at timestamp with time zone,
    archived_at timestamp with time zone,
    archived_by text not null default ''::text,
    constraint tool_registry_pkey PRIMARY KEY (id, scope_id),
    constraint tool_registry_scope_id_slug_key UNIQUE (scope_id, slug),
    constraint tool_registry_archived CHECK (((archived_at IS NULL) OR (status = 'disabled'::text))),
    constraint tool_registry_deleted_check CHECK (((deleted_at IS NULL) OR ((slug = ('deleted-'::text || (id)::text)) AND (status = 'disabled'::text) AND (NOT is_active)))),
    constraint tool_registry_egress_class_check CHECK ((egress_class = ANY (ARRAY['none'::text, 'read_only'::text, 'write'::text]))),
    constraint tool_registry_permission_policy_check CHECK ((permission_policy = ANY (ARRAY['auto'::text, 'always_ask'::text]))),
    constraint tool_registry_reads_declared CHECK (((reads_declared_by = ''::text) = (reads_declared_at IS NULL))),
    constraint tool_registry_slug_check CHECK ((slug ~ '^[a-zA-Z][a-zA-Z0-9_-]{0,63}$'::text)),
    constraint tool_registry_status_check CHECK ((status = ANY (ARRAY['draft'::text, 'published'::text, 'deprecated'::text, 'disabled'::text]))),
    constraint tool_registry_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE INDEX tool_registry_long_texts ON public.tool_registry USING btree (scope_id, slug) WHERE ((deleted_at IS NULL) AND (NOT ((tenant_id IS NOT NULL) AND (tenant_slugs = '{}'::text[]) AND ((octet_length(name) + octet_length(description)) <= 1000))));
CREATE INDEX tool_registry_texts ON public.tool_registry USING btree (scope_id, slug, lower((((((slug || ' '::text) || name) || ' '::text) || description) COLLATE "C"))) INCLUDE (id, tenant_id, tenant_slugs, archived_at, name, description) WHERE ((deleted_at IS NULL) AND ((tenant_id IS NOT NULL) AND (tenant_slugs = '{}'::text[]) AND ((octet_length(name) + octet_length(description)) <= 1000)));
CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.tool_registry FOR EACH ROW EXECUTE FUNCTION audit_row('{reads_declared_at}', '{}');
CREATE TRIGGER quota_changed AFTER UPDATE OF deleted_at ON public.tool_registry FOR EACH ROW WHEN (((new.tenant_id IS NOT NULL) AND ((new.deleted_at IS NULL) <> (old.deleted_at IS NULL)))) EXECUTE FUNCTION count_tools();
CREATE TRIGGER quota_gone AFTER DELETE ON public.tool_registry REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_tools();
CREATE TRIGGER quota_made AFTER INSERT ON public.tool_registry REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_tools();
CREATE TRIGGER tool_registry_quarantined AFTER UPDATE OF quarantine ON public.tool_registry FOR EACH ROW WHEN (((new.quarantine <> ''::text) AND (old.quarantine IS DISTINCT FROM new.quarantine) AND (new.tenant_id IS NOT NULL))) EXECUTE FUNCTION deliver_quarantine();
CREATE TRIGGER trg_tools_registry_egress_guard BEFORE INSERT OR UPDATE ON public.tool_registry FOR EACH ROW WHEN ((new.egress_class = 'write'::text)) EXECUTE FUNCTION guard_tool_egress();
alter table tool_registry enable row level security;
alter table tool_registry force row level security;
create policy erased_delete on tool_registry for delete to toolcrib_owner using (((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid) AND (EXISTS ( SELECT
   FROM tenant_erasures e
  WHERE (e.tenant_id = tool_registry.tenant_id)))));
create policy platform_globals on tool_registry for all to toolcrib_owner using ((tenant_id IS NULL)) with check ((tenant_id IS NULL));
create policy tenant_insert on tool_registry for insert to public with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
create policy tenant_read on tool_registry for select to public using (((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif")) OR ((tenant_id IS NULL) AND ((tenant_slugs = '{}'::text[]) OR (( SELECT n.slug
   FROM tenants n
  WHERE (n.id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) = ANY (tenant_slugs))))));
create policy tenant_update on tool_registry for update to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant insert, select, update on tool_registry to toolcrib_app;
comment on table tool_registry is 'Tools: the editable head, its state, and the authority over its calls.';

create table tool_replays (
    tenant_id uuid not null,
    id uuid not null,
    tool_id uuid not null,
    version text not null,
    digest text not null,
    asked smallint not null,
    state text not null default 'running'::text,
    calls json not null default '[]'::json,
    same smallint not null default 0,
    different smallint not null default 0,
    skipped smallint not null default 0,
    started_by text not null default ''::text,
    started_at timestamp with time zone not null default now(),
    ended_at timestamp with time zone,
    constraint tool_replays_pkey PRIMARY KEY (tenant_id, id),
    constraint tool_replays_asked_check CHECK (((asked >= 1) AND (asked <= 50))),
    constraint tool_replays_state_check CHECK ((state = ANY (ARRAY['running'::text, 'ended'::text]))),
    constraint tool_replays_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE,
    constraint tool_replays_tool_id_tenant_id_fkey FOREIGN KEY (tool_id, tenant_id) REFERENCES tool_registry(id, scope_id) ON DELETE CASCADE
);
CREATE INDEX tool_replays_tool ON public.tool_replays USING btree (tool_id, tenant_id, digest, id);
alter table tool_replays enable row level security;
alter table tool_replays force row level security;
create policy tenant_isolation on tool_replays for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant delete, insert, select, update on tool_replays to toolcrib_app;
comment on table tool_replays is 'Recorded calls of tools that were compared with a content which is not published.';

create table tool_session_submissions (
    tenant_id uuid not null,
    id uuid not null,
    session_id uuid not null,
    subject text not null,
    guest text not null default ''::text,
    by_link boolean not null,
    input json not null,
    nonce text not null,
    status text not null default 'running'::text,
    output json,
    error text not null default ''::text,
    created_at timestamp with time zone not null default now(),
    ended_at timestamp with time zone,
    constraint tool_session_submissions_pkey PRIMARY KEY (tenant_id, session_id, id),
    constraint tool_session_submissions_tenant_id_session_id_nonce_key UNIQUE (tenant_id, session_id, nonce),
    constraint tool_session_submissions_check CHECK (((ended_at IS NULL) = (status = 'running'::text))),
    constraint tool_session_submissions_error_check CHECK ((length(error) <= 2000)),
    constraint tool_session_submissions_guest_check CHECK ((length(guest) <= 100)),
    constraint tool_session_submissions_nonce_check CHECK (((length(nonce) >= 1) AND (length(nonce) <= 64))),
    constraint tool_session_submissions_status_check CHECK ((status = ANY (ARRAY['running'::text, 'completed'::text, 'failed'::text]))),
    constraint tool_session_submissions_tenant_id_session_id_fkey FOREIGN KEY (tenant_id, session_id) REFERENCES tool_sessions(tenant_id, id) ON DELETE CASCADE
);
alter table tool_session_submissions enable row level security;
alter table tool_session_submissions force row level security;
create policy tenant_isolation on tool_session_submissions for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant insert, select, update on tool_session_submissions to toolcrib_app;
comment on table tool_session_submissions is 'Inputs of tool sessions, with the results of their calls; at most 1000 of a session. They go with it.';

create table tool_sessions (
    tenant_id uuid not null,
    id uuid not null,
    name text not null,
    tool_id uuid not null,
    tool text not null,
    version text not null,
    digest text not null,
    status text not null default 'active'::text,
    entity_ids text[] not null default '{}'::text[],
    config json not null default '{}'::json,
    aggregate text not null default ''::text,
    permission text not null default ''::text,
    secret_hash bytea,
    link_until timestamp with time zone,
    created_by text not null default ''::text,
    changed_by text not null default ''::text,
    ended_at timestamp with time zone,
    created_at timestamp with time zone not null default now(),
    updated_at timestamp with time zone not null default now(),
    link_makers text[] not null default '{}'::text[],
    constraint tool_sessions_pkey PRIMARY KEY (tenant_id, id),
    constraint tool_sessions_check CHECK (((link_until IS NULL) = (secret_hash IS NULL))),
    constraint tool_sessions_check1 CHECK (((ended_at IS NULL) = (status = 'active'::text))),
    constraint tool_sessions_name_check CHECK (((name <> ''::text) AND (length(name) <= 200))),
    constraint tool_sessions_secret_hash_check CHECK ((length(secret_hash) = 32)),
    constraint tool_sessions_status_check CHECK ((status = ANY (ARRAY['active'::text, 'completed'::text, 'cancelled'::text]))),
    constraint tool_sessions_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE INDEX tool_sessions_ended ON public.tool_sessions USING btree (tenant_id, ended_at) WHERE (status <> 'active'::text);
CREATE INDEX tool_sessions_live ON public.tool_sessions USING btree (tenant_id) WHERE (status = 'active'::text);
CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.tool_sessions FOR EACH ROW EXECUTE FUNCTION audit_row('{changed_by,created_by,digest,permission}', '{secret_hash}', 'tool_session');
alter table tool_sessions enable row level security;
alter table tool_sessions force row level security;
create policy tenant_isolation on tool_sessions for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant delete, insert, select, update on tool_sessions to toolcrib_app;
comment on table tool_sessions is 'Sessions in which several people call one version of a tool. Those that ended more than 400 days ago are deleted as others are made.';

create table tool_slots (
    tenant_id uuid not null,
    scope text not null,
    slot integer not null,
    holder text,
    lease_until timestamp with time zone,
    fence bigint not null default 0,
    constraint tool_slots_pkey PRIMARY KEY (tenant_id, scope, slot),
    constraint tool_slots_check CHECK (((holder IS NULL) = (lease_until IS NULL))),
    constraint tool_slots_scope_check CHECK ((scope <> ''::text)),
    constraint tool_slots_slot_check CHECK ((slot >= 0)),
    constraint tool_slots_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
) with (fillfactor=50);
alter table tool_slots enable row level security;
alter table tool_slots force row level security;
create policy tenant_isolation on tool_slots for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant delete, insert, select, update on tool_slots to toolcrib_app;
comment on table tool_slots is 'Leases on the right to run a call of a limited tool.';

create table tool_versions (
    id uuid not null,
    tool_id uuid not null,
    tenant_id uuid,
    scope_id uuid not null generated always as (COALESCE(tenant_id, '00000000-0000-0000-0000-000000000000'::uuid)) stored,
    version text not null,
    digest text not null,
    schema_snapshot json not null,
    published boolean not null default false,
    published_at timestamp with time zone,
    created_by text not null default ''::text,
    created_at timestamp with time zone not null default now(),
    reads_declared_by text not null default ''::text,
    reads_declared_at timestamp with time zone,
    constraint tool_versions_pkey PRIMARY KEY (id, scope_id),
    constraint tool_versions_tool_id_scope_id_version_key UNIQUE (tool_id, scope_id, version),
    constraint tool_versions_digest_check CHECK ((digest ~ '^[0-9a-f]{64}$'::text)),
    constraint tool_versions_reads_declared CHECK (((reads_declared_by = ''::text) = (reads_declared_at IS NULL))),
    constraint tool_versions_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE,
    constraint tool_versions_tool_id_scope_id_fkey FOREIGN KEY (tool_id, scope_id) REFERENCES tool_registry(id, scope_id) ON DELETE CASCADE
);
CREATE INDEX tool_versions_digest ON public.tool_versions USING btree (tool_id, digest);
CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.tool_versions FOR EACH ROW EXECUTE FUNCTION audit_row('{schema_snapshot,published_at,reads_declared_at}', '{}');
CREATE TRIGGER tool_versions_immutable BEFORE UPDATE OF id, tool_id, tenant_id, version, digest, schema_snapshot, created_by, created_at ON public.tool_versions FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER tool_versions_published_once BEFORE UPDATE ON public.tool_versions FOR EACH ROW WHEN ((old.published AND ((NOT new.published) OR (new.published_at IS DISTINCT FROM old.published_at)))) EXECUTE FUNCTION refuse_change();
alter table tool_versions enable row level security;
alter table tool_versions force row level security;
create policy erased_delete on tool_versions for delete to toolcrib_owner using (((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid) AND (EXISTS ( SELECT
   FROM tenant_erasures e
  WHERE (e.tenant_id = tool_versions.tenant_id)))));
create policy platform_globals on tool_versions for all to toolcrib_owner using ((tenant_id IS NULL)) with check ((tenant_id IS NULL));
create policy tenant_insert on tool_versions for insert to public with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
create policy tenant_read on tool_versions for select to public using (((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid) OR ((tenant_id IS NULL) AND ( SELECT true
   FROM tool_registry t
  WHERE ((t.id = tool_versions.tool_id) AND (t.scope_id = tool_versions.scope_id))))));
create policy tenant_update on tool_versions for update to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant insert, select on tool_versions to toolcrib_app;
grant update (published, published_at) on tool_versions to toolcrib_app;
comment on table tool_versions is 'Immutable snapshots of tools; runs pin them by digest.';

create table toolcrib_migrations (
    version integer not null,
    name text not null,
    checksum text not null,
    applied_at timestamp with time zone not null default now(),
    compatible integer not null default 0,
    constraint toolcrib_migrations_pkey PRIMARY KEY (version)
);
grant select on toolcrib_migrations to toolcrib_app;
grant select on toolcrib_migrations to toolcrib_maintenance;

create table toolsets (
    tenant_id uuid not null,
    id uuid not null,
    slug text not null,
    name text not null,
    instructions text not null default ''::text,
    catalog text not null default 'auto'::text,
    status text not null default 'active'::text,
    tools json not null default '[]'::json,
    servers uuid[] not null default '{}'::uuid[],
    revision bigint not null default 1,
    created_by text not null default ''::text,
    changed_by text not null default ''::text,
    created_at timestamp with time zone not null default now(),
    updated_at timestamp with time zone not null default now(),
    constraint toolsets_pkey PRIMARY KEY (tenant_id, id),
    constraint toolsets_tenant_id_slug_key UNIQUE (tenant_id, slug),
    constraint toolsets_catalog_check CHECK ((catalog = ANY (ARRAY['auto'::text, 'all'::text, 'search'::text]))),
    constraint toolsets_slug_check CHECK ((slug ~ '^[a-z][a-z0-9-]{0,31}$'::text)),
    constraint toolsets_status_check CHECK ((status = ANY (ARRAY['active'::text, 'disabled'::text]))),
    constraint toolsets_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.toolsets FOR EACH ROW EXECUTE FUNCTION audit_row('{changed_by,created_by}', '{}', 'toolset');
alter table toolsets enable row level security;
alter table toolsets force row level security;
create policy tenant_isolation on toolsets for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant delete, insert, select, update on toolsets to toolcrib_app;
comment on table toolsets is 'Tools that tenants offer to MCP clients under one address. Tools and servers are in the row, so that the audit log has each change whole.';

create table usage_days (
    tenant_id uuid not null,
    day date not null,
    agent_id uuid not null,
    tool text not null,
    model text not null,
    shard integer not null,
    calls bigint not null default 0,
    failed_calls bigint not null default 0,
    call_ms bigint not null default 0,
    turns bigint not null default 0,
    input_tokens bigint not null default 0,
    cached_input_tokens bigint not null default 0,
    output_tokens bigint not null default 0,
    reasoning_tokens bigint not null default 0,
    unpriced_turns bigint not null default 0,
    cost_micros bigint not null default 0,
    constraint usage_days_pkey PRIMARY KEY (tenant_id, day, agent_id, tool, model, shard),
    constraint usage_days_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
) with (fillfactor=50);
alter table usage_days enable row level security;
alter table usage_days force row level security;
create policy tenant_isolation on usage_days for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant insert, select, update on usage_days to toolcrib_app;
comment on table usage_days is 'What a tenant used on a day, by agent and by tool or model. Transactions that run side by side count in shards of their own.';

create table web_sessions (
    tenant_id uuid not null,
    token_hash bytea not null,
    key_id uuid,
    subject text,
    roles text[] not null default '{}'::text[],
    created_at timestamp with time zone not null default now(),
    last_used_at timestamp with time zone not null default now(),
    idle_ends_at timestamp with time zone not null,
    ends_at timestamp with time zone not null,
    id uuid not null default gen_random_uuid(),
    browser text not null default ''::text,
    constraint web_sessions_pkey PRIMARY KEY (token_hash, tenant_id),
    constraint web_sessions_browser_check CHECK ((length(browser) <= 100)),
    constraint web_sessions_check CHECK (((key_id IS NULL) <> (subject IS NULL))),
    constraint web_sessions_token_hash_check CHECK ((octet_length(token_hash) = 32)),
    constraint web_sessions_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE INDEX web_sessions_ended ON public.web_sessions USING btree (tenant_id, idle_ends_at);
CREATE UNIQUE INDEX web_sessions_id ON public.web_sessions USING btree (tenant_id, id);
CREATE TRIGGER audit_began AFTER INSERT ON public.web_sessions FOR EACH ROW EXECUTE FUNCTION audit_row('{last_used_at,idle_ends_at,ends_at}', '{token_hash}', 'browser_session');
CREATE TRIGGER audit_ended AFTER DELETE ON public.web_sessions FOR EACH ROW WHEN (((old.idle_ends_at > now()) AND (old.ends_at > now()))) EXECUTE FUNCTION audit_row('{last_used_at,idle_ends_at,ends_at}', '{token_hash}', 'browser_session');
alter table web_sessions enable row level security;
alter table web_sessions force row level security;
create policy browser on web_sessions for all to toolcrib_owner using (true) with check (true);
create policy tenant_isolation on web_sessions for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant delete, insert, select, update on web_sessions to toolcrib_app;
comment on table web_sessions is 'Sessions of browsers, one row for each tenant that the secret of one opens. Authority is that of the key or the person, read at each request.';

create table webhook_deliveries (
    tenant_id uuid not null,
    id uuid not null,
    webhook_id uuid not null,
    type text not null,
    place bigint,
    run_id uuid,
    run_seq bigint,
    invocation_id uuid,
    parent_run_id uuid,
    agent text not null default ''::text,
    data json,
    at timestamp with time zone not null default now(),
    status text not null default 'pending'::text,
    attempts integer not null default 0,
    due_at timestamp with time zone not null default now(),
    lease_until timestamp with time zone,
    fence bigint not null default 0,
    first_attempt_at timestamp with time zone,
    last_attempt_at timestamp with time zone,
    last_ms bigint not null default 0,
    last_status integer not null default 0,
    last_error text not null default ''::text,
    last_answer text not null default ''::text,
    replays integer not null default 0,
    created_at timestamp with time zone not null default now(),
    ended_at timestamp with time zone,
    constraint webhook_deliveries_pkey PRIMARY KEY (tenant_id, id),
    constraint webhook_deliveries_tenant_id_webhook_id_place_key UNIQUE (tenant_id, webhook_id, place),
    constraint webhook_deliveries_check CHECK (((status = 'pending'::text) = (ended_at IS NULL))),
    constraint webhook_deliveries_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text]))),
    constraint webhook_deliveries_type_check CHECK ((type <> ''::text)),
    constraint webhook_deliveries_tenant_id_webhook_id_fkey FOREIGN KEY (tenant_id, webhook_id) REFERENCES webhooks(tenant_id, id) ON DELETE CASCADE
) with (fillfactor=70);
CREATE INDEX webhook_deliveries_age ON public.webhook_deliveries USING btree (created_at);
CREATE INDEX webhook_deliveries_due ON public.webhook_deliveries USING btree (tenant_id, webhook_id, due_at, id) WHERE (status = 'pending'::text);
CREATE INDEX webhook_deliveries_list ON public.webhook_deliveries USING btree (tenant_id, webhook_id, id DESC);
CREATE INDEX webhook_deliveries_run ON public.webhook_deliveries USING btree (tenant_id, run_id) WHERE (run_id IS NOT NULL);
alter table webhook_deliveries enable row level security;
alter table webhook_deliveries force row level security;
create policy old_delete on webhook_deliveries for delete to toolcrib_owner using ((created_at < (now() - '30 days'::interval)));
create policy old_read on webhook_deliveries for select to toolcrib_owner using ((created_at < (now() - '30 days'::interval)));
create policy tenant_isolation on webhook_deliveries for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant insert, select, update on webhook_deliveries to toolcrib_app;
comment on table webhook_deliveries is 'Events that are sent to webhooks, and how that went.';

create table webhooks (
    tenant_id uuid not null,
    id uuid not null,
    url text not null,
    description text not null default ''::text,
    types text[] not null,
    agent text not null default ''::text,
    tool text not null default ''::text,
    active boolean not null default true,
    disabled_at timestamp with time zone,
    disabled_reason text not null default ''::text,
    secret bytea not null,
    secret_key_version integer not null,
    secret_version integer not null default 1,
    old_secret bytea,
    old_secret_key_version integer,
    old_secret_until timestamp with time zone,
    seen_seq bigint not null,
    failing_since timestamp with time zone,
    delivered_at timestamp with time zone,
    revision bigint not null default 1,
    created_by text not null default ''::text,
    created_at timestamp with time zone not null default now(),
    updated_at timestamp with time zone not null default now(),
    constraint webhooks_pkey PRIMARY KEY (tenant_id, id),
    constraint webhooks_check CHECK ((((old_secret IS NULL) = (old_secret_until IS NULL)) AND ((old_secret IS NULL) = (old_secret_key_version IS NULL)))),
    constraint webhooks_check1 CHECK (((disabled_at IS NULL) OR (NOT active))),
    constraint webhooks_secret_version_check CHECK ((secret_version > 0)),
    constraint webhooks_types_check CHECK ((cardinality(types) > 0)),
    constraint webhooks_url_check CHECK ((url <> ''::text)),
    constraint webhooks_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
) with (fillfactor=70);
CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.webhooks FOR EACH ROW EXECUTE FUNCTION audit_row('{seen_seq,failing_since,delivered_at,secret_key_version,old_secret_key_version,old_secret_until}', '{secret,old_secret}');
alter table webhooks enable row level security;
alter table webhooks force row level security;
create policy all_read on webhooks for select to toolcrib_owner using (true);
create policy tenant_isolation on webhooks for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant delete, insert, select, update on webhooks to toolcrib_app;
comment on table webhooks is 'Where events of a tenant are sent.';

create table word_blocks (
    tenant_id uuid not null,
    pipeline_id uuid not null,
    number bigint not null generated always as identity,
    passages integer not null,
    live integer not null,
    length bigint not null,
    constraint word_blocks_pkey PRIMARY KEY (tenant_id, number),
    constraint word_blocks_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE,
    constraint word_blocks_tenant_id_pipeline_id_fkey FOREIGN KEY (tenant_id, pipeline_id) REFERENCES pipelines(tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX word_blocks_pipeline ON public.word_blocks USING btree (tenant_id, pipeline_id);
alter table word_blocks enable row level security;
alter table word_blocks force row level security;
create policy tenant_isolation on word_blocks for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant delete, insert, select, update on word_blocks to toolcrib_app;
comment on table word_blocks is 'Parts of the index of words: the passages of some documents.';

create table word_documents (
    tenant_id uuid not null,
    number bigint not null generated always as identity,
    document_id uuid not null,
    version bigint not null,
    block bigint not null,
    passages integer not null,
    form smallint not null default 1,
    constraint word_documents_pkey PRIMARY KEY (tenant_id, number),
    constraint word_documents_tenant_id_document_id_key UNIQUE (tenant_id, document_id),
    constraint word_documents_tenant_id_block_fkey FOREIGN KEY (tenant_id, block) REFERENCES word_blocks(tenant_id, number) ON DELETE CASCADE,
    constraint word_documents_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE INDEX word_documents_block ON public.word_documents USING btree (tenant_id, block);
alter table word_documents enable row level security;
alter table word_documents force row level security;
create policy tenant_isolation on word_documents for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant delete, insert, select, update on word_documents to toolcrib_app;
comment on table word_documents is 'The version of each document that is in the index of words.';

create table word_postings (
    tenant_id uuid not null,
    pipeline_id uuid not null,
    word text not null,
    block bigint not null,
    passages integer not null,
    entries bytea not null,
    constraint word_postings_pkey PRIMARY KEY (tenant_id, pipeline_id, word, block),
    constraint word_postings_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE INDEX word_postings_block ON public.word_postings USING btree (tenant_id, block);
alter table word_postings enable row level security;
alter table word_postings force row level security;
create policy tenant_isolation on word_postings for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant delete, insert, select, update on word_postings to toolcrib_app;
comment on table word_postings is 'Which passages hold a word, and where.';

create table workflow_starts (
    tenant_id uuid not null,
    workflow_id text not null,
    run_id uuid,
    workflow text not null,
    task_queue text not null,
    summary text not null default ''::text,
    memo json not null default '{}'::json,
    agent text not null default ''::text,
    input bytea not null,
    attempts integer not null default 0,
    next_at timestamp with time zone not null,
    last_error text not null default ''::text,
    created_at timestamp with time zone not null default now(),
    constraint workflow_starts_pkey PRIMARY KEY (tenant_id, workflow_id),
    constraint workflow_starts_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE,
    constraint workflow_starts_tenant_id_run_id_fkey FOREIGN KEY (tenant_id, run_id) REFERENCES runs(tenant_id, id) ON DELETE CASCADE
) with (fillfactor=70);
CREATE INDEX workflow_starts_due ON public.workflow_starts USING btree (next_at);
alter table workflow_starts enable row level security;
alter table workflow_starts force row level security;
create policy due_claim on workflow_starts for update to toolcrib_owner using (((next_at <= now()) OR (next_at > (now() + '00:05:00'::interval)))) with check (true);
create policy due_read on workflow_starts for select to toolcrib_owner using (true);
create policy tenant_isolation on workflow_starts for all to public using ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid)) with check ((tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid));
grant delete, insert, select, update on workflow_starts to toolcrib_app;
comment on table workflow_starts is 'Outbox: workflows that were accepted and not yet confirmed by Temporal.';

