-- name: CountLiveToolSessions :one
select count(*)::int as live from tool_sessions s where s.tenant_id = @tenant_id and s.status = 'active';

-- name: DropOldToolSessions :execrows
delete from tool_sessions s
where s.tenant_id = @tenant_id and s.id in (
    select o.id from tool_sessions o
    where o.tenant_id = @tenant_id and o.status <> 'active' and o.ended_at < now() - interval '400 days'
    order by o.ended_at limit 20 for update skip locked);

-- name: CreateToolSession :one
-- No row where the tool is disabled or gone.
insert into tool_sessions (
    tenant_id, id, name, tool_id, tool, version, digest, entity_ids, config, aggregate, permission, created_by, changed_by)
select @tenant_id, @id, @name, r.id, @tool, @version, @digest, @entity_ids, @config, @aggregate, @permission, @created_by, @created_by
from tool_registry r
where r.id = @tool_id and r.scope_id in (@tenant_id, '00000000-0000-0000-0000-000000000000')
  and r.status <> 'disabled' and r.is_active and r.deleted_at is null and r.quarantine = ''
returning *;

-- name: ListToolSessions :many
-- A page of sessions, newest first, or the one with an id.
select sqlc.embed(s), coalesce(s.link_until > now() and s.status = 'active', false)::boolean as linked,
    (select count(*) from tool_session_submissions b where b.tenant_id = s.tenant_id and b.session_id = s.id)::int as submissions
from tool_sessions s
where s.tenant_id = @tenant_id
  and (sqlc.narg('id')::uuid is null or s.id = sqlc.narg('id'))
  and (sqlc.narg('tool_id')::uuid is null or s.tool_id = sqlc.narg('tool_id'))
  and (@status::text = '' or s.status = @status)
  and (sqlc.narg('before')::uuid is null or s.id < sqlc.narg('before'))
order by s.id desc
limit sqlc.arg('limit')::int;

-- name: EndToolSession :one
-- No row for one that has ended. The link goes with it.
update tool_sessions s set
    status = @status, ended_at = now(), secret_hash = null, link_until = null, changed_by = @changed_by, updated_at = now()
where s.tenant_id = @tenant_id and s.id = @id and s.status = 'active'
returning *;

-- name: LinkToolSession :one
-- No row for one that has ended, or where the tenant may not publish.
update tool_sessions s set
    secret_hash = @secret_hash, link_until = now() + make_interval(secs => @keep_seconds::float8), changed_by = @changed_by, updated_at = now(),
    link_makers = case when @changed_by = '' or @changed_by = any (s.link_makers) then s.link_makers else s.link_makers || @changed_by::text end
from tenants t
where s.tenant_id = @tenant_id and s.id = @id and s.status = 'active' and t.id = s.tenant_id and t.mcp_apps_publish_enabled
returning s.*;

-- name: UnlinkToolSession :one
update tool_sessions s set secret_hash = null, link_until = null, changed_by = @changed_by, updated_at = now()
where s.tenant_id = @tenant_id and s.id = @id
returning *;

-- name: OpenToolSession :one
-- The session that the token of a link opens: it goes on, its tenant is active, and its tool neither disabled nor gone.
select s.*
from tool_sessions s join tenants t on t.id = s.tenant_id and t.status = 'active'
where s.tenant_id = @tenant_id and s.id = @id and s.secret_hash = @secret_hash and s.link_until > now() and s.status = 'active'
  and exists (
        select from tool_registry r
        where r.id = s.tool_id and r.scope_id in (s.tenant_id, '00000000-0000-0000-0000-000000000000')
          and r.status <> 'disabled' and r.is_active and r.deleted_at is null and r.quarantine = '');

-- name: LockToolSession :one
-- Linked is whether the token with a digest opens the session. Submissions are counted by a statement of its own: this one
-- does not see those of the transaction that it waited for.
select s.status, coalesce(s.secret_hash = @secret_hash and s.link_until > now(), false)::boolean as linked
from tool_sessions s where s.tenant_id = @tenant_id and s.id = @id for update;

-- name: CountToolSubmissions :one
select count(*)::int as submissions from tool_session_submissions b where b.tenant_id = @tenant_id and b.session_id = @session_id;

-- name: AddToolSubmission :one
-- No row where the request has submitted before.
insert into tool_session_submissions (tenant_id, id, session_id, subject, guest, by_link, input, nonce)
values (@tenant_id, @id, @session_id, @subject, @guest, @by_link, @input, @nonce)
on conflict (tenant_id, session_id, nonce) do nothing
returning *;

-- name: SettleToolSubmission :one
update tool_session_submissions b set status = @status, output = @output, error = @error, ended_at = now()
where b.tenant_id = @tenant_id and b.session_id = @session_id and b.id = @id and b.status = 'running'
returning *;

-- name: ListToolSubmissions :many
-- A page of submissions, newest first, or the one with an id, or those that run.
select b.* from tool_session_submissions b
where b.tenant_id = @tenant_id and b.session_id = @session_id
  and (sqlc.narg('id')::uuid is null or b.id = sqlc.narg('id'))
  and (@nonce::text = '' or b.nonce = @nonce)
  and (@status::text = '' or b.status = @status)
  and (sqlc.narg('before')::uuid is null or b.id < sqlc.narg('before'))
order by b.id desc
limit sqlc.arg('limit')::int;

-- name: FindSessionMakers :one
-- Who made a session, who ever gave it a link, and who changed it last.
select (array[s.created_by, s.changed_by] || s.link_makers)::text[] as makers from tool_sessions s where s.tenant_id = @tenant_id and s.id = @id;
