-- What is known of the nodes of graphs: a row for each node that has ended, and for each item
-- of a map, which begins as pending. Rows are written once, so that a workflow that is reset, or
-- a step that is repeated, finds the same.

create table graph_nodes (
    tenant_id  uuid not null,
    effect_id  text not null,                 -- the call that is the run of the graph
    path       text not null check (octet_length(path) <= 2000), -- "" of the graph itself
    run_id     uuid not null,
    node       text not null,
    kind       text not null,                 -- "" of an item, branch or iteration, and of the graph
    status     text not null check (status in ('pending', 'completed', 'failed', 'skipped', 'cancelled')),
    item       json,
    result     json,
    text       text not null default '',
    error_kind text not null default '',
    error      text not null default '',
    state      json,
    branch     text not null default '',      -- where a branch went
    call       text not null default '',      -- the effect of the node's call
    child_run  uuid,
    attempts   integer not null default 0,
    ended_at   timestamptz,
    place      bigint not null generated always as identity, -- orders the rows of a run
    primary key (tenant_id, effect_id, path),
    foreign key (tenant_id, run_id) references runs (tenant_id, id) on delete cascade,
    check ((status = 'pending') = (ended_at is null))
) with (fillfactor = 90);

comment on table graph_nodes is 'Nodes of runs of graphs, and how they ended.';

create index graph_nodes_run on graph_nodes (tenant_id, run_id, place);

alter table graph_nodes enable row level security;
alter table graph_nodes force row level security;

create policy tenant_isolation on graph_nodes
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);

grant select, insert, update on graph_nodes to toolcrib_app;
