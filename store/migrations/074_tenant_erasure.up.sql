-- Erasure of tenants: one row of each erasure, which outlives the tenant, and the narrow ways in
-- which the owner may delete what nothing else deletes. The owner is bound by row-level security
-- too: a transaction deletes rows of the tenant that it set, and of no other.

create table tenant_erasures (
    tenant_id         uuid primary key, -- no reference: it is kept when the tenant is gone
    slug              text not null,
    requested_by      text not null,
    started_at        timestamptz not null default now(),
    keys_destroyed_at timestamptz,
    finished_at       timestamptz,
    counts            json not null, -- rows of each table when it began
    workflows         bigint not null default 0,
    schedules         bigint not null default 0,
    objects           bigint not null default 0, -- contents deleted in stores of objects
    audit_seq         bigint not null, -- the last row of the tenant's audit log
    audit_hash        text not null,
    check (finished_at is null or keys_destroyed_at is not null)
);

comment on table tenant_erasures is 'Tenants that were erased, or are being erased. Their ids and slugs are not used again.';

alter table tenant_erasures enable row level security;
alter table tenant_erasures force row level security;
create policy owner_all on tenant_erasures to toolcrib_owner using (true) with check (true);

create trigger tenant_erasures_kept before delete on tenant_erasures for each row execute function refuse_change();
create trigger tenant_erasures_not_emptied before truncate on tenant_erasures for each statement execute function refuse_change();
create trigger tenant_erasures_immutable before update of tenant_id, slug, requested_by, started_at, counts, audit_seq, audit_hash
    on tenant_erasures for each row execute function refuse_change();
create trigger tenant_erasures_final before update on tenant_erasures for each row when (old.finished_at is not null)
    execute function refuse_change();

-- Adds a row, by the actor of the transaction. The store sets one in every transaction; where
-- there is none, somebody works on the database past the platform. The log of a tenant that is
-- being erased gets no more rows; the platform's log has the erasure.
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

-- Writes the beginning and the end of an erasure to the platform's audit log.
create function audit_erasure() returns trigger language plpgsql security definer as $$
begin
    perform audit_write(null, case when tg_op = 'INSERT' then 'tenant.erasure_started' else 'tenant.erased' end, 'tenant',
        new.tenant_id::text, new.slug, 'done', '', null, to_json(new));
    return null;
end
$$;

create trigger audit_started after insert on tenant_erasures for each row execute function audit_erasure();
create trigger audit_finished after update of finished_at on tenant_erasures for each row
    when (new.finished_at is not null and old.finished_at is null) execute function audit_erasure();

-- Rows of the audit log, and heads of its chains, are deleted with their tenant alone: when its
-- erasure has begun and its keys are destroyed.
create function keep_audit() returns trigger language plpgsql security definer as $$
begin
    if exists (select from tenant_erasures e where e.tenant_id = old.tenant_id and e.keys_destroyed_at is not null
        and e.finished_at is null)
    then
        return old;
    end if;
    raise exception 'what stands in % is immutable', tg_table_name using errcode = 'restrict_violation';
end
$$;

create or replace trigger audit_log_kept before delete on audit_log for each row execute function keep_audit();
create or replace trigger audit_heads_kept before delete on audit_heads for each row execute function keep_audit();

create policy erased_delete on audit_log for delete to toolcrib_owner
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);

-- Tools, and what was decided about them, are never deleted otherwise: what once ran stays known.
do $$
declare
    t text;
begin
    foreach t in array '{tool_registry,tool_versions,tool_aliases,tool_override_versions}'::text[] loop
        execute format('create policy erased_delete on %1$I for delete to toolcrib_owner
            using (tenant_id = nullif(current_setting(''app.tenant_id'', true), '''')::uuid
                and exists (select from tenant_erasures e where e.tenant_id = %1$I.tenant_id))', t);
    end loop;
end
$$;

-- Ids and slugs of erased tenants are not used again: Temporal, stores of objects, backups and
-- lists of tenants that may use a global tool may still have them. An erasure is not undone.
create function guard_erased_tenant() returns trigger language plpgsql security definer as $$
begin
    if tg_op = 'INSERT' and exists (select from tenant_erasures e where e.tenant_id = new.id or e.slug = new.slug) then
        raise exception 'tenant % was erased', new.slug using errcode = 'unique_violation';
    elsif tg_op = 'UPDATE' and new.status <> 'suspended' and exists (select from tenant_erasures e where e.tenant_id = new.id) then
        raise exception 'tenant % is being erased', new.slug using errcode = 'restrict_violation';
    end if;
    return new;
end
$$;

create trigger tenants_erased before insert or update of status on tenants for each row execute function guard_erased_tenant();

-- Begins the erasure of a suspended tenant, or returns the one that has begun.
create function begin_tenant_erasure(p_tenant uuid, p_counts json) returns setof tenant_erasures language plpgsql as $$
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
$$;

-- Destroys the secrets of a tenant whose erasure has begun: its data keys, and what they encrypt.
create function destroy_tenant_keys(p_tenant uuid) returns void language plpgsql as $$
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
$$;

do $$
declare
    name text;
begin
    foreach name in array array['audit_write(uuid, text, text, text, text, text, text, json, json)', 'audit_erasure()', 'keep_audit()',
        'guard_erased_tenant()', 'begin_tenant_erasure(uuid, json)', 'destroy_tenant_keys(uuid)']
    loop
        execute format('alter function %s set search_path = %I, pg_temp', name, current_schema());
        execute format('revoke all on function %s from public', name);
    end loop;
end
$$;
