-- name: CreateArtifact :one
insert into artifacts (id, tenant_id, slug, name, description, language, status, created_by)
values (@id, @tenant_id, @slug, @name, @description, @language, @status, @created_by)
returning *;

-- name: UpdateArtifact :one
update artifacts set
    name = @name, description = @description, status = @status, version = @version,
    revision = revision + 1, updated_at = now()
where tenant_id = @tenant_id and id = @id and revision = @revision
returning *;

-- name: FindArtifactByID :one
select * from artifacts where tenant_id = @tenant_id and id = @id;

-- name: FindArtifactBySlug :one
select * from artifacts where tenant_id = @tenant_id and slug = @slug;

-- name: ListArtifacts :many
select * from artifacts where tenant_id = @tenant_id and slug > @after_slug
order by slug limit sqlc.arg('limit')::int;

-- name: AddArtifactVersion :one
insert into artifact_versions (tenant_id, artifact_id, version, digest, inputs, content, created_by)
values (@tenant_id, @artifact_id, @version, @digest, @inputs, @content, @created_by)
returning version, digest, inputs, octet_length(content)::int as size, created_by, created_at;

-- name: ListArtifactVersions :many
-- Newest first.
select v.version, v.digest, v.inputs, octet_length(v.content)::int as size, v.created_by, v.created_at
from artifact_versions v
where v.tenant_id = @tenant_id and v.artifact_id = @artifact_id
order by v.created_at desc, v.version desc;

-- name: LoadArtifact :one
select a.language, v.digest, v.inputs, v.content
from artifact_versions v
join artifacts a on a.tenant_id = v.tenant_id and a.id = v.artifact_id
where v.tenant_id = @tenant_id and v.artifact_id = @artifact_id and v.version = @version;
