-- name: AdmitCall :one
-- Reads the authority over a call and admits it, in one statement; a refusal writes
-- nothing. The policy, including the required permission, is returned for the caller to
-- decide, and so are the profiles that apply to the call. If no effect is returned although the verdict is granted, another attempt ran
-- concurrently. The budgets of the tenant and the rates of profiles are locked before what the
-- statement writes.
--
-- The invocation is written before the run is numbered: whoever decides on the call locks
-- them in this order.
--
-- A call that needs an approval and has none is held: its effect is accepted, so that
-- nothing is sent, its invocation is pending, and it has not started. One that has one is
-- not sent at once: the caller may find that it was approved for something else.
with known as (
    select t.id as tool_id, t.scope_id, t.egress_class, t.egress_rules, ask.required as requires_approval, t.permission_policy, t.required_permission,
           t.tenant_id, t.tenant_slugs, t.status = 'deprecated' as deprecated,
           coalesce(r.followed_until > now(), false) as followed,
           case when ap.status = 'approved' then ap.binding else '' end as approved,
           case when ap.status = 'approved' then ap.edited end as edited,
           tn.taint, u.list as profiles, coalesce(u.rated, false) as rated,
           coalesce(u.denied, false) or t.required_permission <> '' and not @permissions::text[] && array[t.required_permission, '*'] as denied, coalesce(u.asks, false) as profile_asks,
           coalesce(ask.required or t.permission_policy = 'always_ask' or t.egress_class = 'write' or coalesce(u.asks, false)
               or tn.taint is not null and @secret::boolean, false) as asks,
           coalesce(ask.required or t.permission_policy = 'always_ask' or t.egress_class = 'write' or coalesce(u.asks, false)
               or tn.taint is not null and @secret::boolean, false)
               and ap.status is distinct from 'approved' as held,
           m.prepared -> @position::int -> 'arguments' as stored_arguments,
           coalesce(sqlc.narg('arguments_digest')::text, m.prepared -> @position::int ->> 'arguments_digest', '') as arguments_digest,
           case
               when n.status <> 'active' then 'tenant_suspended'
               when sqlc.narg('run_id')::uuid is not null and r.id is null then 'run_unknown'
               when i.effect_id <> @effect_id then 'invocation_taken'
               when t.id is null or not (t.tenant_slugs = '{}' or n.slug = any (t.tenant_slugs)) then 'tool_unknown'
               when t.status = 'disabled' or not t.is_active then 'tool_disabled'
               when not coalesce(own.enabled, preset.enabled, t.tenant_id is not null) then 'tool_off'
               when t.quarantine <> '' then 'tool_quarantined'
               when @assigned::boolean and not exists (
                   select from tool_assignments w
                   where w.tenant_id = n.id and w.tool_id = t.id and w.agent_id = sqlc.narg('agent_id')::uuid) then 'tool_revoked'
               when @implementation_type::text = 'artifact' and exists (
                   select from artifacts af
                   where af.tenant_id = n.id and af.status = 'disabled'
                     and af.id::text = coalesce(v.artifact_id, t.config_schema -> 'artifact' ->> 'id')) then 'artifact_disabled'
               when @mode::text = 'production' and t.status = 'draft' then 'tool_draft'
               when @mode = 'production' and not v.known then 'version_unknown'
               when @mode = 'production' and not v.published then 'version_unpublished'
               when @arguments_stored::boolean and m.prepared -> @position::int -> 'arguments' is null then 'arguments_unknown'
               else 'granted'
           end as standing
    from tenants n
    left join runs r on r.tenant_id = n.id and r.id = sqlc.narg('run_id')
    left join tool_registry t on t.id = sqlc.narg('tool_id')::uuid
                             and t.scope_id in (n.id, '00000000-0000-0000-0000-000000000000')
    left join tool_overrides own on own.scope_id = n.id and own.tool_id = t.id
    left join tool_overrides preset on preset.scope_id in (n.id, '00000000-0000-0000-0000-000000000000') and preset.tool_id = t.id
                                   and preset.tenant_id is null
    cross join lateral (
        select t.requires_approval or coalesce(own.requires_approval, false) or coalesce(preset.requires_approval, false) as required
    ) ask
    cross join lateral (
        select json_agg(y order by y.agent_id nulls first) as list, bool_or(y.rate_calls is not null) as rated,
               bool_or(y.denied or y.required_permission <> '' and not @permissions::text[] && array[y.required_permission, '*']) as denied,
               bool_or(y.requires_approval or y.permission_policy = 'always_ask' or y.egress_class = 'write') as asks
        from (
            select w.agent_id, q.id, q.name, q.denied, q.requires_approval, q.permission_policy, q.egress_class, q.required_permission,
                   q.rate_calls, q.rate_per, q.rate_burst, q.max_concurrency
            from tool_assignments w join profiles q on q.tenant_id = w.tenant_id and q.id = w.profile_id
            where w.tenant_id = n.id and w.tool_id = t.id and (w.agent_id is null or w.agent_id = sqlc.narg('agent_id')::uuid)
        ) y
    ) u
    cross join lateral (
        -- Of calls that were decided before the model was shown the result, the run is not tainted.
        select case when n.taint <> 'off' and (@turn::int = 0 or sqlc.narg('parent_id')::uuid is not null or @turn > (r.taint ->> 'turn')::int)
                    then r.taint || jsonb_build_object('rule', n.taint) end as taint
    ) tn
    left join messages m on @arguments_stored and m.tenant_id = n.id and m.run_id = sqlc.narg('run_id')
                        and m.id = sqlc.narg('message_id')::uuid
    left join tool_invocations i on i.tenant_id = n.id and i.id = @invocation_id
    left join approvals ap on ap.tenant_id = n.id and ap.effect_id = @effect_id
    left join lateral (
        select count(*) > 0 as known, coalesce(bool_or(tv.published), false) as published,
               max(case when @implementation_type = 'artifact' then tv.schema_snapshot -> 'artifact' ->> 'id' end) as artifact_id
        from tool_versions tv
        where tv.tool_id = t.id and tv.scope_id = t.scope_id and tv.digest = @digest
    ) v on true
    where n.id = @tenant_id
), authority as (
    -- The first attempt of a call reserves what it costs and takes tokens of rates, one that is held
    -- when it is approved, and one that a profile denies or whose caller lacks a permission never.
    select k.*,
           case when k.standing <> 'granted' or b.refused is null then k.standing
               when b.refused -> 'rate' is not null then 'rate_limited' else 'budget_spent' end as verdict,
           b.refused as limits
    from known k
    left join lateral (
        select begin_limited(@tenant_id, coalesce(e.invocation_id, @invocation_id)::text, @effect_id, sqlc.narg('run_id'), sqlc.narg('agent_id'),
                             k.tool_id, @version) as refused
        from (select 1) as one
        left join effects e on e.tenant_id = @tenant_id and e.effect_id = @effect_id
        where k.standing = 'granted' and not k.held and not k.denied
          and (e.phase is null or e.phase = 'accepted' and e.version_digest = @digest and e.arguments_digest = k.arguments_digest)
          and (k.rated or exists (select from budgets x where x.tenant_id = @tenant_id))
    ) b on true
), admitted as (
    insert into effects as e (tenant_id, effect_id, phase, fence, attempt, invocation_id, version_digest, arguments_digest)
    select @tenant_id, @effect_id, case when a.held then 'accepted' when @send::boolean and not a.asks then 'sent' else 'admitted' end, 1,
           case when a.held then 0 else 1 end, @invocation_id, @digest, a.arguments_digest
    from authority a
    where a.verdict = 'granted'
    on conflict (tenant_id, effect_id) do update
        set phase = excluded.phase, fence = e.fence + 1, attempt = e.attempt + excluded.attempt,
            sent_before = e.sent_before or e.phase = 'sent'
        where e.version_digest = excluded.version_digest and e.arguments_digest = excluded.arguments_digest
          and (e.phase in ('accepted', 'admitted') or (e.phase = 'sent' and @repeatable::boolean))
    returning e.effect_id, e.invocation_id, e.fence, e.attempt
), invocation as (
    insert into tool_invocations as i (id, tenant_id, run_id, turn, position, call_id, effect_id, tool_id, tool_scope_id, tool,
        version, digest, implementation_type, subject, agent_id, mode, status, egress_class, approval_required, attempt, input, receipt,
        started_at, parent_id, shown)
    select e.invocation_id, @tenant_id, sqlc.narg('run_id'), @turn, @position, @call_id, e.effect_id, a.tool_id, a.scope_id, @tool,
           @version, @digest, @implementation_type, @subject, sqlc.narg('agent_id')::uuid, @mode,
           case when a.held then 'pending' else 'running' end, a.egress_class,
           a.requires_approval or a.permission_policy = 'always_ask' or a.profile_asks, e.attempt,
           coalesce(sqlc.narg('arguments')::json, a.stored_arguments), sqlc.narg('receipt')::json, case when not a.held then now() end,
           sqlc.narg('parent_id')::uuid, case when @hidden::boolean then false end
    from admitted e cross join authority a
    on conflict (tenant_id, id) do update
        set status = case when excluded.status = 'pending' and i.status = 'approved' then i.status else excluded.status end,
            attempt = excluded.attempt, egress_class = excluded.egress_class,
            started_at = coalesce(i.started_at, excluded.started_at)
        where i.status in ('pending', 'approved', 'running', 'waiting')
    returning i.id
), numbered as (
    update runs r set last_seq = r.last_seq + case when a.deprecated and e.attempt = 1 then 2 else 1 end
    from admitted e cross join authority a cross join (select count(*) from invocation) written
    where r.tenant_id = @tenant_id and r.id = sqlc.narg('run_id') and not a.held
    returning r.last_seq, a.deprecated and e.attempt = 1 as warned
), events as (
    insert into run_events (tenant_id, run_id, seq, type, invocation_id, data)
    select @tenant_id, sqlc.narg('run_id'), n.last_seq - n.warned::int, 'tool.started', e.invocation_id,
           json_build_object('tool', @tool::text, 'version', @version::text, 'call_id', @call_id::text, 'attempt', e.attempt)
    from numbered n cross join admitted e
    union all
    select @tenant_id, sqlc.narg('run_id'), n.last_seq, 'tool.warning', e.invocation_id,
           json_build_object('tool', @tool::text, 'version', @version::text, 'call_id', @call_id::text, 'reason', 'deprecated')
    from numbered n cross join admitted e
    where n.warned
), answer as (
    -- A settled effect answers this call too, wherever it is in a forked transcript.
    insert into messages (id, tenant_id, run_id, parent_id, turn, position, role, content, call_id, is_error)
    select @answer_id, @tenant_id, sqlc.narg('run_id'), sqlc.narg('message_id'), @turn, @position, 'tool',
           answer_content(e.result, e.error_kind, e.error), @call_id, answer_is_error(e.result)
    from effects e cross join authority a
    where e.tenant_id = @tenant_id and e.effect_id = @effect_id and e.phase = 'done'
      and e.version_digest = @digest and e.arguments_digest = a.arguments_digest
      and sqlc.narg('message_id') is not null
    on conflict do nothing
)
select a.verdict::text as verdict,
       a.limits::json as limits,
       a.profiles::json as profiles,
       a.taint::json as taint,
       coalesce(a.egress_class, '')::text as egress_class,
       a.egress_rules::json as egress_rules,
       coalesce(a.requires_approval, false)::boolean as requires_approval,
       coalesce(a.permission_policy, '')::text as permission_policy,
       coalesce(a.required_permission, '')::text as required_permission,
       (case when a.tenant_id is null then '{}' else a.tenant_slugs end)::text[] as tenant_slugs,
       coalesce(a.deprecated, false)::boolean as deprecated,
       a.followed::boolean as followed,
       a.approved::text as approved,
       a.held::boolean as held,
       a.edited::json as edited_arguments,
       a.stored_arguments::json as stored_arguments,
       coalesce(e.invocation_id, p.invocation_id, @invocation_id)::uuid as invocation_id,
       coalesce(e.fence, 0)::bigint as fence,
       coalesce(e.attempt, 0)::int as attempt,
       coalesce(p.phase, '')::text as prior_phase,
       coalesce(p.version_digest = @digest and p.arguments_digest = a.arguments_digest, true)::boolean as same_call,
       coalesce(p.status, '')::text as status,
       p.result::json as result,
       coalesce(p.error_kind, '')::text as error_kind,
       coalesce(p.error, '')::text as error,
       coalesce(p.sent_before, false)::boolean as sent
