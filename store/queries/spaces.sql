-- name: CountSpaces :one
select count(*) from spaces s where s.tenant_id = @tenant_id;

-- name: CreateSpace :one
insert into spaces (tenant_id, id, slug, name, description, max_hops, created_by)
values (@tenant_id, @id, @slug, @name, @description, @max_hops, @created_by)
returning *;

-- name: FindSpace :one
-- By slug, or by id.
select * from spaces s
where s.tenant_id = @tenant_id and (s.slug = @name::text or s.id = sqlc.narg('id')::uuid);

-- name: ListSpaces :many
select s.* from spaces s
where s.tenant_id = @tenant_id and (sqlc.narg('before')::uuid is null or s.id < sqlc.narg('before'))
  and (@archived::boolean or s.archived_at is null)
  and (cardinality(@slugs::text[]) = 0 or s.slug = any (@slugs::text[]))
  and (@member_kind::text = '' or exists (
      select from space_members m
      where m.tenant_id = s.tenant_id and m.space_id = s.id and m.kind = @member_kind and m.name = @member_name::text))
order by s.id desc
limit sqlc.arg('limit')::int;

-- name: ChangeSpace :one
update spaces s set
    name = @name, description = @description, max_hops = @max_hops,
    archived_at = case when @archived::boolean then coalesce(s.archived_at, now()) end,
    revision = s.revision + 1, updated_at = now()
where s.tenant_id = @tenant_id and s.id = @id and s.revision = @revision
returning *;

-- name: DeleteSpace :one
delete from spaces s where s.tenant_id = @tenant_id and s.id = @id and (@revision::bigint = 0 or s.revision = @revision)
returning *;

-- name: CountSpaceMembers :one
-- How many members there are beside one that is to be added.
select count(*) from space_members m
where m.tenant_id = @tenant_id and m.space_id = @space_id and (m.kind <> @kind or m.name <> @name);

-- name: AddSpaceMember :one
-- Adds a member, or returns the one that is there.
with added as (
    insert into space_members (tenant_id, space_id, kind, name, agent_id, added_by)
    values (@tenant_id, @space_id, @kind, @name, sqlc.narg('agent_id')::uuid, @added_by)
    on conflict do nothing
    returning *
)
select * from added
union all
select m.* from space_members m
where m.tenant_id = @tenant_id and m.space_id = @space_id and m.kind = @kind and m.name = @name and not exists (select from added);

-- name: RemoveSpaceMember :one
-- An agent that is no member any more has left, and is not woken.
with removed as (
    delete from space_members m
    where m.tenant_id = @tenant_id and m.space_id = @space_id and m.kind = @kind and m.name = @name
    returning m.*
), left_space as (
    update run_spaces i set space_id = null
    from removed d join runs r on r.tenant_id = d.tenant_id and r.agent_id = d.agent_id and r.status in ('pending', 'running')
    where i.tenant_id = d.tenant_id and i.space_id = d.space_id and i.run_id = r.id
), forgotten as (
    delete from space_wakes w using removed d
    where w.tenant_id = d.tenant_id and w.space_id = d.space_id and w.agent_id = d.agent_id
)
select * from removed;

-- name: ListSpaceMembers :many
select m.* from space_members m
where m.tenant_id = @tenant_id and m.space_id = @space_id
order by m.kind, m.name;

-- name: IsSpaceMember :one
select exists (
    select from space_members m
    where m.tenant_id = @tenant_id and m.space_id = @space_id and m.kind = @kind and m.name = @name)::boolean as member;

-- name: PostSpaceMessage :one
-- Posts a text once, and wakes the agents that are members, but for its author. A wake that is
-- due already gets the message too. Nothing is posted where the space is archived, its author is
-- no member, or the message is posted already.
with place as (
    update spaces s set last_seq = s.last_seq + 1
    where s.tenant_id = @tenant_id and s.id = @space_id and s.archived_at is null
      and exists (
          select from space_members m
          where m.tenant_id = s.tenant_id and m.space_id = s.id and m.kind = @from_kind and m.name = @from_name)
      and not exists (select from space_messages o where o.tenant_id = s.tenant_id and o.id = @id::uuid)
    returning s.tenant_id, s.id, s.last_seq, s.max_hops
), others as (
    select m.agent_id::uuid as agent_id from space_members m join place p on m.tenant_id = p.tenant_id and m.space_id = p.id
    where m.kind = 'agent' and (@from_kind <> 'agent' or m.name <> @from_name)
), posted as (
    insert into space_messages (tenant_id, id, space_id, seq, changed_seq, kind, from_kind, from_name, subject, run_id, hops, text,
        not_woken, status)
    select p.tenant_id, @id, p.id, p.last_seq, p.last_seq, 'text', @from_kind, @from_name, @subject, sqlc.narg('run_id')::uuid,
        @hops::int, @text, case when @hops > p.max_hops and exists (select from others) then @limit_reason::text else '' end,
        'complete'
    from place p
    returning *
), woken as (
    insert into space_wakes as w (tenant_id, space_id, agent_id, subject, permissions, scopes, from_seq, upto_seq, hops, run_id)
    select p.tenant_id, p.id, o.agent_id, @subject, @permissions::text[], @scopes::text[], p.last_seq, p.last_seq, @hops, new_uuid7()
    from place p cross join others o
    where @hops <= p.max_hops
    on conflict (tenant_id, space_id, agent_id, subject) do update
        set upto_seq = excluded.upto_seq, hops = least(w.hops, excluded.hops), permissions = excluded.permissions,
            scopes = excluded.scopes
    returning 1
)
select (select count(*) from posted)::int as posted, (select count(*) from woken)::int as woken;

