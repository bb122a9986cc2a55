-- name: CreateCredential :one
insert into credentials (tenant_id, id, ref, category, provider_key, provider_variant, hosts, version, key_version, ciphertext, expires_at)
values (@tenant_id, @id, @ref, @category, @provider_key, @provider_variant, @hosts, @version, @key_version, @ciphertext, @expires_at)
returning *;

-- name: ChangeCredential :one
-- The version counts values. A value encrypted again meanwhile is not put back under an
-- older key.
update credentials c set
    category = @category, provider_key = @provider_key, provider_variant = @provider_variant, hosts = @hosts,
    rotated_at = case when c.version = @version then c.rotated_at else now() end,
    version = @version, key_version = @key_version, ciphertext = @ciphertext, expires_at = @expires_at,
    revision = c.revision + 1, updated_at = now()
where c.tenant_id = @tenant_id and c.id = @id and c.revision = @revision and c.revoked_at is null
  and c.key_version <= @key_version
returning *;

-- name: RevokeCredential :one
update credentials set revoked_at = now(), ciphertext = null, revision = revision + 1, updated_at = now()
where tenant_id = @tenant_id and id = @id and revoked_at is null
returning *;

-- name: FindCredential :one
select sqlc.embed(c), sqlc.embed(k), (c.expires_at is not null and c.expires_at <= now())::boolean as expired
from credentials c
join tenant_keys k on k.tenant_id = c.tenant_id and k.version = c.key_version
where c.tenant_id = @tenant_id and c.id = @id and c.revoked_at is null;

-- name: OpenCredential :one
select sqlc.embed(c), sqlc.embed(k), (c.expires_at is not null and c.expires_at <= now())::boolean as expired
from credentials c
join tenant_keys k on k.tenant_id = c.tenant_id and k.version = c.key_version
where c.tenant_id = @tenant_id and c.ref = @ref and c.revoked_at is null;

-- name: OpenSelected :one
select sqlc.embed(c), sqlc.embed(k), (c.expires_at is not null and c.expires_at <= now())::boolean as expired
from credentials c
join tenant_keys k on k.tenant_id = c.tenant_id and k.version = c.key_version
where c.tenant_id = @tenant_id and c.category = @category and c.provider_key = @provider_key
  and c.provider_variant = @provider_variant and c.category <> '' and c.revoked_at is null;

-- name: ListCredentials :many
select * from credentials
where tenant_id = @tenant_id and ref > @after and revoked_at is null
order by ref limit sqlc.arg('limit')::int;

-- name: NoteCredentialUse :exec
update credentials set last_used_at = now()
where tenant_id = @tenant_id and id = @id and revoked_at is null
  and (last_used_at is null or last_used_at < now() - interval '1 minute');

-- name: AddDataKey :one
-- Returns the key of the version, whichever process wrote it.
with added as (
    insert into tenant_keys (tenant_id, version, wrapped, kek_id)
    values (@tenant_id, @version, @wrapped, @kek_id)
    on conflict (tenant_id, version) do nothing
    returning *
)
select a.* from added a
union all
select k.* from tenant_keys k where k.tenant_id = @tenant_id and k.version = @version and not exists (select from added);

-- name: NewestDataKey :one
select * from tenant_keys where tenant_id = @tenant_id order by version desc limit 1;

-- name: ListDataKeys :many
select sqlc.embed(k), (
    select count(*) from credentials c where c.tenant_id = k.tenant_id and c.key_version = k.version and c.revoked_at is null
)::bigint as credentials
from tenant_keys k
where k.tenant_id = @tenant_id
order by k.version;

-- name: RewrapDataKey :execrows
update tenant_keys set wrapped = @wrapped, kek_id = @kek_id, updated_at = now()
where tenant_id = @tenant_id and version = @version and kek_id = @from_kek;

-- name: ListSealedBefore :many
select sqlc.embed(c), sqlc.embed(k), false as expired
from credentials c
join tenant_keys k on k.tenant_id = c.tenant_id and k.version = c.key_version
where c.tenant_id = @tenant_id and c.key_version < @key_version and c.revoked_at is null
order by c.id limit sqlc.arg('limit')::int;

-- name: ResealCredential :execrows
update credentials set ciphertext = @ciphertext, key_version = @key_version
where tenant_id = @tenant_id and id = @id and revision = @revision and version = @version and revoked_at is null;
