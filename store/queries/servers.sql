-- name: CreateServer :one
insert into mcp_servers (
    id, tenant_id, slug, name, transport, url, command, headers, auth, allowed_tools, trust_hints, status, created_by
) values (
    @id, @tenant_id, @slug, @name, @transport, @url, @command, @headers, @auth, @allowed_tools, @trust_hints, @status, @created_by
) returning *;

-- name: UpdateServer :one
update mcp_servers set
    name = @name, transport = @transport, url = @url, command = @command, headers = @headers, auth = @auth,
    allowed_tools = @allowed_tools, trust_hints = @trust_hints, status = @status, discovered_at = @discovered_at,
    discovery_error = @discovery_error, protocol_version = @protocol_version, server_name = @server_name,
    server_version = @server_version, revision = revision + 1, updated_at = now(),
    trusted = trusted and url = @url and transport = @transport and command = @command
where tenant_id = @tenant_id and id = @id and revision = @revision and detached_at is null
returning *;

-- name: FindServerByID :one
select * from mcp_servers where tenant_id = @tenant_id and id = @id and detached_at is null;

-- name: FindServerBySlug :one
select * from mcp_servers where tenant_id = @tenant_id and slug = @slug and detached_at is null;

-- name: ListServers :many
select * from mcp_servers where tenant_id = @tenant_id and slug > @after_slug and detached_at is null
order by slug limit sqlc.arg('limit')::int;

-- name: DetachServer :execrows
-- Keeps the record of its tools, and unlinks the tenant's tools.
with detached as (
    update mcp_servers s set detached_at = now(), updated_at = now(), revision = s.revision + 1
    where s.tenant_id = @tenant_id and s.id = @id and s.revision = @revision and s.detached_at is null
    returning s.id
), released as (
    update mcp_remote_tools r set tool_id = null, state = 'gone', reason = 'the server was detached', changed_at = now()
    from detached d
    where r.tenant_id = @tenant_id and r.server_id = d.id
)
select d.id from detached d;

-- name: HoldServer :execrows
-- Keeps an attached server from being detached, or changed, until the transaction ends.
select s.id from mcp_servers s where s.tenant_id = @tenant_id and s.slug = @slug and s.detached_at is null for share;

-- name: PutRemoteTool :exec
insert into mcp_remote_tools as r (
    tenant_id, server_id, name, tool_id, state, reason, pinned_digest, pinned, approved_digest, approved_by, approved_at,
    seen_digest, seen, seen_at, changed_at
) values (
    @tenant_id, @server_id, @name, @tool_id, @state, @reason, @pinned_digest, @pinned, @approved_digest, @approved_by, @approved_at,
    @seen_digest, @seen, @seen_at, @changed_at
)
on conflict (tenant_id, server_id, name) do update set
    tool_id = excluded.tool_id, state = excluded.state, reason = excluded.reason, pinned_digest = excluded.pinned_digest,
    pinned = excluded.pinned, approved_digest = excluded.approved_digest, approved_by = excluded.approved_by,
    approved_at = excluded.approved_at, seen_digest = excluded.seen_digest, seen = excluded.seen,
    seen_at = excluded.seen_at, changed_at = excluded.changed_at;

-- name: SeeRemoteTools :exec
update mcp_remote_tools set seen_at = @seen_at
where tenant_id = @tenant_id and server_id = @server_id and name = any (@names::text[]);

-- name: ListRemoteTools :many
select sqlc.embed(r), coalesce(t.slug, '')::text as tool_slug, coalesce(t.status, '')::text as tool_status,
       coalesce(t.quarantine, '')::text as quarantine
from mcp_remote_tools r
left join tool_registry t on t.id = r.tool_id and t.scope_id = r.tenant_id
where r.tenant_id = @tenant_id and r.server_id = @server_id and r.name > @after_name
  and (@state::text = '' or r.state = @state)
order by r.name limit sqlc.arg('limit')::int;

-- name: FindRemoteTool :one
select sqlc.embed(r), coalesce(t.slug, '')::text as tool_slug, coalesce(t.status, '')::text as tool_status,
       coalesce(t.quarantine, '')::text as quarantine
from mcp_remote_tools r
left join tool_registry t on t.id = r.tool_id and t.scope_id = r.tenant_id
where r.tenant_id = @tenant_id and r.server_id = @server_id and r.name = @name;

-- name: PinRemoteTool :exec
-- Pins the current definition of a tool's server as the allowed one.
update mcp_remote_tools r set
    state = 'pinned', reason = '', pinned_digest = r.seen_digest, pinned = r.seen, approved_digest = r.seen_digest,
    approved_by = case when r.approved_digest = r.seen_digest then r.approved_by else @approved_by end,
    approved_at = case when r.approved_digest = r.seen_digest then r.approved_at else now() end,
    changed_at = case when r.state = 'pinned' and r.pinned_digest = r.seen_digest then r.changed_at else now() end
where r.tenant_id = @tenant_id and r.tool_id = @tool_id::uuid and r.seen_digest = @digest::text;

-- name: FindToolOrigin :one
select sqlc.embed(r), coalesce(t.slug, '')::text as tool_slug, coalesce(t.status, '')::text as tool_status,
       coalesce(t.quarantine, '')::text as quarantine
from mcp_remote_tools r
left join tool_registry t on t.id = r.tool_id and t.scope_id = r.tenant_id
where r.tenant_id = @tenant_id and r.tool_id = @tool_id::uuid;

-- name: StopChangedTool :exec
-- Quarantines a tool whose server has changed its definition from the allowed one. A call
-- of an older version finds that too, and changes nothing.
with changed as (
    update mcp_remote_tools r set state = @state, reason = @reason, changed_at = now()
    where r.tenant_id = @tenant_id and r.tool_id = @tool_id::uuid and r.state = 'pinned' and r.pinned_digest = @pinned::text
    returning r.tool_id
)
update tool_registry t set quarantine = @reason, revision = t.revision + 1, updated_at = now()
from changed c
where t.scope_id = @tenant_id and t.id = c.tool_id;

-- name: QuarantineTool :exec
-- Quarantines a tool for a reason, or releases it where that is empty.
update tool_registry t set quarantine = @quarantine, revision = t.revision + 1, updated_at = now()
where t.scope_id = @scope_id and t.id = @id and t.quarantine <> @quarantine;

-- name: ListServerTools :many
-- The tenant's tools of a server: those whose draft or a published version names it.
select t.* from tool_registry t
where t.scope_id = @scope_id and t.deleted_at is null and (
    t.implementation_type = 'mcp' and t.config_schema -> 'implementation' ->> 'server' = @server::text
    or exists (
        select from tool_versions v
        where v.scope_id = t.scope_id and v.tool_id = t.id and v.published
          and v.schema_snapshot ->> 'implementation_type' = 'mcp'
          and v.schema_snapshot -> 'implementation_config' ->> 'server' = @server))
order by t.slug;

-- name: TrustServer :one
-- Says whether results of a server taint the runs that get them.
update mcp_servers set trusted = @trusted, revision = revision + 1, updated_at = now()
where tenant_id = @tenant_id and id = @id and revision = @revision and detached_at is null
returning *;
