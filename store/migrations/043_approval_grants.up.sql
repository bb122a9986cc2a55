-- Standing grants: approvals given in advance, for calls of a tool within limits. A grant
-- counts as the approval of who made it, while that key may still decide.

create table approval_grants (
    tenant_id  uuid not null references tenants (id),
    id         uuid not null,
    tool       text not null check (tool <> ''),
    version    text not null default '',  -- constraint; empty for every version
    agent      text not null default '',  -- slug; empty for every caller
    requester  text not null default '',  -- whom the run acts for; empty for everybody
    condition  text not null default '',  -- CEL over input and principal; empty for all arguments
    uses       integer not null check (uses > 0),
    used       integer not null default 0 check (used between 0 and uses),
    reason     text not null default '',
    created_by text not null check (created_by <> ''),
    created_at timestamptz not null default now(),
    expires_at timestamptz not null,
    revoked_at timestamptz,
    revoked_by text not null default '',
    primary key (tenant_id, id)
) with (fillfactor = 70);

create index approval_grants_live on approval_grants (tenant_id, tool, id) where revoked_at is null;

comment on table approval_grants is 'Standing grants: approvals given in advance, within limits.';

alter table approval_grants enable row level security;
alter table approval_grants force row level security;

create policy tenant_isolation on approval_grants
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);

grant select, insert, update on approval_grants to toolcrib_app;

alter table approval_decisions add column grant_id uuid; -- the grant that decided; null for a person
