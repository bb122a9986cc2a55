-- name: FindInvocation :one
select * from tool_invocations where tenant_id = @tenant_id and id = @id;

-- name: FindBriefInvocation :one
-- Without the answer, which may be large.
select id, tenant_id, run_id, turn, position, call_id, effect_id, tool_id, tool_scope_id, tool, version, digest, implementation_type,
    subject, agent_id, mode, status, approval_required, approval_status, approval_decided_by, approval_reason, egress_class,
    attempt, input, receipt, null::json as output, is_error, error_kind, error,
    cost_estimate, created_at, started_at, completed_at, parent_id, failed_status, shown, cost_micros
from tool_invocations where tenant_id = @tenant_id and id = @id;

-- name: OutputBytes :one
select coalesce(octet_length(i.output::text), 0)::bigint as bytes
from tool_invocations i where i.tenant_id = @tenant_id and i.id = @id;

-- name: ListInvocations :many
-- The time of a call is in its id, by which partitions are pruned. Calls with one of the
-- statuses of failed_status have an index; those that completed are most.
select * from tool_invocations
where tenant_id = @tenant_id
  and (sqlc.narg('before')::uuid is null or id < sqlc.narg('before'))
  and (@status::text = '' or status = @status)
  and (@failed_status::text = '' or failed_status = @failed_status)
  and (@tool::text = '' or tool = @tool)
  and (@kind::text = '' or error_kind = @kind)
  and (sqlc.narg('run_id')::uuid is null or run_id = sqlc.narg('run_id'))
  and (sqlc.narg('agent_id')::uuid is null or agent_id = sqlc.narg('agent_id'))
  and (sqlc.narg('parent_id')::uuid is null or parent_id = sqlc.narg('parent_id'))
  and (sqlc.narg('since')::timestamptz is null or id >= uuid_floor(sqlc.narg('since')))
  and (sqlc.narg('until')::timestamptz is null or id < uuid_floor(sqlc.narg('until')))
order by id desc
limit sqlc.arg('limit')::int;

-- name: ListBriefInvocations :many
-- ListInvocations without arguments, receipts and answers, which may be large.
select id, tenant_id, run_id, turn, position, call_id, effect_id, tool_id, tool_scope_id, tool, version, digest, implementation_type,
    subject, agent_id, mode, status, approval_required, approval_status, approval_decided_by, approval_reason, egress_class,
    attempt, null::json as input, null::json as receipt, null::json as output, is_error, error_kind, error,
    cost_estimate, created_at, started_at, completed_at, parent_id, failed_status, shown, cost_micros
from tool_invocations
where tenant_id = @tenant_id
  and (sqlc.narg('before')::uuid is null or id < sqlc.narg('before'))
  and (@status::text = '' or status = @status)
  and (@failed_status::text = '' or failed_status = @failed_status)
  and (@tool::text = '' or tool = @tool)
  and (@kind::text = '' or error_kind = @kind)
  and (sqlc.narg('run_id')::uuid is null or run_id = sqlc.narg('run_id'))
  and (sqlc.narg('agent_id')::uuid is null or agent_id = sqlc.narg('agent_id'))
  and (sqlc.narg('parent_id')::uuid is null or parent_id = sqlc.narg('parent_id'))
  and (sqlc.narg('since')::timestamptz is null or id >= uuid_floor(sqlc.narg('since')))
  and (sqlc.narg('until')::timestamptz is null or id < uuid_floor(sqlc.narg('until')))
order by id desc
limit sqlc.arg('limit')::int;

-- name: ListOpenInvocations :many
-- ListInvocations for a status of calls that have not ended, which are found by their effects.
select i.* from effects e
join tool_invocations i on i.tenant_id = e.tenant_id and i.id = e.invocation_id
where e.tenant_id = @tenant_id and e.phase <> 'done'
  and i.tenant_id = @tenant_id and i.status = @status::text
  and (sqlc.narg('before')::uuid is null or e.invocation_id < sqlc.narg('before'))
  and (@tool::text = '' or i.tool = @tool)
  and (@kind::text = '' or i.error_kind = @kind)
  and (sqlc.narg('run_id')::uuid is null or i.run_id = sqlc.narg('run_id'))
  and (sqlc.narg('agent_id')::uuid is null or i.agent_id = sqlc.narg('agent_id'))
  and (sqlc.narg('parent_id')::uuid is null or i.parent_id = sqlc.narg('parent_id'))
  and (sqlc.narg('since')::timestamptz is null or e.invocation_id >= uuid_floor(sqlc.narg('since')))
  and (sqlc.narg('until')::timestamptz is null or e.invocation_id < uuid_floor(sqlc.narg('until')))
order by e.invocation_id desc
limit sqlc.arg('limit')::int;
