-- name: LockEffect :one
-- The effect of a call that waits for somebody, locked until the transaction ends.
select e.phase, e.fence, e.invocation_id, e.version_digest, e.arguments_digest from effects e
where e.tenant_id = @tenant_id and e.effect_id = @effect_id
for update;

-- name: FindCallOfRun :one
-- What is recorded with a call that asks: its run, and where its arguments are stored with
-- the assistant message, these and their digest.
select r.agent, r.subject, r.kind,
       (m.prepared -> @position::int -> 'arguments')::json as arguments,
       coalesce(m.prepared -> @position::int ->> 'arguments_digest', '')::text as arguments_digest
from runs r
left join messages m on m.tenant_id = r.tenant_id and m.run_id = r.id and m.id = sqlc.narg('message_id')::uuid
where r.tenant_id = @tenant_id and r.id = @run_id;

-- name: OpenEffect :execrows
-- Records the effect of a call that was never admitted.
insert into effects (tenant_id, effect_id, phase, fence, attempt, invocation_id, version_digest, arguments_digest)
values (@tenant_id, @effect_id, 'accepted', 1, 0, @invocation_id, @digest, @arguments_digest)
on conflict do nothing;

-- name: HoldEffect :execrows
-- Takes an effect back from the attempt that asks: no attempt before it may send.
update effects e set phase = 'accepted', fence = e.fence + 1
where e.tenant_id = @tenant_id and e.effect_id = @effect_id and e.phase in ('accepted', 'admitted');

-- name: HoldInvocation :execrows
-- Sets the invocation of a call to pending, and records one that was never admitted.
insert into tool_invocations as i (id, tenant_id, run_id, turn, position, call_id, effect_id, tool_id, tool_scope_id, tool,
    version, digest, implementation_type, subject, agent_id, mode, status, approval_required, approval_status, egress_class,
    input, receipt, parent_id)
select @id, n.id, @run_id, @turn, @position, @call_id, @effect_id, t.id, t.scope_id, @tool,
       @version, @digest, @implementation_type, @subject, sqlc.narg('agent_id')::uuid, @mode, 'pending', true, 'pending',
       coalesce(t.egress_class, ''), sqlc.narg('input')::json, sqlc.narg('receipt')::json, sqlc.narg('parent_id')::uuid
from tenants n
left join tool_registry t on t.id = sqlc.narg('tool_id')::uuid
                         and t.scope_id in (n.id, '00000000-0000-0000-0000-000000000000')
where n.id = @tenant_id
on conflict (tenant_id, id) do update
    set status = 'pending', approval_required = true, approval_status = 'pending', approval_decided_by = null,
        approval_reason = null
    where i.effect_id = excluded.effect_id and i.status in ('pending', 'approved', 'running', 'waiting');

-- name: LockInvocation :exec
select from tool_invocations i where i.tenant_id = @tenant_id and i.id = @id for no key update;

-- name: LockRun :one
select r.subject from runs r where r.tenant_id = @tenant_id and r.id = @id for no key update;

-- name: LockApproval :exec
select from approvals a where a.tenant_id = @tenant_id and a.id = @id for update;

-- name: FindRootRun :one
-- The outermost of a run and its ancestors.
with recursive line as (
    select r.id, r.parent_run_id, 0 as above from runs r where r.tenant_id = @tenant_id and r.id = @id
    union all
    select r.id, r.parent_run_id, l.above + 1
    from line l join runs r on r.tenant_id = @tenant_id and r.id = l.parent_run_id
    where l.above < @most::int
)
select l.id::uuid as id from line l order by l.above desc limit 1;

-- name: AddApproval :exec
insert into approvals (tenant_id, id, run_id, root_run_id, effect_id, turn, call_id, tool, version, agent, requester,
    content, credential, host, own, asked, binding, message, reasons, needed, permission, workflow_id, expires_at,
    escalates_at, escalate_to)
values (@tenant_id, @id, @run_id, @root_run_id, @effect_id, @turn, @call_id, @tool, @version, @agent, @requester,
    @content, @credential, @host, @own, @binding, @binding, @message, @reasons, @needed, @permission, @workflow_id,
    now() + make_interval(secs => @expires_s::float8), now() + make_interval(secs => sqlc.narg('escalate_s')::float8),
    @escalate_to);

