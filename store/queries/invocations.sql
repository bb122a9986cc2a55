-- name: FindInvocation :one
select * from tool_invocations where tenant_id = @tenant_id and id = @id;

-- name: ListInvocations :many
-- The time of a call is in its id, by which partitions are pruned.
select * from tool_invocations
where tenant_id = @tenant_id
  and (sqlc.narg('before')::uuid is null or id < sqlc.narg('before'))
  and (@status::text = '' or status = @status)
  and (@tool::text = '' or tool = @tool)
  and (@kind::text = '' or error_kind = @kind)
  and (sqlc.narg('run_id')::uuid is null or run_id = sqlc.narg('run_id'))
  and (sqlc.narg('agent_id')::uuid is null or agent_id = sqlc.narg('agent_id'))
  and (sqlc.narg('parent_id')::uuid is null or parent_id = sqlc.narg('parent_id'))
  and (sqlc.narg('since')::timestamptz is null or id >= uuid_floor(sqlc.narg('since')))
  and (sqlc.narg('until')::timestamptz is null or id < uuid_floor(sqlc.narg('until')))
order by id desc
limit sqlc.arg('limit')::int;
