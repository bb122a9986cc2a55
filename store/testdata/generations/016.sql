-- The queries of the binaries that know schema version 16, as they run.

-- name: AddAgentVersion
insert into agent_versions as v (id, agent_id, tenant_id, version, digest, snapshot, published, published_at)
values ($1, $2, $3, $4, $5, $6, $7, $8)
on conflict (tenant_id, agent_id, version) do update
    set published    = v.published or excluded.published,
        published_at = case when v.published then v.published_at else excluded.published_at end
    where v.digest = excluded.digest
returning id, agent_id, tenant_id, version, digest, snapshot, published, published_at, created_at;

-- name: CreateAgent
insert into agents (id, tenant_id, slug, name, definition, status, version, published_at)
values ($1, $2, $3, $4, $5, $6, $7, $8)
returning id, tenant_id, slug, name, definition, status, version, revision, published_at, created_at, updated_at;

-- name: FindAgentByID
select id, tenant_id, slug, name, definition, status, version, revision, published_at, created_at, updated_at from agents where tenant_id = $1 and id = $2;

-- name: FindAgentBySlug
select id, tenant_id, slug, name, definition, status, version, revision, published_at, created_at, updated_at from agents where tenant_id = $1 and slug = $2;

-- name: ListAgentVersions
select id, agent_id, tenant_id, version, digest, snapshot, published, published_at, created_at from agent_versions where tenant_id = $1 and agent_id = $2 order by id desc;

-- name: ListAgents
select id, tenant_id, slug, name, definition, status, version, revision, published_at, created_at, updated_at from agents where tenant_id = $1 and slug > $2
order by slug limit $3::int;

-- name: UpdateAgent
update agents set
    slug = $1, name = $2, definition = $3, status = $4, version = $5,
    published_at = $6, revision = revision + 1, updated_at = now()
where tenant_id = $7 and id = $8 and revision = $9
returning id, tenant_id, slug, name, definition, status, version, revision, published_at, created_at, updated_at;

-- name: FindToolsByAlias
select t.id, t.tenant_id, t.scope_id, t.scope, t.slug, t.name, t.description, t.category, t.icon, t.schema, t.config_schema, t.interaction, t.implementation_type, t.egress_class, t.requires_approval, t.permission_policy, t.required_permission, t.tenant_slugs, t.status, t.is_active, t.is_system, t.builtin_key, t.builtin_template_id, t.is_builtin_template, t.artifact_id, t.artifact_version, t.version, t.revision, t.published_at, t.created_at, t.updated_at, t.egress_rules, t.quarantine, coalesce(a.remove_by::text, '')::text as remove_by
from tool_aliases a
join tool_registry t on t.id = a.tool_id and t.scope_id = a.scope_id
where a.scope_id in ($1, '00000000-0000-0000-0000-000000000000') and a.alias = $2
  and (a.remove_by is null or a.remove_by >= (now() at time zone 'utc')::date)
order by t.tenant_id nulls last;

-- name: KeepToolAliases
insert into tool_aliases as a (tenant_id, alias, tool_id, remove_by)
select $1, n.alias, $2, nullif(n.remove_by, '')::date
from (select unnest($3::text[]) as alias, unnest($4::text[]) as remove_by) n
order by n.alias
on conflict (scope_id, alias) do update
    set tool_id = excluded.tool_id, remove_by = excluded.remove_by
    where a.tool_id = excluded.tool_id or a.remove_by < (now() at time zone 'utc')::date
returning a.alias;

-- name: ListVersionsByAlias
select v.tool_id, v.id, v.version, v.digest, v.published
from tool_aliases a
join tool_versions v on v.tool_id = a.tool_id and v.scope_id = a.scope_id
where a.scope_id in ($1, '00000000-0000-0000-0000-000000000000') and a.alias = $2
order by v.id;

-- name: AddArtifactVersion
insert into artifact_versions (tenant_id, artifact_id, version, digest, inputs, content, created_by)
values ($1, $2, $3, $4, $5, $6, $7)
returning version, digest, inputs, octet_length(content)::int as size, created_by, created_at;

-- name: CreateArtifact
insert into artifacts (id, tenant_id, slug, name, description, language, status, created_by)
values ($1, $2, $3, $4, $5, $6, $7, $8)
returning id, tenant_id, slug, name, description, language, status, version, revision, created_by, created_at, updated_at;

-- name: FindArtifactByID
select id, tenant_id, slug, name, description, language, status, version, revision, created_by, created_at, updated_at from artifacts where tenant_id = $1 and id = $2;

-- name: FindArtifactBySlug
select id, tenant_id, slug, name, description, language, status, version, revision, created_by, created_at, updated_at from artifacts where tenant_id = $1 and slug = $2;

-- name: ListArtifactVersions
select v.version, v.digest, v.inputs, octet_length(v.content)::int as size, v.created_by, v.created_at
from artifact_versions v
where v.tenant_id = $1 and v.artifact_id = $2
order by v.created_at desc, v.version desc;

-- name: ListArtifacts
select id, tenant_id, slug, name, description, language, status, version, revision, created_by, created_at, updated_at from artifacts where tenant_id = $1 and slug > $2
order by slug limit $3::int;

-- name: LoadArtifact
select a.language, v.digest, v.inputs, v.content
from artifact_versions v
join artifacts a on a.tenant_id = v.tenant_id and a.id = v.artifact_id
where v.tenant_id = $1 and v.artifact_id = $2 and v.version = $3;

-- name: UpdateArtifact
update artifacts set
    name = $1, description = $2, status = $3, version = $4,
    revision = revision + 1, updated_at = now()
where tenant_id = $5 and id = $6 and revision = $7
returning id, tenant_id, slug, name, description, language, status, version, revision, created_by, created_at, updated_at;

-- name: SetTenant
select set_config('app.tenant_id', $1::text, true);

-- name: SetTenantPlanOnce
select set_config('app.tenant_id', $1::text, true), set_config('plan_cache_mode', 'force_generic_plan', true);

-- name: AddDataKey
with added as (
    insert into tenant_keys (tenant_id, version, wrapped, kek_id)
    values ($1, $2, $3, $4)
    on conflict (tenant_id, version) do nothing
    returning tenant_id, version, wrapped, kek_id, created_at, updated_at
)
select a.tenant_id, a.version, a.wrapped, a.kek_id, a.created_at, a.updated_at from added a
union all
select k.tenant_id, k.version, k.wrapped, k.kek_id, k.created_at, k.updated_at from tenant_keys k where k.tenant_id = $1 and k.version = $2 and not exists (select from added);

-- name: ChangeCredential
update credentials c set
    category = $1, provider_key = $2, provider_variant = $3, hosts = $4,
    rotated_at = case when c.version = $5 then c.rotated_at else now() end,
    version = $5, key_version = $6, ciphertext = $7, expires_at = $8,
    revision = c.revision + 1, updated_at = now()
where c.tenant_id = $9 and c.id = $10 and c.revision = $11 and c.revoked_at is null
  and c.key_version <= $6
returning tenant_id, id, ref, category, provider_key, provider_variant, hosts, version, key_version, ciphertext, revision, created_at, updated_at, rotated_at, last_used_at, expires_at, revoked_at;

