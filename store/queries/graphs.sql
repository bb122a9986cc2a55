-- name: WriteGraphNodes :exec
-- Records nodes of a graph. A record that is there stays, unless it is pending. Nodes that ended
-- have an event.
with written as (
    insert into graph_nodes as g (tenant_id, effect_id, path, run_id, node, kind, status, item, result, text, error_kind,
        error, state, branch, call, child_run, attempts, ended_at)
    select @tenant_id, @effect_id, x.item ->> 'path', @run_id, x.item ->> 'node', x.item ->> 'kind', x.item ->> 'status',
        x.item -> 'item', x.item -> 'result', x.item ->> 'text', x.item ->> 'error_kind', x.item ->> 'error',
        x.item -> 'state', x.item ->> 'branch', x.item ->> 'call', (x.item ->> 'child_run')::uuid,
        (x.item ->> 'attempts')::integer, (x.item ->> 'ended_at')::timestamptz
    from json_array_elements(@records::json) with ordinality as x (item, place)
    order by x.place
    on conflict (tenant_id, effect_id, path) do update
        set status = excluded.status, result = excluded.result, text = excluded.text, error_kind = excluded.error_kind,
            error = excluded.error, state = excluded.state, ended_at = excluded.ended_at
        where g.status = 'pending' and excluded.status <> 'pending'
    returning g.path, g.node, g.kind, g.status, g.error_kind, g.error, g.place
), ended as (
    select w.*, row_number() over (order by w.place) as nth, count(*) over () as total
    from written w where w.status <> 'pending' and w.kind <> ''
), numbered as (
    update runs r set last_seq = r.last_seq + (select count(*) from ended)
    where r.tenant_id = @tenant_id and r.id = @run_id and exists (select from ended)
    returning r.last_seq
)
insert into run_events (tenant_id, run_id, seq, type, data)
select @tenant_id, @run_id, n.last_seq - e.total + e.nth, 'graph.node_ended', json_strip_nulls(json_build_object(
    'path', e.path, 'node', e.node, 'kind', e.kind, 'status', e.status, 'call_id', @call_id::text,
    'error_kind', nullif(e.error_kind, ''), 'error', nullif(e.error, '')))
from ended e cross join numbered n;

-- name: ReadGraphNodes :many
-- Records by their paths, and those directly below the path of a node: its bodies.
select g.* from graph_nodes g
where g.tenant_id = @tenant_id and g.effect_id = @effect_id
  and (g.path = any(@paths::text[])
       or @below::text <> '' and starts_with(g.path, @below::text || '/')
          and strpos(substr(g.path, length(@below::text) + 2), '/') = 0);

-- name: ListGraphNodes :many
select g.* from graph_nodes g
where g.tenant_id = @tenant_id and g.run_id = @run_id and g.place > @after::bigint
order by g.place
limit sqlc.arg('limit')::int;

-- name: ListGraphPath :many
-- The nodes of a graph that have ended, and those in bodies that set the state and did not fail, without
-- contents, in the order in which they ended.
select g.path, g.kind, g.status, g.branch, (g.state is not null)::boolean as sets from graph_nodes g
where g.tenant_id = @tenant_id and g.effect_id = @effect_id and g.status <> 'pending' and g.kind <> ''
  and (strpos(g.path, '/') = 0 or g.state is not null and not exists (
      select from graph_nodes b where b.tenant_id = @tenant_id and b.effect_id = @effect_id and b.kind = ''
          and b.status in ('failed', 'cancelled') and b.path <> '' and starts_with(g.path, b.path || '/')))
order by g.place;

-- name: CopyGraphNodes :exec
-- Copies the records of the nodes that ended before one of a graph began. Records that are there stay.
insert into graph_nodes (tenant_id, effect_id, path, run_id, node, kind, status, item, result, text, error_kind, error,
    state, branch, call, child_run, attempts, ended_at)
select g.tenant_id, @to_effect, g.path, @to_run, g.node, g.kind, g.status, g.item, g.result, g.text, g.error_kind, g.error,
    g.state, g.branch, g.call, g.child_run, g.attempts, g.ended_at
from graph_nodes g
where g.tenant_id = @tenant_id and g.effect_id = @from_effect and g.status <> 'pending' and g.path not in ('', @node::text)
  and not starts_with(g.path, @node::text || '/')
  and g.place < coalesce((select b.place from graph_nodes b where b.tenant_id = @tenant_id and b.effect_id = @from_effect
      and b.path = @node::text), 9223372036854775807)
order by g.place
on conflict do nothing;
