-- The audit log: who changed what, when, and what it was before. Triggers write a row in the
-- transaction of the change, whatever statement makes it; the application role only reads. A
-- sealer numbers rows and chains them by hashes, per tenant, and for the platform (no tenant).

create table audit_log (
    tenant_id   uuid, -- kept when the tenant is gone
    scope_id    uuid not null generated always as
                    (coalesce(tenant_id, '00000000-0000-0000-0000-000000000000'::uuid)) stored,
    id          uuid not null,
    at          timestamptz not null,
    actor_kind  text not null check (actor_kind in ('key', 'token', 'user', 'cli', 'system', 'database')),
    actor       text not null,
    key_id      uuid,
    action      text not null check (action ~ '^[a-z_]+\.[a-z_]+$'),
    object_kind text not null,
    object_id   text not null default '',
    object_name text not null default '',
    request_id  text not null default '',
    outcome     text not null check (outcome in ('done', 'refused')),
    reason      text not null default '',
    before      json,
    after       json,
    seq         bigint,
    hash        text check (hash ~ '^[0-9a-f]{64}$'),
    sealed_at   timestamptz,
    primary key (scope_id, id),
    check (seq > 0),
    check ((seq is null) = (hash is null) and (seq is null) = (sealed_at is null))
);

create unique index audit_log_seq on audit_log (scope_id, seq) where seq is not null;
create index audit_log_unsealed on audit_log (scope_id, id) where seq is null;
create index audit_log_object on audit_log (scope_id, object_id, id);
create index audit_log_actor on audit_log (scope_id, actor, id);

comment on table audit_log is 'Who changed what; rows are only added, and chained by hashes.';

create table audit_heads (
    tenant_id uuid,
    scope_id  uuid primary key generated always as
                  (coalesce(tenant_id, '00000000-0000-0000-0000-000000000000'::uuid)) stored,
    seq       bigint not null default 0,
    hash      text not null default repeat('0', 64),
    sealed_at timestamptz not null default now()
) with (fillfactor = 50);

comment on table audit_heads is 'The last link of each chain of the audit log.';

create trigger audit_log_kept before delete on audit_log for each row execute function refuse_change();
create trigger audit_log_not_emptied before truncate on audit_log for each statement execute function refuse_change();
create trigger audit_log_immutable before update of tenant_id, id, at, actor_kind, actor, key_id, action, object_kind, object_id,
    object_name, request_id, outcome, reason, before, after on audit_log for each row execute function refuse_change();
create trigger audit_log_sealed_once before update on audit_log for each row when (old.seq is not null) execute function refuse_change();
create trigger audit_heads_not_emptied before truncate on audit_heads for each statement execute function refuse_change();
create trigger audit_heads_kept before delete on audit_heads for each row execute function refuse_change();

alter table audit_log enable row level security;
alter table audit_log force row level security;
create policy tenant_read on audit_log for select
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
create policy platform_read on audit_log for select to toolcrib_owner using (tenant_id is null or seq is null);
create policy any_insert on audit_log for insert to toolcrib_owner with check (true);
create policy unsealed_update on audit_log for update to toolcrib_owner using (seq is null) with check (true);
alter table audit_heads enable row level security;
alter table audit_heads force row level security;
create policy tenant_read on audit_heads for select
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
create policy owner_all on audit_heads to toolcrib_owner using (true) with check (true);

grant select on audit_log, audit_heads to toolcrib_app;

-- A UUID of version 7 whose order is that of times, to a fraction of a microsecond.
create function audit_id(at timestamptz) returns uuid language sql volatile as $$
    select (lpad(to_hex(u.us / 1000), 12, '0') || '7' || lpad(to_hex(u.us % 1000 * 4096 / 1000), 3, '0')
        || substr(replace(gen_random_uuid()::text, '-', ''), 17))::uuid
    from (select (extract(epoch from at) * 1000000)::bigint as us) u
$$;

-- Adds a row, by the actor of the transaction. The store sets one in every transaction; where
-- there is none, somebody works on the database past the platform.
create function audit_write(
    p_tenant uuid, p_action text, p_kind text, p_id text, p_name text, p_outcome text, p_reason text, p_before json, p_after json
) returns void language plpgsql as $$
declare
    v_actor json := nullif(current_setting('app.actor', true), '')::json;
    v_at timestamptz := clock_timestamp();