from authority a
left join admitted e on true
left join effects p on p.tenant_id = @tenant_id and p.effect_id = @effect_id;

-- name: MarkSent :one
with moved as (
    update effects e set phase = 'sent'
    where e.tenant_id = @tenant_id and e.effect_id = @effect_id and e.phase = 'admitted' and e.fence = @fence
    returning e.effect_id
)
select exists (select from moved) as moved,
       exists (select from effects e where e.tenant_id = @tenant_id and e.effect_id = @effect_id) as known;

-- name: MarkUnsent :one
with moved as (
    update effects e set phase = 'admitted'
    where e.tenant_id = @tenant_id and e.effect_id = @effect_id and e.phase = 'sent' and e.fence = @fence
    returning e.effect_id
)
select exists (select from moved) as moved,
       exists (select from effects e where e.tenant_id = @tenant_id and e.effect_id = @effect_id) as known;

-- name: SettleCall :one
-- Closes a call: effect, invocation, event and tool message. Only the first settlement
-- changes anything; later ones get its outcome. If the effect id belongs to another call,
-- that call is unchanged and this one ends like a call without an effect. If no row is
-- returned and the fence is right, another attempt ran concurrently. A done effect keeps
-- in sent_before whether a request may have been sent.
with call as (
    select t.id as tool_id, t.scope_id, t.egress_class,
           coalesce(sqlc.narg('arguments')::json, m.prepared -> @position::int -> 'arguments') as arguments,
           coalesce(sqlc.narg('arguments_digest')::text, m.prepared -> @position::int ->> 'arguments_digest') as arguments_digest
    from tenants n
    left join tool_registry t on t.id = sqlc.narg('tool_id')::uuid
                             and t.scope_id in (n.id, '00000000-0000-0000-0000-000000000000')
    left join messages m on @arguments_stored::boolean and m.tenant_id = n.id and m.run_id = sqlc.narg('run_id')::uuid
                        and m.id = sqlc.narg('message_id')::uuid
    where n.id = @tenant_id
), prior as (
    select e.*, @fence::bigint = 0 and (coalesce(e.version_digest <> nullif(@digest::text, ''), false)
                                     or coalesce(e.arguments_digest <> c.arguments_digest, false)) as other_call
    from effects e cross join call c
    where e.tenant_id = @tenant_id and e.effect_id = sqlc.narg('effect_id')::text
), closed as (
    insert into effects as e (tenant_id, effect_id, phase, fence, attempt, invocation_id, version_digest, arguments_digest,
                              status, result, error_kind, error, done_at, sent_before)
    select @tenant_id, sqlc.narg('effect_id')::text, 'done', 0, 0, @invocation_id, @digest, coalesce(c.arguments_digest, ''),
           @status::text, sqlc.narg('result')::json, @error_kind::text, @error::text, now(), @acted::boolean
    from call c
    where sqlc.narg('effect_id') is not null
      and (@fence = 0 or exists (select from prior))
      and not exists (select from prior p where p.other_call or p.phase = 'done')
    on conflict (tenant_id, effect_id) do update
        set phase = 'done', done_at = now(), result = excluded.result,
            sent_before = e.sent_before or excluded.sent_before or (e.phase = 'sent' and not @unsent::boolean),
            status = case when @unknown_if_sent::boolean and (e.phase = 'sent' or e.sent_before) and excluded.result is null
                          then 'unknown' else excluded.status end,
            error_kind = case when @unknown_if_sent and (e.phase = 'sent' or e.sent_before) and excluded.result is null
                          then 'unknown' else excluded.error_kind end,
            error = case when @unknown_if_sent and (e.phase = 'sent' or e.sent_before) and excluded.result is null
                          then @unknown_message::text else excluded.error end
        where e.phase <> 'done'
          and case @fence when 0
              then not (coalesce(e.version_digest <> nullif(excluded.version_digest, ''), false)
                     or coalesce(e.arguments_digest <> nullif(excluded.arguments_digest, ''), false))
              else e.fence = @fence end
    returning e.effect_id, e.invocation_id, e.status, e.result, e.error_kind, e.error, e.attempt, e.sent_before as sent
), ending as (
    select c.effect_id, c.invocation_id, c.status, c.result, c.error_kind, c.error, c.attempt, c.sent from closed c
    union all
    select null, @invocation_id, @status::text, sqlc.narg('result')::json, @error_kind::text, @error::text, 0, false
    where sqlc.narg('effect_id') is null or exists (select from prior p where p.other_call)
), invocation as (
    insert into tool_invocations as i (id, tenant_id, run_id, turn, position, call_id, effect_id, tool_id, tool_scope_id, tool,
        version, digest, implementation_type, subject, agent_id, mode, status, egress_class, attempt, input, receipt,
        output, is_error, error_kind, error, completed_at, parent_id)
    select d.invocation_id, @tenant_id, sqlc.narg('run_id'), @turn, @position, @call_id, d.effect_id, c.tool_id, c.scope_id, @tool,
           @version, @digest, @implementation_type, @subject, sqlc.narg('agent_id')::uuid, @mode, d.status,
           coalesce(c.egress_class, ''), d.attempt, c.arguments, sqlc.narg('receipt')::json,
           d.result, answer_is_error(d.result), d.error_kind, d.error, now(), sqlc.narg('parent_id')::uuid
    from ending d cross join call c
    on conflict (tenant_id, id) do update
        set status = excluded.status, output = excluded.output, is_error = excluded.is_error,
            error_kind = excluded.error_kind, error = excluded.error, completed_at = excluded.completed_at
        where i.status in ('pending', 'approved', 'running', 'waiting')
    returning i.id, i.started_at
), outcome as (
    select true as won, d.invocation_id, d.status, d.result, d.error_kind, d.error, d.sent
    from ending d join invocation i on i.id = d.invocation_id
    union all
    select false, p.invocation_id, p.status, p.result, p.error_kind, p.error, p.sent_before
    from prior p where p.phase = 'done' and not p.other_call
    union all
    select false, i.id, i.status, i.output, i.error_kind, i.error, false
    from tool_invocations i
    where i.tenant_id = @tenant_id and i.id = @invocation_id and i.status not in ('pending', 'approved', 'running', 'waiting')
      and (sqlc.narg('effect_id') is null or exists (select from prior p where p.other_call))
), taint as (
    -- What the call brings into its run: its own result, or that of the run that it was.
    select jsonb_build_object('run_id', sqlc.narg('run_id')::uuid, 'invocation_id', i.id, 'tool', @tool::text, 'version', @version::text,
               'turn', @turn::int, 'at', now()) || case when @by_link::boolean then '{"source": "link"}'::jsonb else '{}' end as data
    from invocation i join ending d on d.attempt > 0
    where @taints::boolean or @by_link
    union all
    select c.taint || jsonb_build_object('turn', @turn::int)
    from invocation i join runs c on c.tenant_id = @tenant_id and c.parent_invocation_id = i.id and c.taint is not null
    where @nested::boolean
    limit 1
), tainted as materialized (
    select t.data from taint t join runs r on r.tenant_id = @tenant_id and r.id = sqlc.narg('run_id') and r.taint is null
    for no key update of r
), numbered as (
    update runs r set taint = coalesce(r.taint, (select t.data from tainted t)),
        last_seq = r.last_seq + 1 + (select count(*) from tainted) + (sqlc.narg('drift_attempted')::text is not null)::int
                                            + (sqlc.narg('output_mismatch')::text is not null)::int
    from invocation i
    where r.tenant_id = @tenant_id and r.id = sqlc.narg('run_id')
    returning r.last_seq - (select count(*) from tainted) as last_seq
), event as (
    insert into run_events (tenant_id, run_id, seq, type, invocation_id, data)
    select @tenant_id, sqlc.narg('run_id'), n.last_seq + 1, 'run.tainted', i.id, t.data::json
    from numbered n cross join invocation i cross join tainted t
    union all
    select @tenant_id, sqlc.narg('run_id'), n.last_seq - 1 - (sqlc.narg('output_mismatch')::text is not null)::int, 'tool.warning', o.invocation_id,
           json_build_object('tool', @tool::text, 'version', @version::text, 'call_id', @call_id::text, 'reason', 'egress_drift',
               'declared', @drift_declared::text, 'attempted', sqlc.narg('drift_attempted')::text)
    from numbered n join outcome o on o.won
    where sqlc.narg('drift_attempted') is not null
    union all
    select @tenant_id, sqlc.narg('run_id'), n.last_seq - 1, 'tool.warning', o.invocation_id,
           json_build_object('tool', @tool::text, 'version', @version::text, 'call_id', @call_id::text, 'reason', 'output_mismatch',
               'message', sqlc.narg('output_mismatch')::text)
    from numbered n join outcome o on o.won
    where sqlc.narg('output_mismatch') is not null
    union all
    select @tenant_id, sqlc.narg('run_id'), n.last_seq,
           case when o.status = @status then @event_type::text else 'tool.failed' end, o.invocation_id,
           json_build_object('tool', @tool::text, 'version', @version::text, 'call_id', @call_id::text, 'status', o.status,
               'kind', coalesce(o.error_kind, ''), 'is_error', answer_is_error(o.result),
               'ms', coalesce((extract(epoch from now() - i.started_at) * 1000)::bigint, 0))
    from numbered n cross join invocation i join outcome o on o.won
), answer as (
    insert into messages (id, tenant_id, run_id, parent_id, turn, position, role, content, call_id, is_error)
    select @answer_id, @tenant_id, sqlc.narg('run_id'), sqlc.narg('message_id'), @turn, @position, 'tool',
           answer_content(o.result, o.error_kind, o.error), @call_id, answer_is_error(o.result)
    from outcome o
    where sqlc.narg('message_id') is not null
    on conflict do nothing
)
select coalesce(o.won, false)::boolean as won,
       o.invocation_id,
       coalesce(o.status, '')::text as status,
       o.result::json as result,
       coalesce(o.error_kind, '')::text as error_kind,
       coalesce(o.error, '')::text as error,
       coalesce(o.sent, false)::boolean as sent,
       p.fence as prior_fence
from call c
left join outcome o on true
left join prior p on true
limit 1;

-- name: ListEffects :many
-- Effects with the arguments of their calls, as they were approved where people edited them.
select e.effect_id, e.invocation_id, e.phase, coalesce(e.status, '') as status, e.result,
       coalesce(e.error_kind, '') as error_kind, coalesce(e.error, '') as error,
       coalesce(ap.edited, i.input)::json as input
from effects e
left join tool_invocations i on i.tenant_id = e.tenant_id and i.id = e.invocation_id
left join approvals ap on ap.tenant_id = e.tenant_id and ap.effect_id = e.effect_id and ap.status = 'approved'
where e.tenant_id = @tenant_id and e.effect_id = any (@effect_ids::text[]);

-- name: RecordSteps :one
-- Records calls that ended, a turn, calls that begin and the next question, in the common
-- case; see the function.
select record_steps(@tenant_id, @run_id, @mode, @subject, sqlc.narg('agent_id'), sqlc.narg('ended')::json,
    sqlc.narg('turn')::json, sqlc.narg('begin')::json, sqlc.narg('ask')::json, sqlc.narg('end')::json)::json as recorded;
