-- name: UseToken :one
-- Reads the tenant of a token that was verified, with what roles of the tenant permit, and records
-- whom it was of, at most once a minute. Where there is a limit, requests are taken from the bucket.
with known as (
    select n.id, n.status from tenants n where n.id = @tenant_id
), seen as (
    insert into token_users as u (tenant_id, subject, roles)
    select k.id, @subject::text, @roles::text[] from known k where k.status = 'active'
    on conflict (tenant_id, subject) do update set last_seen_at = now(), roles = excluded.roles
        where u.last_seen_at < now() - interval '1 minute' or u.roles <> excluded.roles
    returning u.first_seen_at = u.last_seen_at as fresh
), gone as (
    delete from token_users g
    where g.tenant_id = @tenant_id and exists (select from seen s where s.fresh)
      and g.last_seen_at < now() - interval '90 days' and g.subject in (
        select o.subject from token_users o
        where o.tenant_id = @tenant_id and o.last_seen_at < now() - interval '90 days'
        order by o.last_seen_at limit 10)
)
select k.status as tenant_status, permissions_of_roles(@tenant_id, @roles::text[])::text[] as role_permissions,
    (case when @take::boolean and k.status = 'active' and (@rate::int > 0 or @bytes_per_minute::bigint > 0)
        then take_requests(@tenant_id, @subject::text, @rate::int, @burst::int, @bytes_per_minute::bigint, @unused::float8,
            @bytes::float8)
        else '{}' end)::float8[] as taken
from known k;

-- name: ListTokenUsers :many
select u.* from token_users u
where u.tenant_id = @tenant_id
order by u.last_seen_at desc, u.subject
limit sqlc.arg('limit')::int;
