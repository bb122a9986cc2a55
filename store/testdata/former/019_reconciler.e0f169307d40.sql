-- What the reconciler needs: a lease for its leader, and the right of the
-- maintenance role to see, across tenants, which runs, documents and pipelines
-- are open, and nothing of what is in them. It closes nothing: closing is done
-- for one tenant at a time, by the app role.

create table leases (
    name       text primary key check (name <> ''),
    holder     text not null,           -- names the process
    scope      text not null,           -- what the work is bound to, such as the id of a Temporal namespace
    fence      bigint not null default 1, -- counts the holders
    expires_at timestamptz not null,
    passed_at  timestamptz              -- when the work was last done
);

comment on table leases is 'Who does the work that one process does for all.';

alter table leases enable row level security;
alter table leases force row level security;

create policy maintenance_leases on leases to toolcrib_maintenance using (true) with check (true);
create policy app_read on leases for select to toolcrib_app using (true);

grant select, insert, update on leases to toolcrib_maintenance;
grant select on leases to toolcrib_app;

-- Neither index holds a column that changes between a row's first state and its end,
-- so that what happens in between updates rows in place.
create index runs_open on runs (tenant_id, id) where completed_at is null;
create index documents_open on documents (tenant_id, id) where status in ('pending', 'ingesting');
create index pipelines_building on pipelines (tenant_id, id) where next_generation <> 0;

create policy maintenance_read on runs for select to toolcrib_maintenance using (true);
grant select (tenant_id, id, kind, status, workflow_id, first_run_id, created_at, completed_at) on runs to toolcrib_maintenance;

create policy maintenance_read on tool_invocations for select to toolcrib_maintenance using (true);
grant select (tenant_id, id, run_id, status) on tool_invocations to toolcrib_maintenance;

create policy maintenance_read on documents for select to toolcrib_maintenance using (true);
grant select (tenant_id, id, pipeline_id, version, status, updated_at) on documents to toolcrib_maintenance;

create policy maintenance_read on pipelines for select to toolcrib_maintenance using (true);
grant select (tenant_id, id, next_generation, updated_at, deleted_at) on pipelines to toolcrib_maintenance;