-- name: RenewApproval :exec
-- Asks anew for a call that was approved for another binding, in the next round.
update approvals a set content = @content, credential = @credential, host = @host, own = @own, asked = @binding, binding = @binding,
    edited = case when @keep_edited::boolean then a.edited end, message = @message, reasons = @reasons,
    round = a.round + 1, needed = @needed, permission = @permission, status = 'pending', reason = '',
    workflow_id = @workflow_id, expires_at = now() + make_interval(secs => @expires_s::float8), ended_at = null, deliver_at = null,
    escalates_at = now() + make_interval(secs => sqlc.narg('escalate_s')::float8), escalate_to = @escalate_to, escalated_at = null
where a.tenant_id = @tenant_id and a.id = @id;

-- name: AddCallEvent :exec
with numbered as (
    update runs r set last_seq = r.last_seq + 1 where r.tenant_id = @tenant_id and r.id = @run_id
    returning r.last_seq
)
insert into run_events (tenant_id, run_id, seq, type, invocation_id, data)
select @tenant_id, @run_id, n.last_seq, @type, @invocation_id::uuid, @data::json from numbered n;

-- name: FindApproval :one
-- A request with the arguments of its call and the decisions of its round.
select sqlc.embed(a), i.input::json as arguments, (
        select json_agg(json_build_object('subject', d.subject, 'approve', d.approve, 'reason', d.reason, 'edited', d.edited,
            'grant_id', d.grant_id, 'at', d.at) order by d.at, d.subject)
        from approval_decisions d where d.tenant_id = a.tenant_id and d.approval_id = a.id and d.round = a.round
    )::json as decisions, (a.expires_at <= now())::boolean as overdue,
    coalesce(a.escalates_at <= now(), false)::boolean as escalated
from approvals a
left join tool_invocations i on i.tenant_id = a.tenant_id and i.id = a.id
where a.tenant_id = @tenant_id and a.id = @id;

-- name: ListApprovals :many
-- The time of a call is in its id.
select sqlc.embed(a), i.input::json as arguments, (
        select json_agg(json_build_object('subject', d.subject, 'approve', d.approve, 'reason', d.reason, 'edited', d.edited,
            'grant_id', d.grant_id, 'at', d.at) order by d.at, d.subject)
        from approval_decisions d where d.tenant_id = a.tenant_id and d.approval_id = a.id and d.round = a.round
    )::json as decisions, (a.expires_at <= now())::boolean as overdue,
    coalesce(a.escalates_at <= now(), false)::boolean as escalated
from approvals a
left join tool_invocations i on i.tenant_id = a.tenant_id and i.id = a.id
where a.tenant_id = @tenant_id
  and (sqlc.narg('before')::uuid is null or a.id < sqlc.narg('before'))
  and (@status::text = '' or a.status = @status)
  and (@tool::text = '' or a.tool = @tool)
  and (sqlc.narg('run_id')::uuid is null or a.run_id = sqlc.narg('run_id') or a.root_run_id = sqlc.narg('run_id'))
  and (sqlc.narg('turn')::int is null or a.run_id = sqlc.narg('run_id') and a.turn = sqlc.narg('turn'))
order by a.id desc
limit sqlc.arg('limit')::int;

-- name: ListOldestApprovals :many
-- As ListApprovals, in the other order: each is read along the index.
select sqlc.embed(a), i.input::json as arguments, (
        select json_agg(json_build_object('subject', d.subject, 'approve', d.approve, 'reason', d.reason, 'edited', d.edited,
            'grant_id', d.grant_id, 'at', d.at) order by d.at, d.subject)
        from approval_decisions d where d.tenant_id = a.tenant_id and d.approval_id = a.id and d.round = a.round
    )::json as decisions, (a.expires_at <= now())::boolean as overdue,
    coalesce(a.escalates_at <= now(), false)::boolean as escalated
from approvals a
left join tool_invocations i on i.tenant_id = a.tenant_id and i.id = a.id
where a.tenant_id = @tenant_id
  and (sqlc.narg('before')::uuid is null or a.id > sqlc.narg('before'))
  and (@status::text = '' or a.status = @status)
  and (@tool::text = '' or a.tool = @tool)
  and (sqlc.narg('run_id')::uuid is null or a.run_id = sqlc.narg('run_id') or a.root_run_id = sqlc.narg('run_id'))
  and (sqlc.narg('turn')::int is null or a.run_id = sqlc.narg('run_id') and a.turn = sqlc.narg('turn'))
