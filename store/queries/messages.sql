-- name: ListMessages :many
-- All of a run's messages, including branches left by resets. The chain is selected in
-- Go: the plan of a recursive query depends on the estimated number of messages, and a
-- low estimate costs a factor of a thousand.
select * from messages where tenant_id = @tenant_id and run_id = @run_id;

-- name: ListMessageLinks :many
-- How a run's messages are linked, without what they say.
select id, parent_id, role, position from messages where tenant_id = @tenant_id and run_id = @run_id;

-- name: ListMessagesByID :many
select * from messages where tenant_id = @tenant_id and run_id = @run_id and id = any(@ids::uuid[]);

-- name: FindHead :one
-- The message that a run starts from: the requested one, or the run's first.
select m.id from messages m
where m.tenant_id = @tenant_id and m.run_id = @run_id
  and (m.id = sqlc.narg('asked')::uuid or m.parent_id is null)
order by m.parent_id is null and m.id is distinct from sqlc.narg('asked')::uuid, m.id
limit 1;

-- name: ListTail :many
-- The messages that a turn adds to the transcript: the message it starts from, the answers
-- to that message's calls, what was taken from the inbox after them, and the turn itself if it
-- was stored before.
select * from messages m where m.tenant_id = @tenant_id and m.run_id = @run_id and m.id = @head
union all
select * from messages m
where m.tenant_id = @tenant_id and m.run_id = @run_id and m.parent_id = @head and m.role in ('tool', 'user')
union all
select * from messages m
where m.tenant_id = @tenant_id and m.run_id = @run_id and m.turn_key = @turn_key::text and m.id <> @head;

-- name: SaveTurn :one
-- Stores a turn once per key and settles the calls that must not run. No row is returned
-- when another attempt stored it concurrently. The head of the run follows the turn that
-- answers it, and after a reset the turn that was scheduled last, by the time in the ids
-- of turns: a late activity of the execution that was reset must not move the head.
with saved as (
    insert into messages (id, tenant_id, run_id, parent_id, turn, role, content, calls, prepared, turn_key, input_tokens, output_tokens,
        cached_input_tokens, reasoning_tokens, model)
    select @id, r.tenant_id, r.id, @parent_id, @turn, 'assistant', @content, @calls, @prepared, @turn_key, @input_tokens, @output_tokens,
           @cached_input_tokens, @reasoning_tokens, @model
    from runs r where r.tenant_id = @tenant_id and r.id = @run_id
    on conflict do nothing
    returning *
), refused as (
    select (f.item ->> 'invocation_id')::uuid as invocation_id, (f.item ->> 'position')::int as position,
           f.item ->> 'call_id' as call_id, f.item ->> 'name' as name, f.item -> 'arguments' as arguments,
           f.item -> 'receipt' as receipt, f.item ->> 'kind' as kind, f.item ->> 'msg' as msg,
           f.item -> 'content' as content, (f.item ->> 'answer_id')::uuid as answer_id,
           row_number() over (order by (f.item ->> 'position')::int) as place,
           p.pin ->> 'version' as version, p.pin ->> 'digest' as digest, p.pin ->> 'implementation_type' as implementation_type,
           t.id as tool_id, t.scope_id, t.egress_class
    from saved s
    cross join json_array_elements(@refused::json) as f (item)
    join runs r on r.tenant_id = s.tenant_id and r.id = s.run_id
    left join lateral json_array_elements(r.plan -> 'tools') as p (pin) on p.pin ->> 'slug' = f.item ->> 'slug'
    left join tool_registry t on t.id = (p.pin ->> 'tool_id')::uuid
                             and t.scope_id in (s.tenant_id, '00000000-0000-0000-0000-000000000000')
), numbered as (
    update runs r set
        head_message_id = case when r.head_message_id is null or r.head_message_id = s.parent_id or r.head_message_id < s.id
                               then s.id else r.head_message_id end,
        turns = case when r.head_message_id is null or r.head_message_id = s.parent_id or r.head_message_id < s.id
                     then s.turn else r.turns end,
        last_seq = r.last_seq + 1 + (select count(*) from refused)
    from saved s
    where r.tenant_id = s.tenant_id and r.id = s.run_id
    returning r.*
), invocations as (
    insert into tool_invocations (id, tenant_id, run_id, turn, position, call_id, tool_id, tool_scope_id, tool, version, digest,
        implementation_type, subject, agent_id, mode, status, egress_class, input, receipt, is_error, error_kind, error, completed_at)
    select f.invocation_id, r.tenant_id, r.id, s.turn, f.position, f.call_id, f.tool_id, f.scope_id, f.name,
           coalesce(f.version, ''), coalesce(f.digest, ''), coalesce(f.implementation_type, ''), r.subject, r.agent_id, r.mode,
           'failed', coalesce(f.egress_class, ''), f.arguments, f.receipt, true, f.kind, f.msg, now()
    from refused f cross join saved s cross join numbered r
), answers as (
    insert into messages (id, tenant_id, run_id, parent_id, turn, position, role, content, call_id, is_error)
    select f.answer_id, s.tenant_id, s.run_id, s.id, s.turn, f.position, 'tool', f.content, f.call_id, true
    from refused f cross join saved s
), events as (
    insert into run_events (tenant_id, run_id, seq, type, invocation_id, data)
    select r.tenant_id, r.id, r.last_seq - (select count(*) from refused), 'agent.turn', null::uuid, @event_data::json from numbered r
    union all
    select r.tenant_id, r.id, r.last_seq - (select count(*) from refused) + f.place, 'tool.failed', f.invocation_id,
           json_build_object('tool', f.name, 'version', coalesce(f.version, ''), 'call_id', f.call_id, 'status', 'failed', 'kind', f.kind)
    from numbered r cross join refused f
)
select * from saved
union all
select * from messages m where m.tenant_id = @tenant_id and m.run_id = @run_id and m.turn_key = @turn_key::text;
