-- name: TakeSlot :one
-- Leases a free slot of a scope to a call; its own, where it has one from an attempt before.
update tool_slots s set holder = @holder::text, lease_until = now() + make_interval(secs => @lease_s::float8),
    fence = s.fence + 1
where s.tenant_id = @tenant_id and s.scope = @scope and s.slot = (
    select c.slot from tool_slots c
    where c.tenant_id = @tenant_id and c.scope = @scope and c.slot < @most::int
      and (c.holder is null or c.holder = @holder::text or c.lease_until < now())
    order by case when c.holder = @holder::text then 0 else 1 end, c.slot
    limit 1
    for update skip locked)
returning s.slot, s.fence;

-- name: AddSlots :execrows
-- Makes the slots that a scope does not have yet.
insert into tool_slots (tenant_id, scope, slot)
select @tenant_id::uuid, @scope::text, unnest(@places::int[])
on conflict do nothing;

-- name: FreeSlot :exec
update tool_slots s set holder = null, lease_until = null
where s.tenant_id = @tenant_id and s.scope = @scope and s.slot = @slot and s.fence = @fence and s.holder = @holder::text;
