-- name: CountWebhooks :one
select count(*) from webhooks w where w.tenant_id = @tenant_id;

-- name: CreateWebhook :one
insert into webhooks (tenant_id, id, url, description, types, agent, tool, active, secret, secret_key_version, seen_seq, created_by)
values (@tenant_id, @id, @url, @description, @types, @agent, @tool, @active, @secret, @secret_key_version, @seen_seq, @created_by)
returning *;

-- name: FindWebhook :one
select * from webhooks where tenant_id = @tenant_id and id = @id;

-- name: ListWebhooks :many
select w.* from webhooks w
where w.tenant_id = @tenant_id and (sqlc.narg('before')::uuid is null or w.id < sqlc.narg('before'))
order by w.id desc
limit sqlc.arg('limit')::int;

-- name: ChangeWebhook :one
-- A webhook that becomes active gets the events from then on.
update webhooks w set
    url = @url, description = @description, types = @types, agent = @agent, tool = @tool,
    seen_seq = case when @active::boolean and not w.active then @seen_seq else w.seen_seq end,
    disabled_at = case when @active then null else w.disabled_at end,
    disabled_reason = case when @active then '' else w.disabled_reason end,
    failing_since = case when @active and not w.active then null else w.failing_since end,
    active = @active, revision = w.revision + 1, updated_at = now()
where w.tenant_id = @tenant_id and w.id = @id and w.revision = @revision
returning *;

-- name: RotateWebhookSecret :one
-- The secret before signs too, for as long as the overlap lasts.
update webhooks w set
    secret = @secret, secret_key_version = @secret_key_version, secret_version = w.secret_version + 1,
    old_secret = case when @overlap_s::float8 > 0 then w.secret end,
    old_secret_key_version = case when @overlap_s > 0 then w.secret_key_version end,
    old_secret_until = case when @overlap_s > 0 then now() + make_interval(secs => @overlap_s) end,
    revision = w.revision + 1, updated_at = now()
where w.tenant_id = @tenant_id and w.id = @id and w.revision = @revision
returning *;

-- name: DeleteWebhook :one
delete from webhooks w where w.tenant_id = @tenant_id and w.id = @id and (@revision::bigint = 0 or w.revision = @revision)
returning *;

-- name: WebhookTenants :one
select webhook_tenants(@most::int)::json as tenants;

-- name: SweepDeliveries :one
select sweep_webhook_deliveries(@most::int)::int as gone;

-- name: MakeDeliveries :one
-- Makes the deliveries of the next events of a tenant's stream, for its active webhooks. The
-- lock on a webhook keeps two servers from doing so for the same events.
with hooks as materialized (
    select w.id, w.types, w.agent, w.tool, w.seen_seq from webhooks w
    where w.tenant_id = @tenant_id and w.active
    order by w.id
    for no key update skip locked
), scanned as materialized (
    select s.seq as place, e.run_id, e.seq, e.type, e.invocation_id, e.data, e.at
    from event_seals s
    join run_events e on e.tenant_id = s.tenant_id and e.run_id = s.run_id and e.seq = s.run_seq
    where s.tenant_id = @tenant_id and s.seq > (select min(h.seen_seq) from hooks h)
    order by s.seq
    limit @most::int
), made as (
    insert into webhook_deliveries (tenant_id, id, webhook_id, type, place, run_id, run_seq, invocation_id, parent_run_id,
        agent, data, at)
    select @tenant_id, new_uuid7(), h.id, e.type, e.place, e.run_id, e.seq, e.invocation_id, r.parent_run_id, r.agent, e.data, e.at
    from scanned e
    join runs r on r.tenant_id = @tenant_id and r.id = e.run_id
    join hooks h on e.place > h.seen_seq and e.type = any (h.types)
        and h.agent in ('', r.agent) and (h.tool = '' or h.tool = e.data ->> 'tool')
    order by e.place, h.id
    on conflict (tenant_id, webhook_id, place) do nothing
    returning 1
), moved as (
    update webhooks w set seen_seq = greatest(w.seen_seq, (select max(e.place) from scanned e))
    from hooks h
    where w.tenant_id = @tenant_id and w.id = h.id and w.seen_seq < (select max(e.place) from scanned e)
)
select (select count(*) from scanned)::int as scanned, (select count(*) from made)::int as made;

-- name: AddPing :one
insert into webhook_deliveries (tenant_id, id, webhook_id, type)
select @tenant_id, @id, w.id, 'webhook.ping' from webhooks w where w.tenant_id = @tenant_id and w.id = @webhook_id
returning *;

-- name: AddNotice :exec
-- Makes the deliveries of an event that is of no run.
insert into webhook_deliveries (tenant_id, id, webhook_id, type, data)
select @tenant_id, new_uuid7(), w.id, @type::text, @data::json from webhooks w
where w.tenant_id = @tenant_id and w.active and @type = any (w.types) and w.agent = '' and w.tool = '';