-- name: CreateCredential
insert into credentials (tenant_id, id, ref, category, provider_key, provider_variant, hosts, version, key_version, ciphertext, expires_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
returning tenant_id, id, ref, category, provider_key, provider_variant, hosts, version, key_version, ciphertext, revision, created_at, updated_at, rotated_at, last_used_at, expires_at, revoked_at;

-- name: FindCredential
select c.tenant_id, c.id, c.ref, c.category, c.provider_key, c.provider_variant, c.hosts, c.version, c.key_version, c.ciphertext, c.revision, c.created_at, c.updated_at, c.rotated_at, c.last_used_at, c.expires_at, c.revoked_at, k.tenant_id, k.version, k.wrapped, k.kek_id, k.created_at, k.updated_at, (c.expires_at is not null and c.expires_at <= now())::boolean as expired
from credentials c
join tenant_keys k on k.tenant_id = c.tenant_id and k.version = c.key_version
where c.tenant_id = $1 and c.id = $2 and c.revoked_at is null;

-- name: ListCredentials
select tenant_id, id, ref, category, provider_key, provider_variant, hosts, version, key_version, ciphertext, revision, created_at, updated_at, rotated_at, last_used_at, expires_at, revoked_at from credentials
where tenant_id = $1 and ref > $2 and revoked_at is null
order by ref limit $3::int;

-- name: ListDataKeys
select k.tenant_id, k.version, k.wrapped, k.kek_id, k.created_at, k.updated_at, (
    select count(*) from credentials c where c.tenant_id = k.tenant_id and c.key_version = k.version and c.revoked_at is null
)::bigint as credentials
from tenant_keys k
where k.tenant_id = $1
order by k.version;

-- name: ListSealedBefore
select c.tenant_id, c.id, c.ref, c.category, c.provider_key, c.provider_variant, c.hosts, c.version, c.key_version, c.ciphertext, c.revision, c.created_at, c.updated_at, c.rotated_at, c.last_used_at, c.expires_at, c.revoked_at, k.tenant_id, k.version, k.wrapped, k.kek_id, k.created_at, k.updated_at, false as expired
from credentials c
join tenant_keys k on k.tenant_id = c.tenant_id and k.version = c.key_version
where c.tenant_id = $1 and c.key_version < $2 and c.revoked_at is null
order by c.id limit $3::int;

-- name: NewestDataKey
select tenant_id, version, wrapped, kek_id, created_at, updated_at from tenant_keys where tenant_id = $1 order by version desc limit 1;

-- name: NoteCredentialUse
update credentials set last_used_at = now()
where tenant_id = $1 and id = $2 and revoked_at is null
  and (last_used_at is null or last_used_at < now() - interval '1 minute');

-- name: OpenCredential
select c.tenant_id, c.id, c.ref, c.category, c.provider_key, c.provider_variant, c.hosts, c.version, c.key_version, c.ciphertext, c.revision, c.created_at, c.updated_at, c.rotated_at, c.last_used_at, c.expires_at, c.revoked_at, k.tenant_id, k.version, k.wrapped, k.kek_id, k.created_at, k.updated_at, (c.expires_at is not null and c.expires_at <= now())::boolean as expired
from credentials c
join tenant_keys k on k.tenant_id = c.tenant_id and k.version = c.key_version
where c.tenant_id = $1 and c.ref = $2 and c.revoked_at is null;

-- name: OpenSelected
select c.tenant_id, c.id, c.ref, c.category, c.provider_key, c.provider_variant, c.hosts, c.version, c.key_version, c.ciphertext, c.revision, c.created_at, c.updated_at, c.rotated_at, c.last_used_at, c.expires_at, c.revoked_at, k.tenant_id, k.version, k.wrapped, k.kek_id, k.created_at, k.updated_at, (c.expires_at is not null and c.expires_at <= now())::boolean as expired
from credentials c
join tenant_keys k on k.tenant_id = c.tenant_id and k.version = c.key_version
where c.tenant_id = $1 and c.category = $2 and c.provider_key = $3
  and c.provider_variant = $4 and c.category <> '' and c.revoked_at is null;

-- name: ResealCredential
update credentials set ciphertext = $1, key_version = $2
where tenant_id = $3 and id = $4 and revision = $5 and version = $6 and revoked_at is null;

-- name: RevokeCredential
update credentials set revoked_at = now(), ciphertext = null, revision = revision + 1, updated_at = now()
where tenant_id = $1 and id = $2 and revoked_at is null
returning tenant_id, id, ref, category, provider_key, provider_variant, hosts, version, key_version, ciphertext, revision, created_at, updated_at, rotated_at, last_used_at, expires_at, revoked_at;

-- name: RewrapDataKey
update tenant_keys set wrapped = $1, kek_id = $2, updated_at = now()
where tenant_id = $3 and version = $4 and kek_id = $5;

-- name: EventHorizon
select pg_snapshot_xmin(pg_current_snapshot())::text;

-- name: ListEvents
select id, tenant_id, run_id, seq, type, invocation_id, data, xid, at from run_events
where tenant_id = $1 and run_id = $2 and seq > $3
order by seq
limit $4::int;

-- name: ListTenantEvents
select id, tenant_id, run_id, seq, type, invocation_id, data, xid, at from run_events
where tenant_id = $1
  and (xid > ($2::text)::xid8 or (xid = ($2::text)::xid8 and id > $3))
  and xid < pg_snapshot_xmin(pg_current_snapshot())
order by xid, id
limit $4::int;

-- name: NotifyEvents
select pg_notify('toolcrib_events', n.payload) from unnest($1::text[]) as n (payload);

-- name: BeginRequest
with taken as (
    insert into idempotency_keys as k (tenant_id, subject, key_hash, id, digest, lease_until, expires_at)
    values ($1, $2, $3, $4, $5,
        now() + make_interval(secs => $6::float8), now() + make_interval(secs => $7::float8))
    on conflict (tenant_id, subject, key_hash) do update
        set id          = case when k.expires_at <= now() then excluded.id else k.id end,
            created_at  = case when k.expires_at <= now() then now() else k.created_at end,
            expires_at  = case when k.expires_at <= now() then excluded.expires_at else k.expires_at end,
            digest      = excluded.digest,
            fence       = k.fence + 1,
            lease_until = excluded.lease_until,
            status      = null,
            header      = null,
            body        = null
        where k.expires_at <= now() or k.status is null and k.lease_until <= now() and k.digest = excluded.digest
    returning k.id, k.digest, k.fence
)
select t.id, t.digest, t.fence, true as taken, null::integer as status, null::json as header, null::bytea as body
from taken t
union all
select k.id, k.digest, k.fence, false, k.status, k.header, k.body
from idempotency_keys k
where k.tenant_id = $1 and k.subject = $2 and k.key_hash = $3 and k.expires_at > now()
  and not exists (select from taken);

-- name: FinishRequest
update idempotency_keys set status = $1::integer, header = $2, body = $3
where tenant_id = $4 and subject = $5 and key_hash = $6 and fence = $7 and status is null;

-- name: ReleaseRequest
update idempotency_keys set lease_until = now()
where tenant_id = $1 and subject = $2 and key_hash = $3 and fence = $4 and status is null;

-- name: SweepRequests
select sweep_idempotency_keys($1::int)::int as gone;

-- name: FindInvocation
select id, tenant_id, run_id, turn, position, call_id, effect_id, tool_id, tool_scope_id, tool, version, digest, implementation_type, subject, agent_id, mode, status, approval_required, approval_status, approval_decided_by, approval_reason, egress_class, attempt, input, receipt, output, is_error, error_kind, error, cost_estimate, created_at, started_at, completed_at, parent_id from tool_invocations where tenant_id = $1 and id = $2;

-- name: ListInvocations
select id, tenant_id, run_id, turn, position, call_id, effect_id, tool_id, tool_scope_id, tool, version, digest, implementation_type, subject, agent_id, mode, status, approval_required, approval_status, approval_decided_by, approval_reason, egress_class, attempt, input, receipt, output, is_error, error_kind, error, cost_estimate, created_at, started_at, completed_at, parent_id from tool_invocations
where tenant_id = $1
  and ($2::uuid is null or id < $2)
  and ($3::text = '' or status = $3)
  and ($4::text = '' or tool = $4)
  and ($5::text = '' or error_kind = $5)
  and ($6::uuid is null or run_id = $6)
  and ($7::uuid is null or agent_id = $7)
  and ($8::uuid is null or parent_id = $8)
  and ($9::timestamptz is null or created_at >= $9)
  and ($10::timestamptz is null or created_at < $10)
order by id desc
limit $11::int;

-- name: CreateKey
with maker as (
    select m.id from api_keys m
    where m.tenant_id = $2 and m.id = $9::uuid and m.revoked_at is null
    for share
)
insert into api_keys (id, tenant_id, name, secret_hash, permissions, scopes, created_by, expires_at)
select $1, $2, $3, $4, $5, $6, $7, $8
where $9::uuid is null or exists (select from maker)
returning id, tenant_id, name, secret_hash, permissions, scopes, created_by, expires_at, revoked_at, last_used_at, created_at;

-- name: FindKey
select id, tenant_id, name, secret_hash, permissions, scopes, created_by, expires_at, revoked_at, last_used_at, created_at from api_keys where tenant_id = $1 and id = $2;

-- name: ListKeys
select id, tenant_id, name, secret_hash, permissions, scopes, created_by, expires_at, revoked_at, last_used_at, created_at from api_keys where tenant_id = $1 order by id;

-- name: LockKeys
select pg_advisory_xact_lock(hashtextextended('api_keys of ' || $1::text, 0));

-- name: LockKeysShared
select pg_advisory_xact_lock_shared(hashtextextended('api_keys of ' || $1::text, 0));

-- name: RevokeKey
update api_keys set revoked_at = coalesce(revoked_at, now())
where tenant_id = $1 and id = $2
returning id, tenant_id, name, secret_hash, permissions, scopes, created_by, expires_at, revoked_at, last_used_at, created_at;

-- name: RevokeMadeKeys
with recursive made as (
    select c.id from api_keys c where c.tenant_id = $1 and c.created_by = 'key:' || $2::text
    union
    select c.id from api_keys c join made m on c.created_by = 'key:' || m.id::text where c.tenant_id = $1
)
update api_keys a set revoked_at = now()
where a.tenant_id = $1 and a.revoked_at is null and a.id in (select made.id from made);

-- name: UseKey
with used as (
    update api_keys u set last_used_at = now()
    where u.tenant_id = $1 and u.id = $2 and u.secret_hash = $3
      and u.revoked_at is null and (u.expires_at is null or u.expires_at > now())
      and (u.last_used_at is null or u.last_used_at < now() - interval '1 minute')
)
select k.id, k.tenant_id, k.name, k.secret_hash, k.permissions, k.scopes, k.created_by, k.expires_at, k.revoked_at, k.last_used_at, k.created_at, n.status as tenant_status, (k.expires_at is not null and k.expires_at <= now())::boolean as expired
from api_keys k
join tenants n on n.id = k.tenant_id
where k.tenant_id = $1 and k.id = $2;

-- name: AdmitCall
with authority as (
    select t.id as tool_id, t.scope_id, t.egress_class, t.egress_rules, t.requires_approval, t.permission_policy, t.required_permission,
           t.tenant_id, t.tenant_slugs, t.status = 'deprecated' as deprecated,
           m.prepared -> $5::int -> 'arguments' as stored_arguments,
           coalesce($6::text, m.prepared -> $5::int ->> 'arguments_digest', '') as arguments_digest,
           case
               when n.status <> 'active' then 'tenant_suspended'
               when $7::uuid is not null and r.id is null then 'run_unknown'
               when i.effect_id <> $4 then 'invocation_taken'
               when t.id is null or not (t.tenant_slugs = '{}' or n.slug = any (t.tenant_slugs)) then 'tool_unknown'
               when t.required_permission <> '' and not (array[t.required_permission, '*'] && $8::text[])
                   then 'permission_missing'
               when t.status = 'disabled' or not t.is_active then 'tool_disabled'
               when t.quarantine <> '' then 'tool_quarantined'
               when $9::text = 'artifact' and exists (
                   select from artifacts af
                   where af.tenant_id = n.id and af.status = 'disabled'
                     and af.id::text = coalesce(v.artifact_id, t.config_schema -> 'artifact' ->> 'id')) then 'artifact_disabled'
               when $10::text = 'production' and t.status = 'draft' then 'tool_draft'
               when $10 = 'production' and not v.known then 'version_unknown'
               when $10 = 'production' and not v.published then 'version_unpublished'
               when $11::boolean and m.prepared -> $5::int -> 'arguments' is null then 'arguments_unknown'
               else 'granted'
           end as verdict
    from tenants n
    left join runs r on r.tenant_id = n.id and r.id = $7
    left join tool_registry t on t.id = $12::uuid
                             and t.scope_id in (n.id, '00000000-0000-0000-0000-000000000000')
    left join messages m on $11 and m.tenant_id = n.id and m.run_id = $7
                        and m.id = $13::uuid
    left join tool_invocations i on i.tenant_id = n.id and i.id = $1
    left join lateral (
        select count(*) > 0 as known, coalesce(bool_or(tv.published), false) as published,
               max(case when $9 = 'artifact' then tv.schema_snapshot -> 'artifact' ->> 'id' end) as artifact_id
        from tool_versions tv
        where tv.tool_id = t.id and tv.scope_id = t.scope_id and tv.digest = $2
    ) v on true
    where n.id = $3
), admitted as (
    insert into effects as e (tenant_id, effect_id, phase, fence, attempt, invocation_id, version_digest, arguments_digest)
    select $3, $4, case when $14::boolean then 'sent' else 'admitted' end, 1, 1,
           $1, $2, a.arguments_digest
    from authority a
    where a.verdict = 'granted'
    on conflict (tenant_id, effect_id) do update
        set phase = excluded.phase, fence = e.fence + 1, attempt = e.attempt + 1,
            sent_before = e.sent_before or e.phase = 'sent'
        where e.version_digest = excluded.version_digest and e.arguments_digest = excluded.arguments_digest
          and (e.phase in ('accepted', 'admitted') or (e.phase = 'sent' and $15::boolean))
    returning e.effect_id, e.invocation_id, e.fence, e.attempt
), invocation as (
    insert into tool_invocations as i (id, tenant_id, run_id, turn, position, call_id, effect_id, tool_id, tool_scope_id, tool,
        version, digest, implementation_type, subject, agent_id, mode, status, egress_class, approval_required, attempt, input, receipt,
        started_at, parent_id)
    select e.invocation_id, $3, $7, $16, $5, $17, e.effect_id, a.tool_id, a.scope_id, $18,
           $19, $2, $9, $20, $21::uuid, $10, 'running', a.egress_class,
           a.requires_approval or a.permission_policy = 'always_ask', e.attempt,
           coalesce($22::json, a.stored_arguments), $23::json, now(),
           $24::uuid
    from admitted e cross join authority a
    on conflict (tenant_id, id) do update
        set status = 'running', attempt = excluded.attempt, egress_class = excluded.egress_class,
            started_at = coalesce(i.started_at, excluded.started_at)
        where i.status in ('pending', 'approved', 'running', 'waiting')
), numbered as (
    update runs r set last_seq = r.last_seq + case when a.deprecated and e.attempt = 1 then 2 else 1 end
    from admitted e cross join authority a
    where r.tenant_id = $3 and r.id = $7
    returning r.last_seq, a.deprecated and e.attempt = 1 as warned
), events as (
    insert into run_events (tenant_id, run_id, seq, type, invocation_id, data)
    select $3, $7, n.last_seq - n.warned::int, 'tool.started', e.invocation_id,
           json_build_object('tool', $18::text, 'version', $19::text, 'call_id', $17::text, 'attempt', e.attempt)
    from numbered n cross join admitted e
    union all
    select $3, $7, n.last_seq, 'tool.warning', e.invocation_id,
           json_build_object('tool', $18::text, 'version', $19::text, 'call_id', $17::text, 'reason', 'deprecated')
    from numbered n cross join admitted e
    where n.warned
), answer as (
    -- A settled effect answers this call too, wherever in a forked transcript it stands.
    insert into messages (id, tenant_id, run_id, parent_id, turn, position, role, content, call_id, is_error)
    select $25, $3, $7, $13, $16, $5, 'tool',
           answer_content(e.result, e.error_kind, e.error), $17, answer_is_error(e.result)
    from effects e cross join authority a
    where e.tenant_id = $3 and e.effect_id = $4 and e.phase = 'done'
      and e.version_digest = $2 and e.arguments_digest = a.arguments_digest
      and $13 is not null
    on conflict do nothing
)
select a.verdict::text as verdict,
       coalesce(a.egress_class, '')::text as egress_class,
       a.egress_rules::json as egress_rules,
       coalesce(a.requires_approval, false)::boolean as requires_approval,
       coalesce(a.permission_policy, '')::text as permission_policy,
       coalesce(a.required_permission, '')::text as required_permission,
       (case when a.tenant_id is null then '{}' else a.tenant_slugs end)::text[] as tenant_slugs,
       coalesce(a.deprecated, false)::boolean as deprecated,
       a.stored_arguments::json as stored_arguments,
       coalesce(e.invocation_id, p.invocation_id, $1)::uuid as invocation_id,
       coalesce(e.fence, 0)::bigint as fence,
       coalesce(e.attempt, 0)::int as attempt,
       coalesce(p.phase, '')::text as prior_phase,
       coalesce(p.version_digest = $2 and p.arguments_digest = a.arguments_digest, true)::boolean as same_call,
       coalesce(p.status, '')::text as status,
       p.result::json as result,
       coalesce(p.error_kind, '')::text as error_kind,
       coalesce(p.error, '')::text as error
from authority a
left join admitted e on true
left join effects p on p.tenant_id = $3 and p.effect_id = $4;

-- name: ListEffects
select e.effect_id, e.invocation_id, e.phase, coalesce(e.status, '') as status, e.result,
       coalesce(e.error_kind, '') as error_kind, coalesce(e.error, '') as error, i.input
from effects e
left join tool_invocations i on i.tenant_id = e.tenant_id and i.id = e.invocation_id
where e.tenant_id = $1 and e.effect_id = any ($2::text[]);

-- name: MarkSent
with moved as (
    update effects e set phase = 'sent'
    where e.tenant_id = $1 and e.effect_id = $2 and e.phase = 'admitted' and e.fence = $3
    returning e.effect_id
)
select exists (select from moved) as moved,
       exists (select from effects e where e.tenant_id = $1 and e.effect_id = $2) as known;

-- name: MarkUnsent
with moved as (
    update effects e set phase = 'admitted'
    where e.tenant_id = $1 and e.effect_id = $2 and e.phase = 'sent' and e.fence = $3
    returning e.effect_id
)
select exists (select from moved) as moved,
       exists (select from effects e where e.tenant_id = $1 and e.effect_id = $2) as known;

-- name: SettleCall
with call as (
    select t.id as tool_id, t.scope_id, t.egress_class,
           coalesce($1::json, m.prepared -> $2::int -> 'arguments') as arguments,
           coalesce($3::text, m.prepared -> $2::int ->> 'arguments_digest') as arguments_digest
    from tenants n
    left join tool_registry t on t.id = $4::uuid
                             and t.scope_id in (n.id, '00000000-0000-0000-0000-000000000000')
    left join messages m on $5::boolean and m.tenant_id = n.id and m.run_id = $6::uuid
                        and m.id = $7::uuid
    where n.id = $8
), prior as (
    select e.effect_id, e.tenant_id, e.phase, e.fence, e.attempt, e.sent_before, e.invocation_id, e.version_digest, e.arguments_digest, e.status, e.result, e.error_kind, e.error, e.created_at, e.done_at, $9::bigint = 0 and (coalesce(e.version_digest <> nullif($10::text, ''), false)
                                     or coalesce(e.arguments_digest <> c.arguments_digest, false)) as other_call
    from effects e cross join call c
    where e.tenant_id = $8 and e.effect_id = $11::text
), closed as (
    insert into effects as e (tenant_id, effect_id, phase, fence, attempt, invocation_id, version_digest, arguments_digest,
                              status, result, error_kind, error, done_at)
    select $8, $11::text, 'done', 0, 0, $12, $10, coalesce(c.arguments_digest, ''),
           $13::text, $14::json, $15::text, $16::text, now()
    from call c
    where $11 is not null
      and ($9 = 0 or exists (select from prior))
      and not exists (select from prior p where p.other_call or p.phase = 'done')
    on conflict (tenant_id, effect_id) do update
        set phase = 'done', done_at = now(), result = excluded.result,
            status = case when $17::boolean and (e.phase = 'sent' or e.sent_before) and excluded.result is null
                          then 'unknown' else excluded.status end,
            error_kind = case when $17 and (e.phase = 'sent' or e.sent_before) and excluded.result is null
                          then 'unknown' else excluded.error_kind end,
            error = case when $17 and (e.phase = 'sent' or e.sent_before) and excluded.result is null
                          then $18::text else excluded.error end
        where e.phase <> 'done'
          and case $9 when 0
              then not (coalesce(e.version_digest <> nullif(excluded.version_digest, ''), false)
                     or coalesce(e.arguments_digest <> nullif(excluded.arguments_digest, ''), false))
              else e.fence = $9 end
    returning e.effect_id, e.invocation_id, e.status, e.result, e.error_kind, e.error, e.attempt
), ending as (
    select c.effect_id, c.invocation_id, c.status, c.result, c.error_kind, c.error, c.attempt from closed c
    union all
    select null, $12, $13::text, $14::json, $15::text, $16::text, 0
    where $11 is null or exists (select from prior p where p.other_call)
), invocation as (
    insert into tool_invocations as i (id, tenant_id, run_id, turn, position, call_id, effect_id, tool_id, tool_scope_id, tool,
        version, digest, implementation_type, subject, agent_id, mode, status, egress_class, attempt, input, receipt,
        output, is_error, error_kind, error, completed_at, parent_id)
    select d.invocation_id, $8, $6, $19, $2, $20, d.effect_id, c.tool_id, c.scope_id, $21,
           $22, $10, $23, $24, $25::uuid, $26, d.status,
           coalesce(c.egress_class, ''), d.attempt, c.arguments, $27::json,
           d.result, answer_is_error(d.result), d.error_kind, d.error, now(), $28::uuid
    from ending d cross join call c
    on conflict (tenant_id, id) do update
        set status = excluded.status, output = excluded.output, is_error = excluded.is_error,
            error_kind = excluded.error_kind, error = excluded.error, completed_at = excluded.completed_at
        where i.status in ('pending', 'approved', 'running', 'waiting')
    returning i.id, i.started_at
), outcome as (
    select true as won, d.invocation_id, d.status, d.result, d.error_kind, d.error
    from ending d join invocation i on i.id = d.invocation_id
    union all
    select false, p.invocation_id, p.status, p.result, p.error_kind, p.error
    from prior p where p.phase = 'done' and not p.other_call
    union all
    select false, i.id, i.status, i.output, i.error_kind, i.error
    from tool_invocations i
    where i.tenant_id = $8 and i.id = $12 and i.status not in ('pending', 'approved', 'running', 'waiting')
      and ($11 is null or exists (select from prior p where p.other_call))
), numbered as (
    update runs r set last_seq = r.last_seq + case when $29::text is null then 1 else 2 end
    from invocation i
    where r.tenant_id = $8 and r.id = $6
    returning r.last_seq
), event as (
    insert into run_events (tenant_id, run_id, seq, type, invocation_id, data)
    select $8, $6, n.last_seq - 1, 'tool.warning', o.invocation_id,
           json_build_object('tool', $21::text, 'version', $22::text, 'call_id', $20::text, 'reason', 'egress_drift',
               'declared', $30::text, 'attempted', $29::text)
    from numbered n join outcome o on o.won
    where $29 is not null
    union all
    select $8, $6, n.last_seq,
           case when o.status = $13 then $31::text else 'tool.failed' end, o.invocation_id,
           json_build_object('tool', $21::text, 'version', $22::text, 'call_id', $20::text, 'status', o.status,
               'kind', o.error_kind, 'is_error', answer_is_error(o.result),
               'ms', coalesce((extract(epoch from now() - i.started_at) * 1000)::bigint, 0))
    from numbered n cross join invocation i join outcome o on o.won
), answer as (
    insert into messages (id, tenant_id, run_id, parent_id, turn, position, role, content, call_id, is_error)
    select $32, $8, $6, $7, $19, $2, 'tool',
           answer_content(o.result, o.error_kind, o.error), $20, answer_is_error(o.result)
    from outcome o
    where $7 is not null
    on conflict do nothing
)
select coalesce(o.won, false)::boolean as won,
       o.invocation_id,
       coalesce(o.status, '')::text as status,
       o.result::json as result,
       coalesce(o.error_kind, '')::text as error_kind,
       coalesce(o.error, '')::text as error,
       p.fence as prior_fence
from call c
left join outcome o on true
left join prior p on true
limit 1;

-- name: DropMCPSession
update mcp_sessions set expires_at = now()
where tenant_id = $1 and run_id = $2 and server_key = $3
  and session_id = $4 and protocol = $5;

-- name: LoadMCPSession
with used as (
    update mcp_sessions u set expires_at = now() + make_interval(secs => $4::float8)
    where u.tenant_id = $1 and u.run_id = $2 and u.server_key = $3
      and u.expires_at > now() and u.expires_at < now() + make_interval(secs => $4::float8) / 2
)
select s.session_id, s.protocol, s.handshake, s.server, s.created_at
from mcp_sessions s
where s.tenant_id = $1 and s.run_id = $2 and s.server_key = $3 and s.expires_at > now();

-- name: SaveMCPSession
with kept as (
    insert into mcp_sessions as k (tenant_id, run_id, server_key, session_id, protocol, handshake, server, expires_at)
    values ($1, $2, $3, $4, $5, $6, $7, now() + make_interval(secs => $8::float8))
    on conflict (tenant_id, run_id, server_key) do update
        set session_id = excluded.session_id,
            protocol   = excluded.protocol,
            handshake  = excluded.handshake,
            server     = excluded.server,
            created_at = now(),
            expires_at = excluded.expires_at
        where k.expires_at <= now()
    returning k.session_id, k.protocol, k.handshake, k.server, k.created_at
)
select k.session_id, k.protocol, k.handshake, k.server, k.created_at from kept k
union all
select s.session_id, s.protocol, s.handshake, s.server, s.created_at
from mcp_sessions s
where s.tenant_id = $1 and s.run_id = $2 and s.server_key = $3 and s.expires_at > now()
  and not exists (select from kept);

-- name: TakeExpiredMCPSessions
select t.tenant_id::uuid as tenant_id, t.session_id::text as session_id, t.protocol::text as protocol, t.server::json as server
from take_expired_mcp_sessions($1::int) t;

-- name: ListMessages
select id, tenant_id, run_id, parent_id, turn, position, role, content, calls, prepared, turn_key, call_id, is_error, input_tokens, output_tokens, created_at from messages where tenant_id = $1 and run_id = $2;

-- name: ListTail
select id, tenant_id, run_id, parent_id, turn, position, role, content, calls, prepared, turn_key, call_id, is_error, input_tokens, output_tokens, created_at from messages m where m.tenant_id = $1 and m.run_id = $2 and m.id = $3
union all
select id, tenant_id, run_id, parent_id, turn, position, role, content, calls, prepared, turn_key, call_id, is_error, input_tokens, output_tokens, created_at from messages m
where m.tenant_id = $1 and m.run_id = $2 and m.parent_id = $3 and m.role = 'tool'
union all
select id, tenant_id, run_id, parent_id, turn, position, role, content, calls, prepared, turn_key, call_id, is_error, input_tokens, output_tokens, created_at from messages m
where m.tenant_id = $1 and m.run_id = $2 and m.turn_key = $4::text and m.id <> $3;

-- name: SaveTurn
with saved as (
    insert into messages (id, tenant_id, run_id, parent_id, turn, role, content, calls, prepared, turn_key, input_tokens, output_tokens)
    select $1, r.tenant_id, r.id, $2, $3, 'assistant', $4, $5, $6, $7, $8, $9
    from runs r where r.tenant_id = $10 and r.id = $11
    on conflict do nothing
    returning id, tenant_id, run_id, parent_id, turn, position, role, content, calls, prepared, turn_key, call_id, is_error, input_tokens, output_tokens, created_at
), refused as (
    select (f.item ->> 'invocation_id')::uuid as invocation_id, (f.item ->> 'position')::int as position,
           f.item ->> 'call_id' as call_id, f.item ->> 'name' as name, f.item -> 'arguments' as arguments,
           f.item -> 'receipt' as receipt, f.item ->> 'kind' as kind, f.item ->> 'msg' as msg,
           f.item -> 'content' as content, (f.item ->> 'answer_id')::uuid as answer_id,
           row_number() over (order by (f.item ->> 'position')::int) as place,
           p.pin ->> 'version' as version, p.pin ->> 'digest' as digest, p.pin ->> 'implementation_type' as implementation_type,
           t.id as tool_id, t.scope_id, t.egress_class
    from saved s
    cross join json_array_elements($12::json) as f (item)
    join runs r on r.tenant_id = s.tenant_id and r.id = s.run_id
    left join lateral json_array_elements(r.plan -> 'tools') as p (pin) on p.pin ->> 'slug' = f.item ->> 'slug'
    left join tool_registry t on t.id = (p.pin ->> 'tool_id')::uuid
                             and t.scope_id in (s.tenant_id, '00000000-0000-0000-0000-000000000000')
), numbered as (
    update runs r set head_message_id = s.id, turns = greatest(r.turns, s.turn),
        last_seq = r.last_seq + 1 + (select count(*) from refused)
    from saved s
    where r.tenant_id = s.tenant_id and r.id = s.run_id
    returning r.id, r.tenant_id, r.kind, r.agent_id, r.agent, r.agent_version, r.mode, r.subject, r.permissions, r.scopes, r.status, r.input, r.output, r.error_kind, r.error, r.workflow_id, r.first_run_id, r.head_message_id, r.turns, r.last_seq, r.plan, r.ended_by, r.created_at, r.started_at, r.completed_at, r.parent_run_id, r.parent_invocation_id, r.detached, r.depth, r.calls
), invocations as (
    insert into tool_invocations (id, tenant_id, run_id, turn, position, call_id, tool_id, tool_scope_id, tool, version, digest,
        implementation_type, subject, agent_id, mode, status, egress_class, input, receipt, is_error, error_kind, error, completed_at)
    select f.invocation_id, r.tenant_id, r.id, s.turn, f.position, f.call_id, f.tool_id, f.scope_id, f.name,
           coalesce(f.version, ''), coalesce(f.digest, ''), coalesce(f.implementation_type, ''), r.subject, r.agent_id, r.mode,
           'failed', coalesce(f.egress_class, ''), f.arguments, f.receipt, true, f.kind, f.msg, now()
    from refused f cross join saved s cross join numbered r
), answers as (
    insert into messages (id, tenant_id, run_id, parent_id, turn, position, role, content, call_id, is_error)
    select f.answer_id, s.tenant_id, s.run_id, s.id, s.turn, f.position, 'tool', f.content, f.call_id, true
    from refused f cross join saved s
), events as (
    insert into run_events (tenant_id, run_id, seq, type, invocation_id, data)
    select r.tenant_id, r.id, r.last_seq - (select count(*) from refused), 'agent.turn', null::uuid, $13::json from numbered r
    union all
    select r.tenant_id, r.id, r.last_seq - (select count(*) from refused) + f.place, 'tool.failed', f.invocation_id,
           json_build_object('tool', f.name, 'version', coalesce(f.version, ''), 'call_id', f.call_id, 'status', 'failed', 'kind', f.kind)
    from numbered r cross join refused f
)
select id, tenant_id, run_id, parent_id, turn, position, role, content, calls, prepared, turn_key, call_id, is_error, input_tokens, output_tokens, created_at from saved
union all
select id, tenant_id, run_id, parent_id, turn, position, role, content, calls, prepared, turn_key, call_id, is_error, input_tokens, output_tokens, created_at from messages m where m.tenant_id = $10 and m.run_id = $11 and m.turn_key = $7::text;

-- name: AppendOutput
with numbered as (
    update runs r set last_seq = r.last_seq + 1
    where r.tenant_id = $1 and r.id = $2
    returning r.last_seq
)
insert into run_output (tenant_id, run_id, seq, turn, attempt, call_id, text)
select $1, $2, n.last_seq, $3, $4, $5, $6
from numbered n
returning seq;

-- name: ListStream
with events as (
    select e.seq, e.type, e.invocation_id, e.data, 0 as turn, 0 as attempt, null::text as call_id, ''::text as text, e.at
    from run_events e
    where e.tenant_id = $2 and e.run_id = $3 and e.seq > $4
    order by e.seq
    limit $1::int
), output as (
    select o.seq, ''::text as type, null::uuid as invocation_id, null::json as data, o.turn, o.attempt, o.call_id, o.text, o.created_at as at
    from run_output o
    where o.tenant_id = $2 and o.run_id = $3 and o.seq > $4
    order by o.seq
    limit $1::int
)
select seq, type, invocation_id, data, turn, attempt, call_id, text, at from events
union all
select seq, type, invocation_id, data, turn, attempt, call_id, text, at from output
order by seq
limit $1::int;

-- name: RunProgress
select r.status, r.last_seq from runs r where r.tenant_id = $1 and r.id = $2;

-- name: CountEmbedded
select count(*)::int from chunks c
where c.tenant_id = $1 and c.document_id = $2 and c.version = $3 and not exists (
    select from unnest($4::integer[]) g (generation)
    where not exists (
        select from chunk_embeddings e
        where e.tenant_id = c.tenant_id and e.chunk_id = c.id and e.generation = g.generation));

-- name: CountPendingGeneration
select count(*)::int from (
    select from chunks c
    join documents d on d.tenant_id = c.tenant_id and d.id = c.document_id and d.live_version = c.version
    where c.tenant_id = $1 and d.pipeline_id = $2 and not exists (
        select from chunk_embeddings e
        where e.tenant_id = c.tenant_id and e.chunk_id = c.id and e.generation = $3)
    limit $4::int) pending;

-- name: CountTerms
select count(*)::int from (
    select from chunk_terms t where t.tenant_id = $1 and t.pipeline_id = $2 limit $3::int) matching;

-- name: CreatePipeline
insert into pipelines (
    id, tenant_id, slug, name, description, search, language, max_chars, overlap, embedding, generation, last_generation, disabled, created_by
) values (
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11, $12, $13
) returning id, tenant_id, number, slug, name, description, search, language, max_chars, overlap, embedding, generation, next_embedding, next_generation, last_generation, disabled, revision, created_by, created_at, updated_at, deleted_at;

-- name: DeleteDocument
delete from documents where tenant_id = $1 and pipeline_id = $2 and id = $3;

-- name: DeleteGenerations
delete from chunk_embeddings
where tenant_id = $1 and pipeline_id = $2 and generation <> $3 and generation <> $4;

-- name: DeleteOldChunks
with terms as (
    delete from chunk_terms t where t.tenant_id = $1 and t.document_id = $2 and t.version <> $3
), embeddings as (
    delete from chunk_embeddings e where e.tenant_id = $1 and e.document_id = $2 and e.version <> $3
)
delete from chunks c where c.tenant_id = $1 and c.document_id = $2 and c.version <> $3;

-- name: DeletePipeline
with gone as (
    delete from documents d where d.tenant_id = $1 and d.pipeline_id = $2
)
update pipelines p set
    deleted_at = now(), updated_at = now(), revision = p.revision + 1,
    embedding = null, generation = 0, next_embedding = null, next_generation = 0
where p.tenant_id = $1 and p.id = $2;

-- name: DropContent
delete from document_contents where tenant_id = $1 and document_id = $2;

-- name: FindDocument
select d.id, d.tenant_id, d.pipeline_id, d.key, d.title, d.own_title, d.media_type, d.source, d.metadata, d.digest, d.bytes, d.version, d.status, d.error, d.chunks, d.embedded, d.live_version, d.live_title, d.live_source, d.live_metadata, d.created_by, d.created_at, d.updated_at, d.ready_at from documents d join pipelines p on p.tenant_id = d.tenant_id and p.id = d.pipeline_id
where d.tenant_id = $1 and d.pipeline_id = $2 and p.deleted_at is null
  and (d.id = $3::uuid or d.key = $4::text)
order by d.id = $3::uuid desc nulls last limit 1;

-- name: FindDocumentByKey
select id, tenant_id, pipeline_id, key, title, own_title, media_type, source, metadata, digest, bytes, version, status, error, chunks, embedded, live_version, live_title, live_source, live_metadata, created_by, created_at, updated_at, ready_at from documents where tenant_id = $1 and pipeline_id = $2 and key = $3 for update;

-- name: FindPipeline
select p.id, p.tenant_id, p.number, p.slug, p.name, p.description, p.search, p.language, p.max_chars, p.overlap, p.embedding, p.generation, p.next_embedding, p.next_generation, p.last_generation, p.disabled, p.revision, p.created_by, p.created_at, p.updated_at, p.deleted_at, (select count(*) from documents d where d.tenant_id = p.tenant_id and d.pipeline_id = p.id)::int as documents
from pipelines p
where p.tenant_id = $1 and p.deleted_at is null and (p.id = $2::uuid or p.slug = $3::text);

-- name: FinishDocument
update documents set
    status = 'ready', error = '', embedded = $1, updated_at = now(), ready_at = now(),
    live_version = version, live_title = coalesce(nullif(title, ''), own_title), live_source = source, live_metadata = metadata
where tenant_id = $2 and id = $3
returning id, tenant_id, pipeline_id, key, title, own_title, media_type, source, metadata, digest, bytes, version, status, error, chunks, embedded, live_version, live_title, live_source, live_metadata, created_by, created_at, updated_at, ready_at;

-- name: HasDocuments
select exists (select from documents where tenant_id = $1 and pipeline_id = $2);

-- name: InsertChunks
with given as (
    select (c ->> 'id')::uuid as id, (c ->> 'position')::integer as position, c ->> 'text' as body,
           array(select jsonb_array_elements_text(c -> 'headings')) as headings,
           (c ->> 'start')::integer as start_at, (c ->> 'end')::integer as end_at, (c ->> 'page')::integer as page
    from jsonb_array_elements($8::jsonb) c
), kept as (
    insert into chunks (tenant_id, id, document_id, version, position, text, headings, start_at, end_at, page)
    select $1, g.id, $3, $4, g.position, g.body, g.headings, g.start_at, g.end_at, g.page from given g
)
insert into chunk_terms (tenant_id, pipeline_id, document_id, version, chunk_id, terms)
select $1, $2, $3, $4, g.id, prefix_lexemes($5, (
    setweight(to_tsvector(($6::text)::regconfig, $7::text), 'A')
    || setweight(to_tsvector(($6::text)::regconfig, array_to_string(g.headings, e'\n')), 'B')
    || to_tsvector(($6::text)::regconfig, g.body))::text)::tsvector
from given g;

-- name: InsertEmbeddings
insert into chunk_embeddings (tenant_id, pipeline_id, generation, document_id, version, chunk_id, embedding)
select $1, $2, $3, c.document_id, c.version, c.id, given.embedding
from (select unnest($4::uuid[]) as id, unnest($5::bytea[]) as embedding) given
join chunks c on c.tenant_id = $1 and c.id = given.id
join documents d on d.tenant_id = c.tenant_id and d.id = c.document_id and d.pipeline_id = $2
where $6::uuid is null or c.document_id = $6 and c.version = $7::bigint
on conflict (tenant_id, chunk_id, generation) do nothing;

-- name: ListDocuments
select d.id, d.tenant_id, d.pipeline_id, d.key, d.title, d.own_title, d.media_type, d.source, d.metadata, d.digest, d.bytes, d.version, d.status, d.error, d.chunks, d.embedded, d.live_version, d.live_title, d.live_source, d.live_metadata, d.created_by, d.created_at, d.updated_at, d.ready_at from documents d join pipelines p on p.tenant_id = d.tenant_id and p.id = d.pipeline_id
where d.tenant_id = $1 and d.pipeline_id = $2 and p.deleted_at is null and d.key > $3
  and ($4::text = '' or d.status = $4)
order by d.key limit $5::int;

-- name: ListPipelines
select id, tenant_id, number, slug, name, description, search, language, max_chars, overlap, embedding, generation, next_embedding, next_generation, last_generation, disabled, revision, created_by, created_at, updated_at, deleted_at from pipelines where tenant_id = $1 and slug > $2 and deleted_at is null
order by slug limit $3::int;

-- name: LockDocument
select id, tenant_id, pipeline_id, key, title, own_title, media_type, source, metadata, digest, bytes, version, status, error, chunks, embedded, live_version, live_title, live_source, live_metadata, created_by, created_at, updated_at, ready_at from documents where tenant_id = $1 and id = $2 for update;

-- name: LockPipeline
select id, tenant_id, number, slug, name, description, search, language, max_chars, overlap, embedding, generation, next_embedding, next_generation, last_generation, disabled, revision, created_by, created_at, updated_at, deleted_at from pipelines where tenant_id = $1 and id = $2 and deleted_at is null for update;

-- name: PendingEmbeddings
select c.id, c.headings, c.text from chunks c
where c.tenant_id = $1 and c.document_id = $2 and c.version = $3 and not exists (
    select from chunk_embeddings e
    where e.tenant_id = c.tenant_id and e.chunk_id = c.id and e.generation = $4)
order by c.position limit $5::int;

-- name: PendingGeneration
select c.id, d.live_title as title, c.headings, c.text from chunks c
join documents d on d.tenant_id = c.tenant_id and d.id = c.document_id and d.live_version = c.version
where c.tenant_id = $1 and d.pipeline_id = $2 and not exists (
    select from chunk_embeddings e
    where e.tenant_id = c.tenant_id and e.chunk_id = c.id and e.generation = $3)
limit $4::int;

-- name: PromoteGeneration
update pipelines set
    embedding = next_embedding, generation = next_generation, next_embedding = null, next_generation = 0,
    revision = revision + 1, updated_at = now()
where tenant_id = $1 and id = $2
returning id, tenant_id, number, slug, name, description, search, language, max_chars, overlap, embedding, generation, next_embedding, next_generation, last_generation, disabled, revision, created_by, created_at, updated_at, deleted_at;

-- name: PutContent
insert into document_contents (tenant_id, document_id, content) values ($1, $2, $3)
on conflict (tenant_id, document_id) do update set content = excluded.content;

-- name: PutDocument
insert into documents as d (
    id, tenant_id, pipeline_id, key, title, media_type, source, metadata, digest, bytes, created_by
) values (
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11
)
on conflict (tenant_id, pipeline_id, key) do update set
    title = excluded.title, own_title = '', media_type = excluded.media_type, source = excluded.source,
    metadata = excluded.metadata, digest = excluded.digest, bytes = excluded.bytes,
    version = d.version + 1, status = 'pending', error = '', chunks = 0, embedded = 0, updated_at = now()
returning id, tenant_id, pipeline_id, key, title, own_title, media_type, source, metadata, digest, bytes, version, status, error, chunks, embedded, live_version, live_title, live_source, live_metadata, created_by, created_at, updated_at, ready_at;

-- name: ReadChunks
select c.id, c.tenant_id, c.document_id, c.version, c.position, c.text, c.headings, c.start_at, c.end_at, c.page, d.key, d.live_title, d.live_source, d.live_metadata
from chunks c
join documents d on d.tenant_id = c.tenant_id and d.id = c.document_id
where c.tenant_id = $1 and c.id = any ($2::uuid[]);

-- name: ReadContent
select content from document_contents where tenant_id = $1 and document_id = $2;

-- name: ReadDocument
select id, tenant_id, pipeline_id, key, title, own_title, media_type, source, metadata, digest, bytes, version, status, error, chunks, embedded, live_version, live_title, live_source, live_metadata, created_by, created_at, updated_at, ready_at from documents where tenant_id = $1 and id = $2;

-- name: ReadPipeline
select id, tenant_id, number, slug, name, description, search, language, max_chars, overlap, embedding, generation, next_embedding, next_generation, last_generation, disabled, revision, created_by, created_at, updated_at, deleted_at from pipelines where tenant_id = $1 and id = $2 and deleted_at is null;

-- name: ReadQuery
select prefix_lexemes($1, websearch_to_tsquery(($2::text)::regconfig, $3)::text)::text as terms;

-- name: ScanEmbeddings
select e.chunk_id, e.embedding from chunk_embeddings e
join documents d on d.tenant_id = e.tenant_id and d.id = e.document_id and d.live_version = e.version
where e.tenant_id = $1 and e.pipeline_id = $2 and e.generation = $3 and d.pipeline_id = $2
  and ($4::jsonb = '[]' or metadata_fulfils(d.live_metadata, $4::jsonb));

-- name: SearchAnyTerms
with found as materialized (
    select t.chunk_id, ts_filter(t.terms, '{a,b,c,d}') as terms from chunk_terms t -- Read once, for all words.
    join documents d on d.tenant_id = t.tenant_id and d.id = t.document_id and d.live_version = t.version
    where t.tenant_id = $1 and t.pipeline_id = $2 and d.pipeline_id = $2
      and ($3::jsonb = '[]' or metadata_fulfils(d.live_metadata, $3::jsonb))
    limit $4::int
), words as materialized (
    select unnest($5::text[])::tsquery as word, unnest($6::float8[]) as weight
), ranked as (
    select f.chunk_id, (
        select sum(w.weight * ts_rank('{0.3, 0.4, 0.7, 1}', f.terms, w.word)) from words w)::float8 as score
    from found f
    order by score desc, f.chunk_id limit $7::int
)
select c.id, c.tenant_id, c.document_id, c.version, c.position, c.text, c.headings, c.start_at, c.end_at, c.page, d.key, d.live_title, d.live_source, d.live_metadata, r.score
from ranked r
join chunks c on c.tenant_id = $1 and c.id = r.chunk_id
join documents d on d.tenant_id = c.tenant_id and d.id = c.document_id
order by r.score desc, c.id;

-- name: SearchTerms
with found as materialized (
    select t.chunk_id, t.terms from chunk_terms t
    join documents d on d.tenant_id = t.tenant_id and d.id = t.document_id and d.live_version = t.version
    where t.tenant_id = $1 and t.pipeline_id = $2 and d.pipeline_id = $2
      and ($3::jsonb = '[]' or metadata_fulfils(d.live_metadata, $3::jsonb))
    limit $4::int
), ranked as (
    select f.chunk_id, ts_rank_cd('{0.3, 0.4, 0.7, 1}', f.terms, ($5::text)::tsquery, 1)::float8 as score from found f
    order by score desc, f.chunk_id limit $6::int
)
select c.id, c.tenant_id, c.document_id, c.version, c.position, c.text, c.headings, c.start_at, c.end_at, c.page, d.key, d.live_title, d.live_source, d.live_metadata, r.score
from ranked r
join chunks c on c.tenant_id = $1 and c.id = r.chunk_id
join documents d on d.tenant_id = c.tenant_id and d.id = c.document_id
order by r.score desc, c.id;

-- name: SetDocumentChunks
update documents set own_title = $1, chunks = $2, embedded = 0, updated_at = now()
where tenant_id = $3 and id = $4;

-- name: SetDocumentEmbedded
update documents set embedded = $1, updated_at = now() where tenant_id = $2 and id = $3
returning id, tenant_id, pipeline_id, key, title, own_title, media_type, source, metadata, digest, bytes, version, status, error, chunks, embedded, live_version, live_title, live_source, live_metadata, created_by, created_at, updated_at, ready_at;

-- name: SetDocumentStatus
update documents set status = $1, error = $2, updated_at = now()
where tenant_id = $3 and id = $4
returning id, tenant_id, pipeline_id, key, title, own_title, media_type, source, metadata, digest, bytes, version, status, error, chunks, embedded, live_version, live_title, live_source, live_metadata, created_by, created_at, updated_at, ready_at;

-- name: SetNextGeneration
update pipelines set
    next_embedding = $1, next_generation = $2,
    last_generation = greatest(last_generation, $2), revision = revision + 1, updated_at = now()
where tenant_id = $3 and id = $4
returning id, tenant_id, number, slug, name, description, search, language, max_chars, overlap, embedding, generation, next_embedding, next_generation, last_generation, disabled, revision, created_by, created_at, updated_at, deleted_at;

-- name: SetTerms
select set_config('app.terms', $1::text, true), set_config('plan_cache_mode', 'force_custom_plan', true);

-- name: SharePipeline
select id, tenant_id, number, slug, name, description, search, language, max_chars, overlap, embedding, generation, next_embedding, next_generation, last_generation, disabled, revision, created_by, created_at, updated_at, deleted_at from pipelines where tenant_id = $1 and id = $2 and deleted_at is null for share;

-- name: UpdatePipeline
update pipelines set
    name = $1, description = $2, search = $3, language = $4, max_chars = $5, overlap = $6,
    disabled = $7, revision = revision + 1, updated_at = now()
where tenant_id = $8 and id = $9
returning id, tenant_id, number, slug, name, description, search, language, max_chars, overlap, embedding, generation, next_embedding, next_generation, last_generation, disabled, revision, created_by, created_at, updated_at, deleted_at;

-- name: BeginHostRun
with stored as (
    select r.id, r.tenant_id, r.kind, r.agent_id, r.agent, r.agent_version, r.mode, r.subject, r.permissions, r.scopes, r.status, r.input, r.output, r.error_kind, r.error, r.workflow_id, r.first_run_id, r.head_message_id, r.turns, r.last_seq, r.plan, r.ended_by, r.created_at, r.started_at, r.completed_at, r.parent_run_id, r.parent_invocation_id, r.detached, r.depth, r.calls from runs r
    where r.tenant_id = $1 and r.workflow_id = $2 and r.first_run_id = $3 and r.kind <> 'agent'
), begun as (
    update runs r set status = $4, started_at = now(), last_seq = r.last_seq + 1,
        first_run_id = $3, plan = coalesce(r.plan, $5::json)
    where r.tenant_id = $1 and r.id = $6 and r.workflow_id = $2 and r.kind <> 'agent' and r.status = 'pending'
    returning r.id, r.tenant_id, r.kind, r.agent_id, r.agent, r.agent_version, r.mode, r.subject, r.permissions, r.scopes, r.status, r.input, r.output, r.error_kind, r.error, r.workflow_id, r.first_run_id, r.head_message_id, r.turns, r.last_seq, r.plan, r.ended_by, r.created_at, r.started_at, r.completed_at, r.parent_run_id, r.parent_invocation_id, r.detached, r.depth, r.calls
), recorded as (
    insert into runs (id, tenant_id, kind, agent_id, agent, agent_version, mode, subject, permissions, scopes,
                      status, input, workflow_id, first_run_id, plan, started_at, last_seq)
    select $6, $1, $7, $8, $9, $10, $11, $12, $13, $14,
           $4, $15, $2, $3, $5::json, now(), 1
    where not exists (select from stored) and not exists (select from begun)
    on conflict do nothing
    returning id, tenant_id, kind, agent_id, agent, agent_version, mode, subject, permissions, scopes, status, input, output, error_kind, error, workflow_id, first_run_id, head_message_id, turns, last_seq, plan, ended_by, created_at, started_at, completed_at, parent_run_id, parent_invocation_id, detached, depth, calls
), event as (
    insert into run_events (tenant_id, run_id, seq, type, data)
    select b.tenant_id, b.id, b.last_seq, 'run.started', json_build_object(
        'kind', b.kind, 'workflow_id', b.workflow_id, 'agent', b.agent, 'agent_version', b.agent_version)
    from (select id, tenant_id, kind, agent_id, agent, agent_version, mode, subject, permissions, scopes, status, input, output, error_kind, error, workflow_id, first_run_id, head_message_id, turns, last_seq, plan, ended_by, created_at, started_at, completed_at, parent_run_id, parent_invocation_id, detached, depth, calls from begun union all select id, tenant_id, kind, agent_id, agent, agent_version, mode, subject, permissions, scopes, status, input, output, error_kind, error, workflow_id, first_run_id, head_message_id, turns, last_seq, plan, ended_by, created_at, started_at, completed_at, parent_run_id, parent_invocation_id, detached, depth, calls from recorded) b
), planned as (
    update runs r set plan = $5::json
    from stored s
    where r.tenant_id = s.tenant_id and r.id = s.id and r.status in ('running', 'hosted')
      and r.plan is null and $5 is not null
    returning r.id, r.tenant_id, r.kind, r.agent_id, r.agent, r.agent_version, r.mode, r.subject, r.permissions, r.scopes, r.status, r.input, r.output, r.error_kind, r.error, r.workflow_id, r.first_run_id, r.head_message_id, r.turns, r.last_seq, r.plan, r.ended_by, r.created_at, r.started_at, r.completed_at, r.parent_run_id, r.parent_invocation_id, r.detached, r.depth, r.calls
)
select id, tenant_id, kind, agent_id, agent, agent_version, mode, subject, permissions, scopes, status, input, output, error_kind, error, workflow_id, first_run_id, head_message_id, turns, last_seq, plan, ended_by, created_at, started_at, completed_at, parent_run_id, parent_invocation_id, detached, depth, calls from begun
union all
select id, tenant_id, kind, agent_id, agent, agent_version, mode, subject, permissions, scopes, status, input, output, error_kind, error, workflow_id, first_run_id, head_message_id, turns, last_seq, plan, ended_by, created_at, started_at, completed_at, parent_run_id, parent_invocation_id, detached, depth, calls from recorded
union all
select id, tenant_id, kind, agent_id, agent, agent_version, mode, subject, permissions, scopes, status, input, output, error_kind, error, workflow_id, first_run_id, head_message_id, turns, last_seq, plan, ended_by, created_at, started_at, completed_at, parent_run_id, parent_invocation_id, detached, depth, calls from planned
union all
select id, tenant_id, kind, agent_id, agent, agent_version, mode, subject, permissions, scopes, status, input, output, error_kind, error, workflow_id, first_run_id, head_message_id, turns, last_seq, plan, ended_by, created_at, started_at, completed_at, parent_run_id, parent_invocation_id, detached, depth, calls from stored where not exists (select from begun) and not exists (select from planned);

-- name: BeginRun
with began as (
    update runs r set status = 'running', started_at = now(), last_seq = r.last_seq + 1,
        plan = coalesce(r.plan, $1::json),
        agent_version = coalesce(nullif(r.agent_version, ''), $2),
        first_run_id = coalesce(nullif(r.first_run_id, ''), $3)
    where r.tenant_id = $4 and r.id = $5 and r.status = 'pending'
    returning id, tenant_id, kind, agent_id, agent, agent_version, mode, subject, permissions, scopes, status, input, output, error_kind, error, workflow_id, first_run_id, head_message_id, turns, last_seq, plan, ended_by, created_at, started_at, completed_at, parent_run_id, parent_invocation_id, detached, depth, calls
), event as (
    insert into run_events (tenant_id, run_id, seq, type, data)
    select b.tenant_id, b.id, b.last_seq, 'run.started', json_build_object(
        'kind', b.kind, 'workflow_id', b.workflow_id, 'agent', b.agent, 'agent_version', b.agent_version)
    from began b
), planned as (
    update runs r set plan = $1::json, agent_version = coalesce(nullif(r.agent_version, ''), $2)
    where r.tenant_id = $4 and r.id = $5 and r.status = 'running' and r.plan is null and $1 is not null
    returning id, tenant_id, kind, agent_id, agent, agent_version, mode, subject, permissions, scopes, status, input, output, error_kind, error, workflow_id, first_run_id, head_message_id, turns, last_seq, plan, ended_by, created_at, started_at, completed_at, parent_run_id, parent_invocation_id, detached, depth, calls
)
select id, tenant_id, kind, agent_id, agent, agent_version, mode, subject, permissions, scopes, status, input, output, error_kind, error, workflow_id, first_run_id, head_message_id, turns, last_seq, plan, ended_by, created_at, started_at, completed_at, parent_run_id, parent_invocation_id, detached, depth, calls from began
union all
select id, tenant_id, kind, agent_id, agent, agent_version, mode, subject, permissions, scopes, status, input, output, error_kind, error, workflow_id, first_run_id, head_message_id, turns, last_seq, plan, ended_by, created_at, started_at, completed_at, parent_run_id, parent_invocation_id, detached, depth, calls from planned
union all
select r.id, r.tenant_id, r.kind, r.agent_id, r.agent, r.agent_version, r.mode, r.subject, r.permissions, r.scopes, r.status, r.input, r.output, r.error_kind, r.error, r.workflow_id, r.first_run_id, r.head_message_id, r.turns, r.last_seq, r.plan, r.ended_by, r.created_at, r.started_at, r.completed_at, r.parent_run_id, r.parent_invocation_id, r.detached, r.depth, r.calls from runs r where r.tenant_id = $4 and r.id = $5
    and not exists (select from began) and not exists (select from planned);

-- name: CreateRun
with run as (
    insert into runs (id, tenant_id, kind, agent_id, agent, agent_version, mode, subject, permissions, scopes,
                      status, input, workflow_id, first_run_id, head_message_id, plan,
                      parent_run_id, parent_invocation_id, detached, depth)
    select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10,
           'pending', $11, $12, $13, $14, $15,
           $16, $17, $18, $19
    where $17::uuid is null or exists (
        select from tool_invocations i
        where i.tenant_id = $2 and i.id = $17::uuid
          and i.status in ('pending', 'approved', 'running', 'waiting')
        for share)
    returning id, tenant_id, kind, agent_id, agent, agent_version, mode, subject, permissions, scopes, status, input, output, error_kind, error, workflow_id, first_run_id, head_message_id, turns, last_seq, plan, ended_by, created_at, started_at, completed_at, parent_run_id, parent_invocation_id, detached, depth, calls
), first as (
    insert into messages (id, tenant_id, run_id, turn, role, content)
    select r.head_message_id, r.tenant_id, r.id, 0, $20, $21 from run r
)
select id, tenant_id, kind, agent_id, agent, agent_version, mode, subject, permissions, scopes, status, input, output, error_kind, error, workflow_id, first_run_id, head_message_id, turns, last_seq, plan, ended_by, created_at, started_at, completed_at, parent_run_id, parent_invocation_id, detached, depth, calls from run;

-- name: FindRun
select id, tenant_id, kind, agent_id, agent, agent_version, mode, subject, permissions, scopes, status, input, output, error_kind, error, workflow_id, first_run_id, head_message_id, turns, last_seq, plan, ended_by, created_at, started_at, completed_at, parent_run_id, parent_invocation_id, detached, depth, calls from runs where tenant_id = $1 and id = $2;

-- name: FinishRun
with ended as (
    update runs r set status = $3, error_kind = $4, error = $5,
        output = coalesce(nullif($6::text, ''), (
            select string_agg(block.item ->> 'text', '' order by block.place)
            from messages m
            cross join json_array_elements(m.content) with ordinality as block (item, place)
            where m.tenant_id = r.tenant_id and m.run_id = r.id and m.role = 'assistant'
              and m.id = coalesce($7::uuid, r.head_message_id)
              and block.item ->> 'type' = 'text'), ''),
        head_message_id = coalesce($7::uuid, r.head_message_id),
        turns = case when r.ended_by = '' then greatest(r.turns, $8) else $8 end,
        calls = $9, ended_by = $10, completed_at = now(), last_seq = r.last_seq + 1
    where r.tenant_id = $1 and r.id = $2
      and (r.status not in ('completed', 'failed', 'cancelled')
        or r.ended_by <> '' and $10::text <> '' and r.ended_by <> $10)
    returning r.tenant_id, r.id, r.last_seq
), event as (
    insert into run_events (tenant_id, run_id, seq, type, data)
    select e.tenant_id, e.id, e.last_seq, $11, $12::json from ended e
)
select exists (select from ended) as ended,
       exists (select from runs r where r.tenant_id = $1 and r.id = $2) as known;

-- name: ListAncestors
with recursive line as (
    select r.id, r.agent_id, r.agent, r.detached, r.parent_run_id, 0 as above
    from runs r where r.tenant_id = $1 and r.id = $2
    union all
    select r.id, r.agent_id, r.agent, r.detached, r.parent_run_id, l.above + 1
    from line l join runs r on r.tenant_id = $1 and r.id = l.parent_run_id
    where l.above < $3::int
)
select l.id::uuid as id, l.agent_id, l.agent::text as agent, l.detached::boolean as detached from line l order by l.above;

-- name: ListRuns
select id, tenant_id, kind, agent_id, agent, agent_version, mode, subject, permissions, scopes, status, input, output, error_kind, error, workflow_id, first_run_id, head_message_id, turns, last_seq, plan, ended_by, created_at, started_at, completed_at, parent_run_id, parent_invocation_id, detached, depth, calls from runs
where tenant_id = $1
  and ($2::uuid is null or id < $2)
  and ($3::text = '' or status = $3)
  and ($4::text = '' or kind = $4)
  and ($5::uuid is null or agent_id = $5)
  and ($6::uuid is null or parent_run_id = $6)
  and ($7::timestamptz is null or created_at >= $7)
  and ($8::timestamptz is null or created_at < $8)
order by id desc
limit $9::int;

-- name: CreateServer
insert into mcp_servers (
    id, tenant_id, slug, name, transport, url, command, headers, auth, allowed_tools, trust_hints, status, created_by
) values (
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13
) returning id, tenant_id, slug, name, transport, url, command, headers, auth, allowed_tools, trust_hints, status, discovered_at, discovery_error, protocol_version, server_name, server_version, revision, created_by, created_at, updated_at, detached_at;

-- name: DetachServer
with detached as (
    update mcp_servers s set detached_at = now(), updated_at = now(), revision = s.revision + 1
    where s.tenant_id = $1 and s.id = $2 and s.revision = $3 and s.detached_at is null
    returning s.id
), released as (
    update mcp_remote_tools r set tool_id = null, state = 'gone', reason = 'the server was detached', changed_at = now()
    from detached d
    where r.tenant_id = $1 and r.server_id = d.id
)
select d.id from detached d;

-- name: FindRemoteTool
select r.tenant_id, r.server_id, r.name, r.tool_id, r.state, r.reason, r.pinned_digest, r.pinned, r.approved_digest, r.approved_by, r.approved_at, r.seen_digest, r.seen, r.first_seen_at, r.seen_at, r.changed_at, coalesce(t.slug, '')::text as tool_slug, coalesce(t.status, '')::text as tool_status,
       coalesce(t.quarantine, '')::text as quarantine
from mcp_remote_tools r
left join tool_registry t on t.id = r.tool_id and t.scope_id = r.tenant_id
where r.tenant_id = $1 and r.server_id = $2 and r.name = $3;

-- name: FindServerByID
select id, tenant_id, slug, name, transport, url, command, headers, auth, allowed_tools, trust_hints, status, discovered_at, discovery_error, protocol_version, server_name, server_version, revision, created_by, created_at, updated_at, detached_at from mcp_servers where tenant_id = $1 and id = $2 and detached_at is null;

-- name: FindServerBySlug
select id, tenant_id, slug, name, transport, url, command, headers, auth, allowed_tools, trust_hints, status, discovered_at, discovery_error, protocol_version, server_name, server_version, revision, created_by, created_at, updated_at, detached_at from mcp_servers where tenant_id = $1 and slug = $2 and detached_at is null;

-- name: FindToolOrigin
select r.tenant_id, r.server_id, r.name, r.tool_id, r.state, r.reason, r.pinned_digest, r.pinned, r.approved_digest, r.approved_by, r.approved_at, r.seen_digest, r.seen, r.first_seen_at, r.seen_at, r.changed_at, coalesce(t.slug, '')::text as tool_slug, coalesce(t.status, '')::text as tool_status,
       coalesce(t.quarantine, '')::text as quarantine
from mcp_remote_tools r
left join tool_registry t on t.id = r.tool_id and t.scope_id = r.tenant_id
where r.tenant_id = $1 and r.tool_id = $2::uuid;

-- name: ListRemoteTools
select r.tenant_id, r.server_id, r.name, r.tool_id, r.state, r.reason, r.pinned_digest, r.pinned, r.approved_digest, r.approved_by, r.approved_at, r.seen_digest, r.seen, r.first_seen_at, r.seen_at, r.changed_at, coalesce(t.slug, '')::text as tool_slug, coalesce(t.status, '')::text as tool_status,
       coalesce(t.quarantine, '')::text as quarantine
from mcp_remote_tools r
left join tool_registry t on t.id = r.tool_id and t.scope_id = r.tenant_id
where r.tenant_id = $1 and r.server_id = $2 and r.name > $3
  and ($4::text = '' or r.state = $4)
order by r.name limit $5::int;

-- name: ListServerTools
select t.id, t.tenant_id, t.scope_id, t.scope, t.slug, t.name, t.description, t.category, t.icon, t.schema, t.config_schema, t.interaction, t.implementation_type, t.egress_class, t.requires_approval, t.permission_policy, t.required_permission, t.tenant_slugs, t.status, t.is_active, t.is_system, t.builtin_key, t.builtin_template_id, t.is_builtin_template, t.artifact_id, t.artifact_version, t.version, t.revision, t.published_at, t.created_at, t.updated_at, t.egress_rules, t.quarantine from tool_registry t
where t.scope_id = $1 and (
    t.implementation_type = 'mcp' and t.config_schema -> 'implementation' ->> 'server' = $2::text
    or exists (
        select from tool_versions v
        where v.scope_id = t.scope_id and v.tool_id = t.id and v.published
          and v.schema_snapshot ->> 'implementation_type' = 'mcp'
          and v.schema_snapshot -> 'implementation_config' ->> 'server' = $2))
order by t.slug;

-- name: ListServers
select id, tenant_id, slug, name, transport, url, command, headers, auth, allowed_tools, trust_hints, status, discovered_at, discovery_error, protocol_version, server_name, server_version, revision, created_by, created_at, updated_at, detached_at from mcp_servers where tenant_id = $1 and slug > $2 and detached_at is null
order by slug limit $3::int;

-- name: PinRemoteTool
update mcp_remote_tools r set
    state = 'pinned', reason = '', pinned_digest = r.seen_digest, pinned = r.seen, approved_digest = r.seen_digest,
    approved_by = case when r.approved_digest = r.seen_digest then r.approved_by else $1 end,
    approved_at = case when r.approved_digest = r.seen_digest then r.approved_at else now() end,
    changed_at = case when r.state = 'pinned' and r.pinned_digest = r.seen_digest then r.changed_at else now() end
where r.tenant_id = $2 and r.tool_id = $3::uuid and r.seen_digest = $4::text;

-- name: PutRemoteTool
insert into mcp_remote_tools as r (
    tenant_id, server_id, name, tool_id, state, reason, pinned_digest, pinned, approved_digest, approved_by, approved_at,
    seen_digest, seen, seen_at, changed_at
) values (
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11,
    $12, $13, $14, $15
)
on conflict (tenant_id, server_id, name) do update set
    tool_id = excluded.tool_id, state = excluded.state, reason = excluded.reason, pinned_digest = excluded.pinned_digest,
    pinned = excluded.pinned, approved_digest = excluded.approved_digest, approved_by = excluded.approved_by,
    approved_at = excluded.approved_at, seen_digest = excluded.seen_digest, seen = excluded.seen,
    seen_at = excluded.seen_at, changed_at = excluded.changed_at;

-- name: QuarantineTool
update tool_registry t set quarantine = $1, revision = t.revision + 1, updated_at = now()
where t.scope_id = $2 and t.id = $3 and t.quarantine <> $1;

-- name: SeeRemoteTools
update mcp_remote_tools set seen_at = $1
where tenant_id = $2 and server_id = $3 and name = any ($4::text[]);

-- name: StopChangedTool
with changed as (
    update mcp_remote_tools r set state = $3, reason = $1, changed_at = now()
    where r.tenant_id = $2 and r.tool_id = $4::uuid and r.state = 'pinned' and r.pinned_digest = $5::text
    returning r.tool_id
)
update tool_registry t set quarantine = $1, revision = t.revision + 1, updated_at = now()
from changed c
where t.scope_id = $2 and t.id = c.tool_id;

-- name: UpdateServer
update mcp_servers set
    name = $1, transport = $2, url = $3, command = $4, headers = $5, auth = $6,
    allowed_tools = $7, trust_hints = $8, status = $9, discovered_at = $10,
    discovery_error = $11, protocol_version = $12, server_name = $13,
    server_version = $14, revision = revision + 1, updated_at = now()
where tenant_id = $15 and id = $16 and revision = $17 and detached_at is null
returning id, tenant_id, slug, name, transport, url, command, headers, auth, allowed_tools, trust_hints, status, discovered_at, discovery_error, protocol_version, server_name, server_version, revision, created_by, created_at, updated_at, detached_at;

-- name: CreateTenant
insert into tenants (id, slug, name) values ($1, $2, $3) returning id, slug, name, status, created_at, updated_at;

-- name: EnsureInvocationPartitions
select ensure_invocation_partitions($1::int)::int as made;

-- name: FindTenant
select id, slug, name, status, created_at, updated_at from tenants where id = $1;

-- name: FindTenantBySlug
select id, slug, name, status, created_at, updated_at from tenants where slug = $1;

-- name: ListTenants
select id, slug, name, status, created_at, updated_at from tenants where slug > $1 order by slug limit $2::int;

-- name: SetTenantStatus
update tenants set status = $1, updated_at = now() where id = $2 returning id, slug, name, status, created_at, updated_at;

-- name: AddToolVersion
with ended as (
    update tool_aliases a set remove_by = '-infinity'
    where a.scope_id = $10 and a.tool_id = $2 and $7::boolean and a.alias <> all ($11::text[])
)
insert into tool_versions as v (id, tool_id, tenant_id, version, digest, schema_snapshot, published, published_at, created_by)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
on conflict (tool_id, scope_id, version) do update
    set published    = v.published or excluded.published,
        published_at = case when v.published then v.published_at else excluded.published_at end
    where v.digest = excluded.digest
returning id, tool_id, tenant_id, scope_id, version, digest, schema_snapshot, published, published_at, created_by, created_at;

-- name: CreateTool
insert into tool_registry (
    id, tenant_id, slug, name, description, category, icon, schema, config_schema, interaction, implementation_type,
    egress_class, egress_rules, requires_approval, permission_policy, required_permission, tenant_slugs,
    status, is_active, is_system, builtin_key, artifact_id, artifact_version, version, published_at
) values (
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11,
    $12, $13, $14, $15, $16, $17,
    $18, $19, $20, $21, $22, $23, $24, $25
) returning id, tenant_id, scope_id, scope, slug, name, description, category, icon, schema, config_schema, interaction, implementation_type, egress_class, requires_approval, permission_policy, required_permission, tenant_slugs, status, is_active, is_system, builtin_key, builtin_template_id, is_builtin_template, artifact_id, artifact_version, version, revision, published_at, created_at, updated_at, egress_rules, quarantine;

-- name: FindToolVersion
select v.id, v.tool_id, v.tenant_id, v.scope_id, v.version, v.digest, v.schema_snapshot, v.published, v.published_at, v.created_by, v.created_at, t.slug from tool_versions v
join tool_registry t on t.id = v.tool_id and t.scope_id = v.scope_id
where v.scope_id in ($1, '00000000-0000-0000-0000-000000000000') and v.tool_id = $2 and v.digest = $3
order by v.published desc, v.id desc
limit 1;

-- name: FindToolsByID
select id, tenant_id, scope_id, scope, slug, name, description, category, icon, schema, config_schema, interaction, implementation_type, egress_class, requires_approval, permission_policy, required_permission, tenant_slugs, status, is_active, is_system, builtin_key, builtin_template_id, is_builtin_template, artifact_id, artifact_version, version, revision, published_at, created_at, updated_at, egress_rules, quarantine from tool_registry
where scope_id in ($1, '00000000-0000-0000-0000-000000000000') and id = $2
order by tenant_id nulls last;

-- name: FindToolsBySlug
select id, tenant_id, scope_id, scope, slug, name, description, category, icon, schema, config_schema, interaction, implementation_type, egress_class, requires_approval, permission_policy, required_permission, tenant_slugs, status, is_active, is_system, builtin_key, builtin_template_id, is_builtin_template, artifact_id, artifact_version, version, revision, published_at, created_at, updated_at, egress_rules, quarantine from tool_registry
where scope_id in ($1, '00000000-0000-0000-0000-000000000000') and slug = $2
order by tenant_id nulls last;

-- name: ListPageVersions
select v.tool_id, v.id, v.version, v.digest, v.published
from (select $1::uuid as id union select '00000000-0000-0000-0000-000000000000'::uuid) s
cross join lateral (
    select r.id, r.scope_id from tool_registry r
    where r.scope_id = s.id and (r.slug > $2 or (r.slug = $2 and r.id > $3::uuid))
    order by r.slug, r.id
    limit $4::int
) t
join tool_versions v on v.tool_id = t.id and v.scope_id = t.scope_id
order by v.id;

-- name: ListPinnedPolicies
select t.id, t.tenant_id, t.egress_class, t.egress_rules, t.requires_approval, t.permission_policy, t.required_permission, t.tenant_slugs
from runs r
cross join json_array_elements(r.plan -> 'tools') as p (pin)
join tool_registry t on t.id = (p.pin ->> 'tool_id')::uuid
                    and t.scope_id in (r.tenant_id, '00000000-0000-0000-0000-000000000000')
where r.tenant_id = $1 and r.id = $2;

-- name: ListToolPolicies
select t.id, t.tenant_id, t.egress_class, t.egress_rules, t.requires_approval, t.permission_policy, t.required_permission, t.tenant_slugs
from tool_registry t
where t.scope_id in ($1, '00000000-0000-0000-0000-000000000000') and t.id = any ($2::uuid[]);

-- name: ListToolVersions
select v.id, v.tool_id, v.tenant_id, v.scope_id, v.version, v.digest, v.schema_snapshot, v.published, v.published_at, v.created_by, v.created_at from tool_versions v
where v.scope_id in ($1, '00000000-0000-0000-0000-000000000000') and v.tool_id = $2
order by v.id desc;

-- name: ListTools
select t.id, t.tenant_id, t.scope_id, t.scope, t.slug, t.name, t.description, t.category, t.icon, t.schema, t.config_schema, t.interaction, t.implementation_type, t.egress_class, t.requires_approval, t.permission_policy, t.required_permission, t.tenant_slugs, t.status, t.is_active, t.is_system, t.builtin_key, t.builtin_template_id, t.is_builtin_template, t.artifact_id, t.artifact_version, t.version, t.revision, t.published_at, t.created_at, t.updated_at, t.egress_rules, t.quarantine
from (select $1::uuid as id union select '00000000-0000-0000-0000-000000000000'::uuid) s
cross join lateral (
    select r.id, r.tenant_id, r.scope_id, r.scope, r.slug, r.name, r.description, r.category, r.icon, r.schema, r.config_schema, r.interaction, r.implementation_type, r.egress_class, r.requires_approval, r.permission_policy, r.required_permission, r.tenant_slugs, r.status, r.is_active, r.is_system, r.builtin_key, r.builtin_template_id, r.is_builtin_template, r.artifact_id, r.artifact_version, r.version, r.revision, r.published_at, r.created_at, r.updated_at, r.egress_rules, r.quarantine from tool_registry r
    where r.scope_id = s.id
      and (r.slug > $2 or (r.slug = $2 and r.id > $3::uuid))
      and ($4::text = '' or r.status = $4)
      and ($5::text = '' or $5 =
            coalesce(nullif(r.implementation_type, ''), r.config_schema -> 'implementation' ->> 'type', ''))
      and ($6::text = '' or $6 = case
            when r.is_system or r.builtin_key <> '' then 'built_in'
            when 'mcp' in (r.implementation_type, r.config_schema -> 'implementation' ->> 'type') then 'mcp'
            when r.artifact_id <> '' or 'artifact' =
                coalesce(nullif(r.implementation_type, ''), r.config_schema -> 'implementation' ->> 'type') then 'artifact'
            else 'custom' end)
      and ($7::text = '' or strpos(lower(r.slug || ' ' || r.name || ' ' || r.description), lower($7)) > 0)
      and ($8::timestamptz is null or r.updated_at >= $8)
    order by r.slug, r.id
    limit $9::int
) t
order by t.slug, t.id
limit $9::int;

-- name: ListVersionsByID
select v.tool_id, v.id, v.version, v.digest, v.published
from tool_versions v
where v.scope_id in ($1, '00000000-0000-0000-0000-000000000000') and v.tool_id = $2
order by v.id;

-- name: ListVersionsBySlug
select v.tool_id, v.id, v.version, v.digest, v.published
from tool_registry t
join tool_versions v on v.tool_id = t.id and v.scope_id = t.scope_id
where t.scope_id in ($1, '00000000-0000-0000-0000-000000000000') and t.slug = $2
order by v.id;

-- name: UpdateTool
update tool_registry set
    slug = $1, name = $2, description = $3, category = $4, icon = $5,
    schema = $6, config_schema = $7, interaction = $8, implementation_type = $9,
    egress_class = $10, egress_rules = $11, requires_approval = $12, permission_policy = $13,
    required_permission = $14, tenant_slugs = $15,
    status = $16, is_active = $17, is_system = $18, builtin_key = $19,
    artifact_id = $20, artifact_version = $21, version = $22, published_at = $23,
    quarantine = $24, revision = revision + 1, updated_at = now()
where scope_id = $25 and id = $26 and revision = $27
returning id, tenant_id, scope_id, scope, slug, name, description, category, icon, schema, config_schema, interaction, implementation_type, egress_class, requires_approval, permission_policy, required_permission, tenant_slugs, status, is_active, is_system, builtin_key, builtin_template_id, is_builtin_template, artifact_id, artifact_version, version, revision, published_at, created_at, updated_at, egress_rules, quarantine;
