create or replace function audit_write(
    p_tenant uuid, p_action text, p_kind text, p_id text, p_name text, p_outcome text, p_reason text, p_before json, p_after json
) returns void language plpgsql as $$
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
        coalesce(v_actor ->> 'request_id', ''), p_outcome, coalesce(p_reason, ''), p_before, p_after);
end
$$;

do $$
begin
    execute format('alter function audit_write(uuid, text, text, text, text, text, text, json, json) set search_path = %I, pg_temp', current_schema());
end
$$;
