-- name: CountRoles :one
select count(*) from roles r where r.tenant_id = @tenant_id;

-- name: CreateRole :one
insert into roles (tenant_id, id, name, description, permissions, created_by, changed_by)
values (@tenant_id, @id, @name, @description, @permissions, @created_by, @created_by)
returning *;

-- name: FindRole :one
select * from roles r where r.tenant_id = @tenant_id and r.name = @name;

-- name: FindRoles :many
-- Those of the names that there are. They are there until the transaction ends.
select r.* from roles r where r.tenant_id = @tenant_id and r.name = any (@names::text[]) order by r.name for share;

-- name: ListRoles :many
select r.* from roles r where r.tenant_id = @tenant_id order by r.name;

-- name: ChangeRole :one
update roles r set description = @description, permissions = @permissions, revision = r.revision + 1,
    changed_by = @changed_by, changed_at = now()
where r.tenant_id = @tenant_id and r.id = @id and r.revision = @revision
returning *;

-- name: DeleteRole :one
delete from roles r where r.tenant_id = @tenant_id and r.name = @name
returning *;

-- name: KeysOfRole :many
-- Some of the keys that have a role and can be used.
select k.id, k.name from api_keys k
where k.tenant_id = @tenant_id and @role::text = any (k.roles)
  and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())
order by k.id
limit 3;