-- name: FindSpaceMessage :one
select * from space_messages m where m.tenant_id = @tenant_id and m.space_id = @space_id and m.id = @id;

-- name: ListSpaceMessages :many
-- Newest first.
select m.* from space_messages m
where m.tenant_id = @tenant_id and m.space_id = @space_id
  and (@before::bigint = 0 or m.seq < @before) and (@kind::text = '' or m.kind = @kind)
order by m.seq desc
limit sqlc.arg('limit')::int offset @skip::int;

-- name: ListSpaceChanges :many
-- What is new, or has changed, in the order of the changes.
select m.* from space_messages m
where m.tenant_id = @tenant_id and m.space_id = @space_id and m.changed_seq > @after::bigint
order by m.changed_seq
limit sqlc.arg('limit')::int;

-- name: EnterSpace :one
-- Moves a run of an agent into a space that the agent is a member of. A nested run goes on with
-- the hops of the runs above it, so that agents which call agents come to an end too.
with recursive allowed as (
    select m.tenant_id, m.space_id from space_members m
    join spaces s on s.tenant_id = m.tenant_id and s.id = m.space_id and s.archived_at is null
    where m.tenant_id = @tenant_id and m.space_id = @space_id and m.kind = 'agent' and m.agent_id = @agent_id::uuid
), line as (
    select r.parent_run_id, 0 as above from runs r where r.tenant_id = @tenant_id and r.id = @run_id
    union all
    select r.parent_run_id, l.above + 1
    from line l join runs r on r.tenant_id = @tenant_id and r.id = l.parent_run_id
    where l.above < @most::int
), entered as (
    insert into run_spaces as i (tenant_id, run_id, space_id, hops)
    select a.tenant_id, @run_id, a.space_id, coalesce((
        select max(u.hops) from run_spaces u
        where u.tenant_id = @tenant_id and u.run_id in (select l.parent_run_id from line l)), 0)
    from allowed a
    on conflict (tenant_id, run_id) do update set space_id = excluded.space_id, hops = greatest(i.hops, excluded.hops)
    returning 1
)
select exists (select from allowed)::boolean as allowed, (select count(*) from entered)::int as entered;

-- name: LeaveSpace :one
with before as (
    select i.space_id from run_spaces i where i.tenant_id = @tenant_id and i.run_id = @run_id and i.space_id is not null
    for update
), gone as (
    update run_spaces i set space_id = null where i.tenant_id = @tenant_id and i.run_id = @run_id
)
select s.* from before b join spaces s on s.tenant_id = @tenant_id and s.id = b.space_id;

-- name: FindRunSpace :one
-- The space that a run is in: where it may post.
select sqlc.embed(s), i.hops, r.agent from run_spaces i
join runs r on r.tenant_id = i.tenant_id and r.id = i.run_id
join spaces s on s.tenant_id = i.tenant_id and s.id = i.space_id and s.archived_at is null
join space_members m on m.tenant_id = s.tenant_id and m.space_id = s.id and m.kind = 'agent' and m.agent_id = r.agent_id
where i.tenant_id = @tenant_id and i.run_id = @run_id;

-- name: FindRunHops :one
select coalesce((select i.hops from run_spaces i where i.tenant_id = @tenant_id and i.run_id = @run_id), 0)::int as hops;

-- name: ClaimSpaceWakes :one
select claim_space_wakes(@most::int, make_interval(secs => @lease_s::float8))::json as claimed;

-- name: LockSpaceWake :one
-- A wake of a tenant that is active, and whether the key that it acts for has lapsed.
select sqlc.embed(w), s.slug as space, s.name as space_name, a.slug as agent, exists (
    select from api_keys k
    where k.tenant_id = w.tenant_id and 'key:' || k.id::text = w.subject
      and (k.revoked_at is not null or k.expires_at <= now()))::boolean as lapsed
from space_wakes w
join spaces s on s.tenant_id = w.tenant_id and s.id = w.space_id
join agents a on a.tenant_id = w.tenant_id and a.id = w.agent_id
join tenants t on t.id = w.tenant_id and t.status = 'active'
where w.tenant_id = @tenant_id and w.space_id = @space_id and w.agent_id = @agent_id and w.subject = @subject
for update of w;

-- name: ListWakeMessages :many
-- What an agent is woken by: the last of it, newest first.
select m.* from space_messages m
where m.tenant_id = @tenant_id and m.space_id = @space_id and m.kind = 'text' and m.subject = @subject
  and m.seq between @from_seq and @upto_seq and (m.from_kind <> 'agent' or m.from_name <> @agent::text)
