-- A run of an agent that a call asked for knows its caller, and a call that is
-- a step of another knows that one.

alter table runs
    add column parent_run_id uuid,
    add column parent_invocation_id uuid,
    add column detached boolean not null default false, -- answers nobody: its call ended when it began
    add column depth integer not null default 0,        -- how many runs are above it
    add column calls integer not null default 0,        -- made by it and those below it, once it has ended
    add check ((parent_run_id is null) = (parent_invocation_id is null)),
    add check ((parent_run_id is null) = (depth = 0)),
    add foreign key (tenant_id, parent_run_id) references runs (tenant_id, id) on delete cascade;

create index runs_parent on runs (tenant_id, parent_run_id, id desc) where parent_run_id is not null;

alter table tool_invocations add column parent_id uuid; -- the invocation that it is a step of
