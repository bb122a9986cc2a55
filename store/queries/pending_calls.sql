-- name: AddPendingCall :execrows
-- Records a call that is answered from outside, once.
insert into pending_tool_calls (tenant_id, id, run_id, root_run_id, effect_id, message_id, parent_id, agent_id, turn, position,
    call_id, tool_id, tool, version, digest, implementation_type, subject, mode, intent, shown, requires_response, is_async,
    status, result, submit_key, workflow_id, inline_bytes, answer_by, expires_at, resolved_at)
values (@tenant_id, @id, @run_id, @root_run_id, @effect_id, sqlc.narg('message_id')::uuid, sqlc.narg('parent_id')::uuid,
    sqlc.narg('agent_id')::uuid, @turn, @position, @call_id, sqlc.narg('tool_id')::uuid, @tool, @version, @digest,
    @implementation_type, @subject, @mode, @intent, @shown, @requires_response, @is_async,
    @status::text, sqlc.narg('result')::json, @submit_key, @workflow_id, @inline_bytes::int,
    case when @status = 'waiting' then now() + make_interval(secs => @answer_s::float8) end,
    now() + make_interval(secs => @keep_s::float8), case when @status = 'resolved' then now() end)
on conflict (tenant_id, id) do nothing;

-- name: AwaitInvocation :exec
-- A call that waits for its result.
update tool_invocations i set status = 'waiting'
where i.tenant_id = @tenant_id and i.id = @id and i.status = 'running';

-- name: LockPendingCall :exec
select from pending_tool_calls p where p.tenant_id = @tenant_id and p.id = @id for update;

-- name: FindPendingCall :one
-- A call with its arguments, as they were approved where people edited them.
select sqlc.embed(p), coalesce(ap.edited, i.input)::json as arguments, (p.expires_at <= now())::boolean as overdue,
       (r.status in ('completed', 'failed', 'cancelled'))::boolean as run_over
from pending_tool_calls p
join runs r on r.tenant_id = p.tenant_id and r.id = p.run_id
left join tool_invocations i on i.tenant_id = p.tenant_id and i.id = p.id
left join approvals ap on ap.tenant_id = p.tenant_id and ap.id = p.id and ap.status = 'approved'
where p.tenant_id = @tenant_id and p.id = @id;

-- name: ListPendingCalls :many
-- The time of a call is in its id.
select sqlc.embed(p), coalesce(ap.edited, i.input)::json as arguments, (p.expires_at <= now())::boolean as overdue,
       false::boolean as run_over
from pending_tool_calls p
left join tool_invocations i on i.tenant_id = p.tenant_id and i.id = p.id
left join approvals ap on ap.tenant_id = p.tenant_id and ap.id = p.id and ap.status = 'approved'
where p.tenant_id = @tenant_id
  and (sqlc.narg('before')::uuid is null or p.id < sqlc.narg('before'))
  and (@status::text = ''
       or @status = 'open' and p.status in ('waiting', 'pending') and p.expires_at > now()
       or @status = 'expired' and p.status in ('waiting', 'pending') and p.expires_at <= now()
       or p.status = @status and (p.status not in ('waiting', 'pending') or p.expires_at > now()))
  and (cardinality(@tools::text[]) = 0 or p.tool = any (@tools))
  and (@call_id::text = '' or p.call_id = @call_id)
  and (@implementation::text = '' or p.implementation_type = @implementation)
  and (sqlc.narg('run_id')::uuid is null or p.run_id = sqlc.narg('run_id') or p.root_run_id = sqlc.narg('run_id'))
order by p.id desc
limit sqlc.arg('limit')::int;

-- name: ListOldestPendingCalls :many
-- As ListPendingCalls, in the other order.
select sqlc.embed(p), coalesce(ap.edited, i.input)::json as arguments, (p.expires_at <= now())::boolean as overdue,
       false::boolean as run_over
from pending_tool_calls p
left join tool_invocations i on i.tenant_id = p.tenant_id and i.id = p.id
left join approvals ap on ap.tenant_id = p.tenant_id and ap.id = p.id and ap.status = 'approved'
where p.tenant_id = @tenant_id
  and (sqlc.narg('before')::uuid is null or p.id > sqlc.narg('before'))
  and (@status::text = ''
       or @status = 'open' and p.status in ('waiting', 'pending') and p.expires_at > now()
       or @status = 'expired' and p.status in ('waiting', 'pending') and p.expires_at <= now()
       or p.status = @status and (p.status not in ('waiting', 'pending') or p.expires_at > now()))
  and (cardinality(@tools::text[]) = 0 or p.tool = any (@tools))
  and (@call_id::text = '' or p.call_id = @call_id)
  and (@implementation::text = '' or p.implementation_type = @implementation)
  and (sqlc.narg('run_id')::uuid is null or p.run_id = sqlc.narg('run_id') or p.root_run_id = sqlc.narg('run_id'))
order by p.id
limit sqlc.arg('limit')::int;

-- name: ResolvePendingCall :exec
-- Stores the result of a call. There is something to tell its workflow where that waits.
update pending_tool_calls p set status = 'resolved', result = @result::json, late = @late, submitted_by = @submitted_by, by_link = @by_link,
    resolved_at = now(), deliver_at = case when not @late then now() end
where p.tenant_id = @tenant_id and p.id = @id and p.status <> 'resolved';

-- name: CallTaints :one
-- Whether the results of a call taint its run, as the plan of the run says.
select exists (
    select from runs r, json_array_elements(r.plan -> 'tools') p (pin)
    where r.tenant_id = @tenant_id and r.id = @run_id and p.pin ->> 'slug' = @tool::text and (p.pin ->> 'taints')::boolean) as taints;

-- name: FindLateResult :one
-- A result that came to the inbox of a run.
select p.result, p.inline_bytes from pending_tool_calls p
where p.tenant_id = @tenant_id and p.id = @id and p.result is not null and exists (
    select from inbox_items x where x.tenant_id = p.tenant_id and x.call_id = p.id and x.run_id = @run_id);

-- name: RekeyPendingCall :execrows
-- Gives a call another key, so that what was signed with the one before opens nothing any more.
update pending_tool_calls p set submit_key = @submit_key where p.tenant_id = @tenant_id and p.id = @id;

-- name: ClaimResolvedCalls :one
select claim_resolved_calls(@most::int, make_interval(secs => @lease_s::float8))::json as claimed;

-- name: PendingCallDelivered :exec
update pending_tool_calls p set deliver_at = null where p.tenant_id = @tenant_id and p.id = @id;