order by m.seq desc
limit sqlc.arg('limit')::int;

-- name: LockRunOfWake :one
-- The run of an agent that goes on, in the space or woken by it, for the same authority. It is
-- locked before the wake, as where a run ends.
select r.id from space_wakes w
join runs r on r.tenant_id = w.tenant_id and r.agent_id = w.agent_id and r.status in ('pending', 'running')
  and r.subject = w.subject and r.permissions = w.permissions and r.scopes = w.scopes
join run_spaces i on i.tenant_id = r.tenant_id and i.run_id = r.id and (i.space_id = w.space_id or i.woken_in = w.space_id)
where w.tenant_id = @tenant_id and w.space_id = @space_id and w.agent_id = @agent_id and w.subject = @subject
order by r.id desc
limit 1
for no key update of r;

-- name: FindRunOfWake :one
-- As LockRunOfWake finds it, once the wake is locked.
select r.id from space_wakes w
join runs r on r.tenant_id = w.tenant_id and r.agent_id = w.agent_id and r.status in ('pending', 'running')
  and r.subject = w.subject and r.permissions = w.permissions and r.scopes = w.scopes
join run_spaces i on i.tenant_id = r.tenant_id and i.run_id = r.id and (i.space_id = w.space_id or i.woken_in = w.space_id)
where w.tenant_id = @tenant_id and w.space_id = @space_id and w.agent_id = @agent_id and w.subject = @subject
order by r.id desc
limit 1;

-- name: SetRunHops :exec
update run_spaces i set hops = @hops where i.tenant_id = @tenant_id and i.run_id = @run_id;

-- name: AnnounceWokenRun :exec
-- Says of a run that begins which message woke its agent.
insert into run_spaces as i (tenant_id, run_id, woken_in, hops)
values (@tenant_id, @run_id, @space_id::uuid, @hops)
on conflict (tenant_id, run_id) do update set hops = excluded.hops;

-- name: TaintWokenRun :exec
-- A run that messages of tainted runs begin, or of those that a visitor of a link began, is tainted from its start.
update runs r set taint = x.taint || '{"turn": 0}'
from (
    select coalesce(w.taint, taint_by_link(w.tenant_id, w.id)) as taint
    from space_messages m
    join runs w on w.tenant_id = @tenant_id and w.id = m.run_id and (w.taint is not null or w.by_link)
    where m.tenant_id = @tenant_id and m.space_id = @space_id::uuid and m.seq between @from_seq::bigint and @upto_seq::bigint
    limit 1
) x
where r.tenant_id = @tenant_id and r.id = @run_id and r.taint is null;

-- name: EndSpaceWake :exec
-- Ends a wake, unless its run began; what came meanwhile wakes the agent again.
with ended as (
    delete from space_wakes w
    where w.tenant_id = @tenant_id and w.space_id = @space_id and w.agent_id = @agent_id and w.subject = @subject
      and w.run_id = @run_id and w.upto_seq <= sqlc.arg('last_seq')::bigint
    returning 1
)
update space_wakes w set from_seq = sqlc.arg('last_seq')::bigint + 1, run_id = new_uuid7(), due_at = now(), attempts = 0
where w.tenant_id = @tenant_id and w.space_id = @space_id and w.agent_id = @agent_id and w.subject = @subject
  and w.run_id = @run_id and w.upto_seq > sqlc.arg('last_seq')::bigint;

-- name: ExplainSpaceWake :exec
-- Says with a message why an agent was not woken by it.
with place as (
    update spaces s set last_seq = s.last_seq + 1 where s.tenant_id = @tenant_id and s.id = @space_id
    returning s.last_seq
)
update space_messages m set not_woken = @reason, changed_seq = p.last_seq, updated_at = now()
from place p
where m.tenant_id = @tenant_id and m.space_id = @space_id and m.seq = @seq and m.kind = 'text';

-- name: SetAgentNote :exec
insert into agent_notes as n (tenant_id, agent_id, kind, key, text, done)
values (@tenant_id, @agent_id, @kind, @key, @text, @done)
on conflict (tenant_id, agent_id, kind, key) do update
    set text = excluded.text, done = excluded.done, updated_at = now();

-- name: CountAgentNotes :one
select count(*) from agent_notes n where n.tenant_id = @tenant_id and n.agent_id = @agent_id and n.kind = @kind;

-- name: LockAgentForNotes :one
select a.id from agents a where a.tenant_id = @tenant_id and a.id = @agent_id for no key update;

-- name: DeleteAgentNotes :many
delete from agent_notes n
where n.tenant_id = @tenant_id and n.agent_id = @agent_id and n.kind = @kind and n.key = any (@keys::text[])
returning n.key;

-- name: ListAgentNotes :many
select n.* from agent_notes n
where n.tenant_id = @tenant_id and n.agent_id = @agent_id and (@kind::text = '' or n.kind = @kind)
order by n.kind, n.created_at, n.key;
