-- name: RecordApplied :many
-- Records that objects belong to a set, and returns those that belonged to another one before.
with asked as (
    select unnest(@kinds::text[]) as kind, unnest(@object_ids::uuid[]) as object_id, unnest(@slugs::text[]) as slug
), held as materialized (
    select o.kind, o.object_id, o.set_name from applied_objects o join asked using (kind, object_id)
    where o.tenant_id = @tenant_id
), written as (
    insert into applied_objects (tenant_id, kind, object_id, slug, set_name, applied_by)
    select @tenant_id, a.kind, a.object_id, a.slug, @set_name, @applied_by from asked a
    order by a.kind, a.object_id
    on conflict (tenant_id, kind, object_id) do update set slug = excluded.slug, set_name = excluded.set_name,
        applied_by = excluded.applied_by, applied_at = now(), removed_at = null
)
select held.kind, held.object_id, held.set_name from held where held.set_name <> @set_name::text;

-- name: ListApplied :many
select * from applied_objects o
where o.tenant_id = @tenant_id and o.set_name = @set_name
order by o.kind, o.slug, o.object_id;

-- name: MarkRemoved :exec
-- Records that an object was taken away. One that is gone for good is forgotten.
with forgotten as (
    delete from applied_objects o
    where o.tenant_id = @tenant_id and o.kind = @kind and o.object_id = @object_id and @gone::bool
)
update applied_objects o set removed_at = now()
where o.tenant_id = @tenant_id and o.kind = @kind and o.object_id = @object_id and not @gone::bool;
