-- name: BeginApply :one
-- The time by which an apply has read nothing yet.
select now()::timestamptz as at;

-- name: RecordApplied :many
-- Records that objects belong to a set, and returns those that belonged to another one before, and those that do not
-- belong to the set: another apply is taking them away, or has done so since this one began.
with asked as (
    select unnest(@kinds::text[]) as kind, unnest(@object_ids::uuid[]) as object_id, unnest(@slugs::text[]) as slug
), held as materialized (
    select o.kind, o.object_id, o.set_name, o.gone from applied_objects o join asked using (kind, object_id)
    where o.tenant_id = @tenant_id
), written as (
    insert into applied_objects as o (tenant_id, kind, object_id, slug, set_name, applied_by)
    select @tenant_id, a.kind, a.object_id, a.slug, @set_name, @applied_by from asked a
    order by a.kind, a.object_id
    on conflict (tenant_id, kind, object_id) do update set slug = excluded.slug, set_name = excluded.set_name,
        applied_by = excluded.applied_by, applied_at = now(), removed_at = null, claimed_at = null, gone = false
        where coalesce(o.removed_at <= @began, o.claimed_at is null or o.claimed_at < now() - interval '1 minute')
    returning o.kind, o.object_id
)
select a.kind::text as kind, a.object_id::uuid as object_id, coalesce(h.set_name, '')::text as set_name,
    (w.object_id is null)::boolean as lost
from asked a
left join held h using (kind, object_id)
left join written w using (kind, object_id)
where w.object_id is null or not h.gone and h.set_name <> @set_name::text;

-- name: ListApplied :many
select * from applied_objects o
where o.tenant_id = @tenant_id and o.set_name = @set_name and not o.gone
order by o.kind, o.slug, o.object_id;

-- name: ClaimRemoval :execrows
-- Only of what belongs to the set as it was read, and that nothing else takes away.
update applied_objects o set claimed_at = now()
where o.tenant_id = @tenant_id and o.kind = @kind and o.object_id = @object_id and o.set_name = @set_name
  and o.applied_at = @applied_at and o.removed_at is null
  and (o.claimed_at is null or o.claimed_at < now() - interval '1 minute');

-- name: ReleaseRemoval :exec
update applied_objects o set claimed_at = null
where o.tenant_id = @tenant_id and o.kind = @kind and o.object_id = @object_id and o.set_name = @set_name and o.removed_at is null;

-- name: MarkRemoved :exec
-- Records that an object was taken away. One that is gone for good is forgotten, once no apply can have seen it.
with forgotten as (
    delete from applied_objects o
    where o.tenant_id = @tenant_id and o.gone and o.removed_at < now() - interval '1 hour' and o.object_id <> @object_id
)
update applied_objects o set removed_at = now(), claimed_at = null, gone = @gone
where o.tenant_id = @tenant_id and o.kind = @kind and o.object_id = @object_id and o.set_name = @set_name;
