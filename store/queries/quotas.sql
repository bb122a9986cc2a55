-- name: ListQuotas :many
-- What a tenant may have and has, of each name. Of quotas that apply, its own comes first.
select x.name::text as name, (q.name is not null)::boolean as ruled, q.most, (q.tenant_id is not null)::boolean as own,
       coalesce(q.changed_by, '')::text as changed_by,
       coalesce(q.changed_at, 'epoch')::timestamptz as changed_at,
       coalesce((select sum(c.used) from quota_counts c where c.tenant_id = @tenant_id and c.name = x.name), 0)::bigint as used
from unnest(@names::text[]) with ordinality as x (name, place)
left join lateral (
    select r.* from quotas r
    where r.scope_id in (@tenant_id, '00000000-0000-0000-0000-000000000000') and r.name = x.name
    order by r.tenant_id nulls last
    limit 1
) q on true
order by x.place;

-- name: ListQuotaRules :many
-- Of one tenant, or with the nil UUID those of all.
select * from quotas q where q.scope_id = @scope_id order by q.name;

-- name: SetQuota :exec
insert into quotas as q (tenant_id, name, most, changed_by)
values (sqlc.narg('tenant_id')::uuid, @name, sqlc.narg('most')::bigint, @changed_by)
on conflict (scope_id, name) do update set most = excluded.most, changed_by = excluded.changed_by, changed_at = now();

-- name: UnsetQuota :execrows
delete from quotas q where q.scope_id = @scope_id and q.name = @name;

-- name: RecountQuotas :one
select recount_quotas(@tenant_id::uuid, @repair::boolean)::json as wrong;