begin
    insert into audit_log (tenant_id, id, at, actor_kind, actor, key_id, action, object_kind, object_id, object_name, request_id,
        outcome, reason, before, after)
    values (p_tenant, audit_id(v_at), v_at, coalesce(v_actor ->> 'kind', 'database'), coalesce(v_actor ->> 'subject', session_user),
        (v_actor ->> 'key_id')::uuid, p_action, p_kind, coalesce(p_id, ''), coalesce(p_name, ''),
        coalesce(v_actor ->> 'request_id', ''), p_outcome, coalesce(p_reason, ''), p_before, p_after);
end
$$;

-- Adds a row about a refused change of the tenant of the transaction. The same refusal of the
-- same actor is one row a minute, and an actor has at most 20 rows of an action in that time.
create function audit_refuse(p_tenant uuid, p_action text, p_kind text, p_id text, p_name text, p_reason text) returns void
    language plpgsql security definer as $$
declare
    v_actor text := nullif(current_setting('app.actor', true), '')::json ->> 'subject';
    v_since uuid := audit_id(clock_timestamp() - interval '1 minute'); -- a constant, for the index
begin
    if p_tenant is null or p_tenant is distinct from nullif(current_setting('app.tenant_id', true), '')::uuid then
        raise exception 'another tenant''s audit log' using errcode = 'insufficient_privilege';
    end if;
    if (
        select count(*) >= 20
            or coalesce(bool_or(l.object_id = coalesce(p_id, '') and l.object_name = coalesce(p_name, '')), false)
        from audit_log l
        where l.scope_id = p_tenant and l.actor = v_actor and l.id > v_since and l.outcome = 'refused' and l.action = p_action)
    then
        return;
    end if;
    perform audit_write(p_tenant, p_action, p_kind, p_id, p_name, 'refused', p_reason, null, null);
end
$$;

-- What a trigger makes of a change. Arguments: columns that are bookkeeping, whose change alone
-- is none and which are not shown; columns whose values are not shown, only that they changed.
create function audit_row() returns trigger language plpgsql security definer as $$
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

-- Bookkeeping columns are named; a new column is audited unless it is added here.
create trigger audit after insert or update or delete on tool_registry for each row execute function audit_row('{reads_declared_at}', '{}');
create trigger audit after insert or update or delete on tool_versions for each row
    execute function audit_row('{schema_snapshot,published_at,reads_declared_at}', '{}');
create trigger audit after insert or update or delete on tool_overrides for each row
    execute function audit_row('{tool_scope_id,changed_at,changed_by}', '{}');
create trigger audit after insert or update or delete on prices for each row
    execute function audit_row('{tool_scope_id,unit_path,subject,changed_at,changed_by}', '{}');
create trigger audit after insert or update or delete on agents for each row execute function audit_row('{}', '{}');
create trigger audit after insert or update or delete on agent_versions for each row execute function audit_row('{snapshot,published_at}', '{}');
create trigger audit after insert or update or delete on api_keys for each row execute function audit_row('{last_used_at}', '{secret_hash}');
create trigger audit after insert or update or delete on credentials for each row
    execute function audit_row('{last_used_at,rotated_at}', '{ciphertext}');
create trigger audit after insert or update or delete on tenants for each row execute function audit_row('{}', '{}');
create trigger audit after insert or update or delete on tenant_keys for each row execute function audit_row('{}', '{wrapped}');
create trigger audit after insert or update or delete on retention_rules for each row execute function audit_row('{}', '{}');
create trigger audit after insert or update or delete on approval_decisions for each row execute function audit_row('{}', '{edited,reason}');
create trigger audit after insert or update or delete on approval_grants for each row execute function audit_row('{used}', '{}');
create trigger audit after update of status on pending_tool_calls for each row
    when (new.status = 'resolved' and old.status <> 'resolved')
    execute function audit_row('{resolved_at,deliver_at}', '{result,submit_key}');
create trigger audit after update of cancel_requested_at on runs for each row
    when (new.cancel_requested_at is not null and old.cancel_requested_at is null) execute function audit_row('{}', '{}');
