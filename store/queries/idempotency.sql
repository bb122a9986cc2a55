-- name: BeginRequest :one
-- Takes a key that is free: a new one, an expired one, or one whose lease has expired. A
-- lease longer than the longest was taken while the database's clock was ahead. Else
-- returns the current request. No row is returned when another transaction wrote it
-- meanwhile.
-- another transaction wrote it meanwhile.
with taken as (
    insert into idempotency_keys as k (tenant_id, subject, key_hash, id, digest, lease_until, expires_at)
    values (@tenant_id, @subject, @key_hash, @id, @digest,
        now() + make_interval(secs => @lease_s::float8), now() + make_interval(secs => @keep_s::float8))
    on conflict (tenant_id, subject, key_hash) do update
        set id          = case when k.expires_at <= now() then excluded.id else k.id end,
            created_at  = case when k.expires_at <= now() then now() else k.created_at end,
            expires_at  = case when k.expires_at <= now() then excluded.expires_at else k.expires_at end,
            digest      = excluded.digest,
            fence       = k.fence + 1,
            lease_until = excluded.lease_until,
            status      = null,
            header      = null,
            body        = null
        where k.expires_at <= now()
           or k.status is null and k.digest = excluded.digest and (k.lease_until <= now() or k.lease_until > now() + interval '5 minutes')
    returning k.id, k.digest, k.fence
)
select t.id, t.digest, t.fence, true as taken, null::integer as status, null::json as header, null::bytea as body,
       0::float8 as wait_s
from taken t
union all
select k.id, k.digest, k.fence, false, k.status, k.header, k.body,
       greatest(extract(epoch from k.lease_until - now())::float8, 0)
from idempotency_keys k
where k.tenant_id = @tenant_id and k.subject = @subject and k.key_hash = @key_hash and k.expires_at > now()
  and not exists (select from taken);

-- name: FinishRequest :execrows
update idempotency_keys set status = @status::integer, header = @header, body = @body
where tenant_id = @tenant_id and subject = @subject and key_hash = @key_hash and fence = @fence and status is null;

-- name: RenewRequest :execrows
update idempotency_keys set lease_until = now() + make_interval(secs => @lease_s::float8)
where tenant_id = @tenant_id and subject = @subject and key_hash = @key_hash and fence = @fence and status is null;

-- name: ReleaseRequest :execrows
update idempotency_keys set lease_until = now(), id = coalesce(sqlc.narg('new_id')::uuid, id)
where tenant_id = @tenant_id and subject = @subject and key_hash = @key_hash and fence = @fence and status is null;

-- name: SweepRequests :one
select sweep_idempotency_keys(@most::int)::int as gone;
