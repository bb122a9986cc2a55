-- name: CreateSchedule :one
insert into schedules (tenant_id, id, name, agent, version_constraint, input, crons, every_s, offset_s, time_zone, start_at,
    end_at, jitter_s, overlap, catchup_s, paused, note, starts_left, created_by)
values (@tenant_id, @id, @name, @agent, @version_constraint, @input, @crons, @every_s, @offset_s, @time_zone, @start_at,
    @end_at, @jitter_s, @overlap, @catchup_s, @paused, @note, @starts_left, @created_by)
returning *;

-- name: CountSchedules :one
select count(*) from schedules s where s.tenant_id = @tenant_id and s.deleted_at is null;

-- name: FindSchedule :one
select s.* from schedules s
where s.tenant_id = @tenant_id and s.deleted_at is null and (s.name = @name::text or s.id = sqlc.narg('id')::uuid)
limit 1;

-- name: ListSchedules :many
select s.* from schedules s
where s.tenant_id = @tenant_id and s.deleted_at is null and (sqlc.narg('before')::uuid is null or s.id < sqlc.narg('before'))
order by s.id desc
limit sqlc.arg('limit')::int;

-- name: ChangeSchedule :one
-- Replaces what a schedule says, if its revision is still the expected one. Starts use up
-- starts_left without another revision: it is replaced only where that is meant.
update schedules s set
    agent = @agent, version_constraint = @version_constraint, input = @input, crons = @crons, every_s = @every_s,
    offset_s = @offset_s, time_zone = @time_zone, start_at = @start_at, end_at = @end_at, jitter_s = @jitter_s,
    overlap = @overlap, catchup_s = @catchup_s, paused = @paused, note = @note,
    starts_left = case when @set_starts::boolean then @starts_left else s.starts_left end,
    created_by = @created_by, revision = s.revision + 1, sync_due = now(), sync_failures = 0, updated_at = now()
where s.tenant_id = @tenant_id and s.id = @id and s.revision = @revision and s.deleted_at is null
returning *;

-- name: DeleteSchedule :one
-- Marks a schedule as deleted. Its row goes once Temporal's has gone.
update schedules s set deleted_at = now(), revision = s.revision + 1, sync_due = now(), sync_failures = 0, updated_at = now()
where s.tenant_id = @tenant_id and s.id = @id and s.deleted_at is null and (@revision::bigint = 0 or s.revision = @revision)
returning *;

-- name: ScheduleTenants :one
select schedule_tenants(@most::int)::json as tenants;

-- name: ClaimSchedules :many
-- Leases schedules that are due, or the one of an id.
with due as (
    select s.id from schedules s
    where s.tenant_id = @tenant_id and (sqlc.narg('id')::uuid is null and s.sync_due <= now() or s.id = sqlc.narg('id'))
      and (s.sync_lease is null or s.sync_lease <= now())
    order by s.sync_due
    limit @most::int
    for update skip locked
)
update schedules s set sync_lease = now() + make_interval(secs => @lease_s::float8), sync_fence = s.sync_fence + 1
from due, tenants t
where s.tenant_id = @tenant_id and s.id = due.id and t.id = s.tenant_id
returning sqlc.embed(s), t.status as tenant_status;

-- name: EndScheduleSync :execrows
-- Records that Temporal has a revision of a schedule, or why it does not. One that was changed
-- meanwhile is due at once.
update schedules s set
    sync_lease = null, sync_error = @error,
    applied_revision = case when @error::text = '' then greatest(s.applied_revision, @revision::bigint) else s.applied_revision end,
    sync_failures = case when @error = '' then 0 else s.sync_failures + 1 end,
    sync_due = case when s.revision <> @revision or s.sync_due > @claimed_due::timestamptz then now()
        else now() + make_interval(secs => @next_s::float8) end
where s.tenant_id = @tenant_id and s.id = @id and s.sync_fence = @fence;

-- name: RemoveSchedule :execrows
delete from schedules s
where s.tenant_id = @tenant_id and s.id = @id and s.sync_fence = @fence and s.deleted_at is not null;

-- name: ReserveScheduleStart :one
-- Takes the time of a schedule for a start, or returns the start that has it. A new one uses up
-- one of the schedule's starts; the last pauses it.
with locked as (
    select s.id, s.starts_left from schedules s
    where s.tenant_id = @tenant_id and s.id = @schedule_id and s.deleted_at is null
    for update
), taken as (
    insert into schedule_starts (tenant_id, id, schedule_id, scheduled_at, run_id, status, kind, reason)
    select @tenant_id, @id, l.id, @scheduled_at, @run_id, case when l.starts_left = 0 then 'refused' else 'starting' end,
        case when l.starts_left = 0 then 'denied' else '' end,
        case when l.starts_left = 0 then 'all starts of the schedule were used' else '' end
    from locked l
    on conflict (tenant_id, schedule_id, scheduled_at) do update set created_at = schedule_starts.created_at
    returning *, (xmax = 0)::boolean as fresh
), used as (
    update schedules s set starts_left = s.starts_left - 1, paused = s.paused or s.starts_left <= 1,
        note = case when s.starts_left <= 1 then 'all its starts were used' else s.note end,
        revision = s.revision + case when s.starts_left <= 1 then 1 else 0 end,
        sync_due = case when s.starts_left <= 1 then now() else s.sync_due end
    from taken t
    where s.tenant_id = @tenant_id and s.id = @schedule_id and t.fresh and s.starts_left > 0
)
select t.tenant_id, t.id, t.schedule_id, t.scheduled_at, t.run_id, t.status, t.kind, t.reason, t.created_at, t.fresh from taken t;

-- name: EndScheduleStart :one
update schedule_starts s set status = @status, run_id = @run_id, kind = @kind, reason = @reason
where s.tenant_id = @tenant_id and s.id = @id
returning *;

-- name: ListScheduleStarts :many
select s.* from schedule_starts s
where s.tenant_id = @tenant_id and s.schedule_id = @schedule_id
  and (sqlc.narg('before')::uuid is null or s.id < sqlc.narg('before'))
  and (@status::text = '' or s.status = @status)
order by s.id desc
limit sqlc.arg('limit')::int;

-- name: SweepScheduleStarts :one
select sweep_schedule_starts(@most::int)::int as gone;

-- name: FindCaller :one
-- A key with what its authority depends on.
select sqlc.embed(k), t.status as tenant_status, coalesce(k.expires_at <= now(), false)::boolean as expired,
    permissions_of_roles(@tenant_id, k.roles)::text[] as role_permissions
from api_keys k
join tenants t on t.id = k.tenant_id
where k.tenant_id = @tenant_id and k.id = @id;
