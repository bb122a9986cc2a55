-- What models and tools say while they are at work, as followers of a run see
-- it. Apart from run_events, which are the record: a chunk tells nothing that
-- the message it becomes a part of does not.
create table run_output (
    tenant_id  uuid not null,
    run_id     uuid not null,
    seq        bigint not null,  -- from runs.last_seq, as that of an event: one order for both
    turn       integer not null,
    attempt    integer not null, -- of the activity; a later attempt says it all again
    call_id    text,             -- of the tool call that says it; null for the model
    text       text not null,
    created_at timestamptz not null default now(),
    primary key (tenant_id, run_id, seq),
    foreign key (tenant_id, run_id) references runs (tenant_id, id) on delete cascade
);

comment on table run_output is 'Output of models and tools as it was made; goes with its run, as the events do.';

alter table run_output enable row level security;
alter table run_output force row level security;

create policy tenant_isolation on run_output
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);

grant select, insert on run_output to toolcrib_app;
