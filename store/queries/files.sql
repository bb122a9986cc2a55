-- name: LockFiles :exec
-- Serializes the uploads of a tenant, for their quota.
select pg_advisory_xact_lock(hashtextextended('files/' || @tenant_id::text, 0));

-- name: MeasureFiles :one
-- What a tenant has, and what was sent to a request for input.
select coalesce(sum(f.size), 0)::bigint as bytes,
       coalesce(sum(f.size) filter (where f.invocation_id = sqlc.narg('invocation_id')::uuid), 0)::bigint as call_bytes,
       (count(*) filter (where f.invocation_id = sqlc.narg('invocation_id')::uuid))::int as call_files
from files f where f.tenant_id = @tenant_id;

-- name: AddFile :exec
-- A file whose content is not there yet: it expires unless that comes.
insert into files (tenant_id, id, name, media_type, size, sha256, width, height, kind, run_id, root_run_id, invocation_id,
    location, created_by, expires_at)
values (@tenant_id, @id, @name, @media_type, @size, @sha256, @width, @height, @kind, sqlc.narg('run_id')::uuid,
    sqlc.narg('root_run_id')::uuid, sqlc.narg('invocation_id')::uuid, @location, @created_by,
    now() + make_interval(secs => @pending_s::float8));

-- name: CompleteFile :one
-- A file that nothing uses expires after a time, unless that is zero.
update files f set stored = true,
    expires_at = case when @unused_s::float8 > 0 then now() + make_interval(secs => @unused_s) end
where f.tenant_id = @tenant_id and f.id = @id and not f.stored
returning *;

-- name: FindFile :one
select * from files f
where f.tenant_id = @tenant_id and f.id = @id and f.stored and (f.expires_at is null or f.expires_at > now());

-- name: ListFiles :many
select * from files f
where f.tenant_id = @tenant_id and f.stored and (f.expires_at is null or f.expires_at > now())
  and (sqlc.narg('before')::uuid is null or f.id < sqlc.narg('before'))
  and (sqlc.narg('run_id')::uuid is null or f.run_id = sqlc.narg('run_id') or f.root_run_id = sqlc.narg('run_id'))
  and (sqlc.narg('invocation_id')::uuid is null or f.invocation_id = sqlc.narg('invocation_id'))
order by f.id desc
limit sqlc.arg('limit')::int;

-- name: UseFiles :execrows
-- Keeps files that were sent to a request for input, which its answer names.
update files f set expires_at = null
where f.tenant_id = @tenant_id and f.id = any (@ids::uuid[]) and f.invocation_id = @invocation_id::uuid and f.stored
  and (f.expires_at is null or f.expires_at > now());

-- name: KeepFile :exec
-- Keeps a file that a request for input shows: one of the tenant alone, or of the request's run.
update files f set expires_at = null
where f.tenant_id = @tenant_id and f.id = @id and f.stored and (f.expires_at is null or f.expires_at > now())
  and (f.root_run_id is null or f.root_run_id = @root_run_id::uuid);

-- name: DeleteFile :one
delete from files f where f.tenant_id = @tenant_id and f.id = @id returning *;

-- name: AddFileChunk :exec
insert into file_chunks (tenant_id, file_id, position, content) values (@tenant_id, @file_id, @position, @content);

-- name: FindFileChunk :one
select c.content from file_chunks c where c.tenant_id = @tenant_id and c.file_id = @file_id and c.position = @position;

-- name: DeleteFileChunks :exec
delete from file_chunks c where c.tenant_id = @tenant_id and c.file_id = @file_id;

-- name: SweepFiles :one
select sweep_files(@most::int)::int as swept;

-- name: ClaimLeftFiles :one
select claim_left_files(@location::text, make_interval(secs => @lease_s::float8), @most::int)::json as claimed;

-- name: ForgetFile :exec
delete from left_files l where l.tenant_id = @tenant_id and l.file_id = @file_id;
