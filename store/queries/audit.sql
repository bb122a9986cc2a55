-- In these queries scope_id is the tenant's id, or the nil UUID for the platform's.

-- name: ListAudit :many
-- Newest first; the time of a row is in its id. What was before and after in the rows, the last two
-- apart, has fewer bytes than asked for.
with page as (
    select l.id, coalesce(octet_length(l.before::text), 0) + coalesce(octet_length(l.after::text), 0) as bytes
    from audit_log l
    where l.scope_id = @scope_id
      and (sqlc.narg('before')::uuid is null or l.id < sqlc.narg('before'))
      and (@actor::text = '' or l.actor = @actor)
      and (@action::text = '' or l.action = @action or starts_with(l.action, @action || '.'))
      and (@object::text = '' or l.object_id = @object or l.object_name = @object)
      and (@outcome::text = '' or l.outcome = @outcome)
      and (sqlc.narg('since')::timestamptz is null or l.at >= sqlc.narg('since'))
      and (sqlc.narg('until')::timestamptz is null or l.at < sqlc.narg('until'))
    order by l.id desc
    limit sqlc.arg('limit')::int
), within as (
    select p.id, coalesce(sum(p.bytes) over (order by p.id desc rows between unbounded preceding and 2 preceding), 0) as former
    from page p
)
select l.* from within w join audit_log l on l.scope_id = @scope_id and l.id = w.id
where w.former < @bytes::bigint
order by l.id desc;

-- name: FindAudit :one
select l.* from audit_log l where l.scope_id = @scope_id and l.id = @id;

-- name: ListAuditChain :many
-- Sealed rows in the order of the chain.
select l.* from audit_log l
where l.scope_id = @scope_id and l.seq > @after::bigint
order by l.seq
limit sqlc.arg('limit')::int;

-- name: AuditState :one
-- The recorded head, and what there is beside it.
select coalesce(h.seq, 0)::bigint as seq, coalesce(h.hash, '')::text as hash, h.sealed_at,
       coalesce((select max(m.seq) from audit_log m where m.scope_id = @scope_id), 0)::bigint as last_seq,
       u.unsealed, u.oldest
from (select count(*) as unsealed, coalesce(min(l.at), 'epoch')::timestamptz as oldest from audit_log l where l.scope_id = @scope_id and l.seq is null) u
left join audit_heads h on h.scope_id = @scope_id;

-- name: SealAudit :one
-- Of every tenant and of the platform.
select seal_audit(@most::int)::int as sealed;

-- name: AuditUnsealedAge :one
select audit_unsealed_age()::float8 as seconds;

-- name: RefuseAudit :exec
select audit_refuse(@tenant_id::uuid, @action, @object_kind, @object_id, @object_name, @reason);