order by a.id
limit sqlc.arg('limit')::int;

-- name: StandingOfApprovals :many
-- Whom the runs of requests act for, and whether the time of a request is over.
select a.id, r.subject, (a.expires_at <= now())::boolean as overdue
from approvals a
join runs r on r.tenant_id = a.tenant_id and r.id = a.run_id
where a.tenant_id = @tenant_id and a.id = any (@ids::uuid[]);

-- name: AddDecision :exec
insert into approval_decisions (tenant_id, approval_id, round, subject, approve, reason, edited, grant_id)
values (@tenant_id, @approval_id, @round, @subject, @approve, @reason, sqlc.narg('edited')::json, sqlc.narg('grant_id')::uuid);

-- name: EditApproval :exec
update approvals a set edited = @edited::json, binding = @binding
where a.tenant_id = @tenant_id and a.id = @id and a.status = 'pending';

-- name: EndApproval :exec
-- Ends a pending request. There is something to tell its workflow, unless it is cancelled.
update approvals a set status = @status::text, reason = @reason, ended_at = now(),
    deliver_at = case when @status <> 'cancelled' then now() end
where a.tenant_id = @tenant_id and a.id = @id and a.status = 'pending';

-- name: EndInvocationApproval :exec
-- Records on an invocation how its request ended. One that was approved may start; others
-- wait for their settlement.
update tool_invocations i set approval_status = @approval_status, approval_decided_by = sqlc.narg('decided_by')::text,
    approval_reason = sqlc.narg('reason')::text,
    status = case when @approval_status::text = 'approved' and i.status = 'pending' then 'approved' else i.status end
where i.tenant_id = @tenant_id and i.id = @id and i.approval_status = 'pending';

-- name: SubjectsBehind :one
-- A subject and those that made it, and the same of others.
select subjects_behind(@tenant_id, array[@subject::text])::text[] as own, subjects_behind(@tenant_id, @others::text[])::text[] as others;

-- name: CountApprovers :one
-- The active keys of the API with one of the permissions, by themselves or by a role, and the people who
-- signed in within 30 days with such a role, without some subjects: themselves, the people behind them, and what
-- these created.
with recursive excluded as (
    select x.subject from unnest(subjects_behind(@tenant_id, @subjects::text[])) as x (subject)
    where x.subject = any (@subjects) or x.subject like 'user:%'
    union
    select 'key:' || k.id::text from excluded x join api_keys k on k.tenant_id = @tenant_id and k.created_by = x.subject
    where x.subject <> ''
), enabling as (
    select r.name from roles r where r.tenant_id = @tenant_id and r.permissions && (@permissions::text[] || '*'::text)
    union all
    select unnest(@builtin_roles::text[])
)
select (
    select count(*) from api_keys k
    where k.tenant_id = @tenant_id and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())
      and k.toolset_id is null
      and (cardinality(@permissions::text[]) = 0 or k.permissions && (@permissions::text[] || '*'::text)
        or k.roles && array(select e.name from enabling e))
      and not exists (select from excluded x where x.subject = 'key:' || k.id::text)
) + (
    select count(*) from token_users u
    where u.tenant_id = @tenant_id and u.last_seen_at > now() - interval '30 days'
      and (cardinality(@permissions::text[]) = 0 or u.roles && array(select e.name from enabling e))
      and not exists (select from excluded x where x.subject = u.subject)
) as able;

-- name: OverdueApprovals :one
select overdue_approvals(@most::int, make_interval(secs => @over_s::float8))::json as overdue;

-- name: EscalatingApprovals :one
select escalating_approvals(@most::int)::json as escalating;

-- name: EscalateApproval :exec
update approvals a set escalated_at = now()
where a.tenant_id = @tenant_id and a.id = @id and a.status = 'pending';

-- name: ClaimEndedApprovals :one
select claim_ended_approvals(@most::int, make_interval(secs => @lease_s::float8))::json as claimed;

-- name: ApprovalDelivered :exec
update approvals a set deliver_at = null
where a.tenant_id = @tenant_id and a.id = @id and a.status <> 'pending' and (@round::int = 0 or a.round = @round);
