drop function destroy_tenant_keys(uuid);
drop function begin_tenant_erasure(uuid, json);
drop trigger tenants_erased on tenants;
drop function guard_erased_tenant();
drop policy erased_delete on tool_override_versions;
drop policy erased_delete on tool_aliases;
drop policy erased_delete on tool_versions;
drop policy erased_delete on tool_registry;
drop policy erased_delete on audit_log;
create or replace trigger audit_log_kept before delete on audit_log for each row execute function refuse_change();
create or replace trigger audit_heads_kept before delete on audit_heads for each row execute function refuse_change();
drop function keep_audit();

create or replace function audit_write(
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

do $$
begin
    execute format('alter function audit_write(uuid, text, text, text, text, text, text, json, json) set search_path = %I, pg_temp',
        current_schema());
end
$$;

drop table tenant_erasures;
drop function audit_erasure();
