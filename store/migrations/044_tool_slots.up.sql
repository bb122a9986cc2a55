-- Leases on the right to run a call, for tools whose calls are limited across the runs of a
-- tenant. Rows are made when they are first needed: as many for a scope as its highest limit.

create table tool_slots (
    tenant_id   uuid not null references tenants (id) on delete cascade,
    scope       text not null check (scope <> ''), -- the concurrency group, or the tool, that is limited
    slot        integer not null check (slot >= 0),
    holder      text,                              -- effect id of the call that runs; null for none
    lease_until timestamptz,                       -- when the slot is free again, whatever became of its holder
    fence       bigint not null default 0,         -- incremented for each holder: an earlier one cannot free the slot
    primary key (tenant_id, scope, slot),
    check ((holder is null) = (lease_until is null))
) with (fillfactor = 50);

comment on table tool_slots is 'Leases on the right to run a call of a limited tool.';

alter table tool_slots enable row level security;
alter table tool_slots force row level security;

create policy tenant_isolation on tool_slots
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);

grant select, insert, update on tool_slots to toolcrib_app;
