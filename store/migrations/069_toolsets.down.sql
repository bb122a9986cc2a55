-- A key that was bound to a toolset must not become a key of the API.
alter table api_keys no force row level security;
update api_keys set revoked_at = coalesce(revoked_at, now()) where toolset_id is not null;
alter table api_keys force row level security;
alter table api_keys drop column toolset_id;

drop table toolsets;
