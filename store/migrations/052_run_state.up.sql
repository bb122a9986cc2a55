-- The state of a run: small values that its tools share. What an attempt of a call changed is
-- not seen by a later attempt of the same call, so a row keeps what it was before the call.

create table run_state (
    tenant_id       uuid not null,
    run_id          uuid not null,
    key             text not null check (octet_length(key) between 1 and 128),
    value           json,                       -- null where it was deleted
    revision        bigint not null check (revision > 0), -- counts the changes
    effect_id       text not null,              -- the call that made the last one
    fence           bigint not null,            -- of that call's attempt
    before_value    json,                       -- what the call found
    before_revision bigint not null default 0,  -- and its revision; 0 for none
    primary key (tenant_id, run_id, key),
    foreign key (tenant_id, run_id) references runs (tenant_id, id) on delete cascade,
    check (octet_length(value::text) <= 16384)
) with (fillfactor = 70);

comment on table run_state is 'Values that the tools of a run share.';

alter table run_state enable row level security;
alter table run_state force row level security;

create policy tenant_isolation on run_state
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);

grant select, insert, update on run_state to toolcrib_app;