create trigger audit_paused after update of pause_round on runs for each row -- of the outermost run alone
    when (new.pause_round <> old.pause_round and (new.parent_run_id is null or new.detached)) execute function audit_row('{}', '{}');
create trigger audit after insert or update or delete on mcp_servers for each row
    execute function audit_row('{discovered_at,discovery_error,protocol_version,server_name,server_version}', '{headers,auth}');
create trigger audit after update of approved_digest on mcp_remote_tools for each row
    when (new.approved_digest <> '' and old.approved_digest <> new.approved_digest)
    execute function audit_row('{pinned,seen,first_seen_at,seen_at,changed_at,approved_at}', '{}');
create trigger audit after insert or update or delete on artifacts for each row execute function audit_row('{}', '{}');
create trigger audit after insert or delete on artifact_versions for each row execute function audit_row('{content}', '{}');
create trigger audit after insert or update or delete on pipelines for each row
    execute function audit_row('{number,generation,next_embedding,next_generation,last_generation,embedding_error}', '{}');
create trigger audit after insert or delete or update of digest on documents for each row
    execute function audit_row('{status,error,chunks,embedded,live_version,live_title,live_source,live_metadata,ready_at}', '{}');
create trigger audit_uploaded after insert on files for each row when (new.kind = 'upload') execute function audit_row('{stored,location}', '{}');
create trigger audit_deleted after delete on files for each row when (old.kind = 'upload') execute function audit_row('{stored,location}', '{}');
create trigger audit after insert or update or delete on schedules for each row
    execute function audit_row('{starts_left,applied_revision,sync_due,sync_lease,sync_fence,sync_failures,sync_error}', '{input}');
create trigger audit after insert or update or delete on spaces for each row execute function audit_row('{last_seq}', '{}');
create trigger audit after insert or update or delete on space_members for each row execute function audit_row('{space_id}', '{}');
create trigger audit after insert or update or delete on webhooks for each row
    execute function audit_row('{seen_seq,failing_since,delivered_at,secret_key_version,old_secret_key_version,old_secret_until}',
        '{secret,old_secret}');

-- The digest of a row behind another. Its input is a series of fields: each as the number of its
-- bytes, a colon, the text and a comma; an absent one as a dash and a comma.
create function audit_digest(previous text, e audit_log) returns text language sql stable as $$
    select encode(sha256(convert_to(string_agg(coalesce(octet_length(convert_to(f.field, 'UTF8')) || ':' || f.field, '-') || ',', ''
        order by f.place), 'UTF8')), 'hex')
    from unnest(array[
        'toolcrib.audit.1', previous, e.seq::text, coalesce(e.tenant_id::text, ''), e.id::text,
        to_char(e.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), e.actor_kind, e.actor, e.key_id::text, e.action,
        e.object_kind, e.object_id, e.object_name, e.request_id, e.outcome, e.reason, e.before::text, e.after::text,
        to_char(e.sealed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
    ]) with ordinality as f (field, place)
$$;

-- Numbers and chains at most so many rows, of any tenant and of the platform, and returns how
-- many. One transaction at a time works on a chain; others leave it to that one.
create function seal_audit(most integer) returns integer language plpgsql security definer as $$
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
$$;

-- The age in seconds of the oldest row of any chain that is not sealed, or zero.
create function audit_unsealed_age() returns double precision language sql security definer as $$
    select coalesce(extract(epoch from clock_timestamp() - min(l.at)), 0) from audit_log l where l.seq is null
$$;

do $$
declare
    name text;
begin
    foreach name in array array['audit_id(timestamptz)', 'audit_write(uuid, text, text, text, text, text, text, json, json)',
        'audit_refuse(uuid, text, text, text, text, text)', 'audit_row()', 'audit_digest(text, audit_log)',
        'seal_audit(integer)', 'audit_unsealed_age()']
    loop
        execute format('alter function %s set search_path = %I, pg_temp', name, current_schema());
        execute format('revoke all on function %s from public', name);
    end loop;
end
$$;

grant execute on function audit_refuse(uuid, text, text, text, text, text), seal_audit(integer), audit_unsealed_age() to toolcrib_app;
