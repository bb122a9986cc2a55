-- name: FindTenant :one
select * from tenants where id = @tenant_id;

-- name: CreateTenant :one
insert into tenants (id, slug, name) values (@tenant_id, @slug, @name) returning *;

-- name: FindTenantBySlug :one
-- Cross-tenant: the platform finds tenants by name.
select * from tenants where slug = @slug;

-- name: TenantOfSlug :one
-- Cross-tenant: programs name tenants by slug.
select coalesce(tenant_of_slug(@slug)::text, '')::text as id;

-- name: ListTenants :many
-- Cross-tenant: the platform lists tenants.
select * from tenants where slug > @after order by slug limit sqlc.arg('limit')::int;

-- name: SetTenantStatus :one
update tenants set status = @status, updated_at = now() where id = @tenant_id returning *;

-- name: SetTenantMaxUnfinished :one
update tenants set max_unfinished_runs = sqlc.narg('most')::int, updated_at = now() where id = @tenant_id returning *;

-- name: EnsureInvocationPartitions :one
select ensure_invocation_partitions(@months_ahead::int)::int as made;

-- name: FenceDefaultPartition :one
select coalesce(fence_default_partition(@months_ahead::int), '')::text as fence;

-- name: ValidateDefaultFence :exec
select validate_default_fence(@fence::text);

-- name: DropDefaultFence :exec
select drop_default_fence(@fence::text);

-- name: PurgeRuns :one
select purge_runs(@ended_before::timestamptz, @most::int)::int as purged;

-- name: SetTenantMasking :one
update tenants set mask_sensitive = @mask_sensitive, updated_at = now() where id = @tenant_id returning *;

-- name: SetTenantTaint :one
update tenants set taint = @taint, updated_at = now() where id = @tenant_id returning *;

-- name: LockNumber :exec
-- Serializes what adds to a bounded number of records of a tenant.
select pg_advisory_xact_lock(hashtextextended(@of::text || '/' || @tenant_id::text, 0));

-- name: SweepRetention :one
select sweep_retention(@class::text, @after_tenant::uuid, @most::int, @tenants_at_once::int)::json as swept;

-- name: RetentionState :one
select retention_state(sqlc.narg('tenant_id')::uuid, @counting::boolean)::json as state;

-- name: DropEmptyPartitions :one
select drop_empty_partitions()::int as dropped;

-- name: ListRetentionRules :many
-- Cross-tenant: the platform keeps the rules of all tenants.
select r.tenant_id, t.slug, r.class, r.keep_days from retention_rules r left join tenants t on t.id = r.tenant_id
order by r.tenant_id nulls first, r.class;

-- name: SetRetentionRule :exec
insert into retention_rules (tenant_id, class, keep_days)
values (sqlc.narg('tenant_id'), @class, sqlc.narg('keep_days')::int)
on conflict (scope_id, class) do update set keep_days = excluded.keep_days, updated_at = now();

-- name: DropRetentionRule :execrows
delete from retention_rules where tenant_id = @tenant_id and class = @class;
