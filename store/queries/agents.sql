-- name: CreateAgent :one
insert into agents (id, tenant_id, slug, name, definition, status, version, published_at)
values (@id, @tenant_id, @slug, @name, @definition, @status, @version, @published_at)
returning *;

-- name: UpdateAgent :one
update agents set
    slug = @slug, name = @name, definition = @definition, status = @status, version = @version,
    published_at = @published_at, revision = revision + 1, updated_at = now()
where tenant_id = @tenant_id and id = @id and revision = @revision
returning *;

-- name: FindAgentByID :one
select * from agents where tenant_id = @tenant_id and id = @id;

-- name: FindAgentBySlug :one
select * from agents where tenant_id = @tenant_id and slug = @slug;

-- name: ListAgents :many
select * from agents where tenant_id = @tenant_id and slug > @after_slug
order by slug limit sqlc.arg('limit')::int;

-- name: AddAgentVersion :one
-- As AddToolVersion.
insert into agent_versions as v (id, agent_id, tenant_id, version, digest, snapshot, published, published_at)
values (@id, @agent_id, @tenant_id, @version, @digest, @snapshot, @published, @published_at)
on conflict (tenant_id, agent_id, version) do update
    set published    = v.published or excluded.published,
        published_at = case when v.published then v.published_at else excluded.published_at end
    where v.digest = excluded.digest
returning *;

-- name: ListAgentVersions :many
select * from agent_versions where tenant_id = @tenant_id and agent_id = @agent_id order by id desc;