-- name: ClaimDeliveries :many
-- Leases deliveries that are due: so many of each webhook at a time, so that a slow one does
-- not occupy the servers.
with open as (
    select w.id, w.active, (
        select count(*) from webhook_deliveries l
        where l.tenant_id = @tenant_id and l.webhook_id = w.id and l.status = 'pending' and l.lease_until > now()) as busy
    from webhooks w
    where w.tenant_id = @tenant_id
), picked as (
    select c.id, c.due_at, o.busy + row_number() over (partition by o.id order by c.due_at, c.id) as place
    from open o
    cross join lateral (
        select d.id, d.due_at from webhook_deliveries d
        where d.tenant_id = @tenant_id and d.webhook_id = o.id and d.status = 'pending' and d.due_at <= now()
          and (d.lease_until is null or d.lease_until <= now()) and (o.active or d.type = 'webhook.ping')
        order by d.due_at, d.id
        limit @each::int) c
), due as (
    select d.id from picked p
    join webhook_deliveries d on d.tenant_id = @tenant_id and d.id = p.id
    where p.place <= @each and d.status = 'pending' and (d.lease_until is null or d.lease_until <= now())
    order by p.due_at
    limit @most::int
    for update of d skip locked
)
update webhook_deliveries d set lease_until = now() + make_interval(secs => @lease_s::float8), fence = d.fence + 1,
    attempts = d.attempts + 1, last_attempt_at = now(), first_attempt_at = coalesce(d.first_attempt_at, now())
from due
where d.tenant_id = @tenant_id and d.id = due.id
returning d.id;

-- name: OpenDeliveries :many
-- Deliveries with all that an attempt needs.
select sqlc.embed(d), sqlc.embed(w), t.mask_sensitive, coalesce(w.old_secret_until > now(), false)::boolean as old_signs
from webhook_deliveries d
join webhooks w on w.tenant_id = d.tenant_id and w.id = d.webhook_id
join tenants t on t.id = d.tenant_id
where d.tenant_id = @tenant_id and d.id = any (@ids::uuid[]);

-- name: EndAttempt :one
-- Records an attempt under its lease; no row where another server has it.
update webhook_deliveries d set status = @status::text, lease_until = null,
    due_at = case when @status = 'pending' then now() + make_interval(secs => @delay_s::float8) else d.due_at end,
    ended_at = case when @status <> 'pending' then now() end,
    last_ms = @ms, last_status = @http_status, last_error = @error, last_answer = @answer
where d.tenant_id = @tenant_id and d.id = @id and d.fence = @fence and d.status = 'pending'
returning d.webhook_id, d.type, d.first_attempt_at, d.last_attempt_at;

-- name: ReleaseDelivery :exec
-- Returns a delivery whose attempt was given up by its server: it does not count as one.
update webhook_deliveries d set lease_until = null, due_at = now(), attempts = greatest(d.attempts - 1, 0),
    first_attempt_at = case when d.attempts > 1 then d.first_attempt_at end
where d.tenant_id = @tenant_id and d.id = @id and d.fence = @fence and d.status = 'pending';

-- name: WebhookDelivered :exec
update webhooks w set failing_since = null, delivered_at = now()
where w.tenant_id = @tenant_id and w.id = @id
  and (w.failing_since is not null or w.delivered_at is null or w.delivered_at < now() - interval '1 minute');

-- name: WebhookFailed :exec
update webhooks w set failing_since = @since::timestamptz
where w.tenant_id = @tenant_id and w.id = @id and w.failing_since is null;

-- name: DisableWebhook :one
-- Disables an active webhook: at once, or where nothing was delivered since a time.
update webhooks w set active = false, disabled_at = now(), disabled_reason = @reason, revision = w.revision + 1, updated_at = now()
where w.tenant_id = @tenant_id and w.id = @id and w.active
  and (@at_once::boolean or w.failing_since <= @since::timestamptz)
returning *;

-- name: FindDelivery :one
select d.* from webhook_deliveries d where d.tenant_id = @tenant_id and d.webhook_id = @webhook_id and d.id = @id;

-- name: ListDeliveries :many
select d.* from webhook_deliveries d
where d.tenant_id = @tenant_id and d.webhook_id = @webhook_id
  and (sqlc.narg('before')::uuid is null or d.id < sqlc.narg('before'))
  and (@status::text = '' or d.status = @status) and (@type::text = '' or d.type = @type)
order by d.id desc
limit sqlc.arg('limit')::int;

-- name: ReplayDelivery :one
-- Sends a delivery that has ended once more, under the same id, with all attempts anew.
update webhook_deliveries d set status = 'pending', ended_at = null, due_at = now(), lease_until = null, attempts = 0,
    first_attempt_at = null, replays = d.replays + 1
where d.tenant_id = @tenant_id and d.webhook_id = @webhook_id and d.id = @id and d.status <> 'pending'
returning *;

-- name: ListSealedWebhooks :many
-- Webhooks with a secret under an older data key.
select w.* from webhooks w
where w.tenant_id = @tenant_id and (w.secret_key_version < @key_version or w.old_secret_key_version < @key_version)
order by w.id
limit sqlc.arg('limit')::int;

-- name: ResealWebhookSecret :execrows
update webhooks w set secret = @ciphertext, secret_key_version = @key_version
where w.tenant_id = @tenant_id and w.id = @id and w.secret_version = @version;

-- name: ResealOldWebhookSecret :execrows
-- The secret before that of a version.
update webhooks w set old_secret = @ciphertext::bytea, old_secret_key_version = @key_version::int
where w.tenant_id = @tenant_id and w.id = @id and w.secret_version = @version and w.old_secret is not null;
