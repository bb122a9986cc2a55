-- Overrides also change how a tool is shown and run: its description, defaults of its arguments
-- and limits of its calls. Each edit keeps a record, so that runs go on with what they began with.

alter table tool_overrides
    add column description text not null default '', -- empty keeps the tool's
    add column defaults    json,                     -- an object: values of arguments that a call leaves out
    add column limits      json,                     -- an object: the fields of tool.CallLimits
    add column revision    bigint not null default 1;

create table tool_override_versions (
    tenant_id         uuid references tenants on delete cascade,
    scope_id          uuid not null generated always as
                          (coalesce(tenant_id, '00000000-0000-0000-0000-000000000000'::uuid)) stored,
    tool_id           uuid not null,
    tool_scope_id     uuid not null,
    revision          bigint not null,
    enabled           boolean,
    requires_approval boolean not null,
    description       text not null check (length(description) <= 4000),
    defaults          json check (json_typeof(defaults) = 'object'),
    limits            json check (json_typeof(limits) = 'object'),
    reason            text not null,
    removed           boolean not null default false,
    changed_by        text not null,
    changed_at        timestamptz not null,
    primary key (scope_id, tool_id, revision),
    foreign key (tool_id, tool_scope_id) references tool_registry (id, scope_id) on delete cascade,
    check (tool_scope_id in (scope_id, '00000000-0000-0000-0000-000000000000'))
);

create index tool_override_versions_tool on tool_override_versions (tool_id);

comment on table tool_override_versions is 'Every state of an override, by its revision; the last of a removed one says so.';

alter table tool_override_versions enable row level security;
alter table tool_override_versions force row level security;

create policy tenant_read on tool_override_versions for select
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid
        or tenant_id is null and (select true from tool_registry t where t.id = tool_id and t.scope_id = tool_scope_id));
create policy tenant_insert on tool_override_versions for insert
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
create policy platform_globals on tool_override_versions to toolcrib_owner
    using (tenant_id is null) with check (tenant_id is null);

grant select, insert on tool_override_versions to toolcrib_app;

-- Revisions of an override are never used twice, also where it was removed in between.
create function number_override() returns trigger language plpgsql as $$
begin
    if tg_op = 'UPDATE' then
        new.revision := old.revision + 1;
    else
        select coalesce(max(v.revision), 0) + 1 into new.revision from tool_override_versions v
        where v.scope_id = coalesce(new.tenant_id, '00000000-0000-0000-0000-000000000000') and v.tool_id = new.tool_id;
    end if;
    return new;
end
$$;

-- A row that goes with its tool or tenant leaves no record.
create function keep_override() returns trigger language plpgsql as $$
begin
    if tg_op <> 'DELETE' then
        insert into tool_override_versions (tenant_id, tool_id, tool_scope_id, revision, enabled, requires_approval, description,
            defaults, limits, reason, changed_by, changed_at)
        values (new.tenant_id, new.tool_id, new.tool_scope_id, new.revision, new.enabled, new.requires_approval, new.description,
            new.defaults, new.limits, new.reason, new.changed_by, new.changed_at);
    elsif exists (select from tool_registry t where t.id = old.tool_id and t.scope_id = old.tool_scope_id)
        and (old.tenant_id is null or exists (select from tenants n where n.id = old.tenant_id))
    then
        insert into tool_override_versions (tenant_id, tool_id, tool_scope_id, revision, requires_approval, description, reason,
            removed, changed_by, changed_at)
        values (old.tenant_id, old.tool_id, old.tool_scope_id, old.revision + 1, false, '', '', true,
            coalesce(nullif(current_setting('app.actor', true), '')::json ->> 'subject', 'platform'), now());
    end if;
    return null;
end
$$;

create trigger override_number before insert or update on tool_overrides for each row execute function number_override();
create trigger override_keep after insert or update or delete on tool_overrides for each row execute function keep_override();
