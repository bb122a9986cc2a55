-- Files of tenants: what people and programs upload, and what people draw on images. The content
-- is in chunks here, or in a store of objects.

create table files (
    tenant_id     uuid not null references tenants on delete cascade,
    id            uuid not null,
    name          text not null check (name <> ''),
    media_type    text not null,                   -- as the content was found to be
    size          bigint not null check (size > 0),
    sha256        text not null check (sha256 ~ '^[0-9a-f]{64}$'),
    width         integer not null default 0,      -- of an image, in pixels
    height        integer not null default 0,
    kind          text not null check (kind in ('upload', 'markup')),
    run_id        uuid,                            -- whose artifact it is
    root_run_id   uuid,                            -- the outermost run of that
    invocation_id uuid,                            -- of the request for input that it was sent to
    location      text not null check (location <> ''), -- of its content
    stored        boolean not null default false,  -- the content is there
    created_by    text not null default '',
    created_at    timestamptz not null default now(),
    expires_at    timestamptz,                     -- when it is deleted; null for a file that is kept
    primary key (tenant_id, id),
    foreign key (tenant_id, run_id) references runs (tenant_id, id) on delete cascade,
    check ((run_id is null) = (root_run_id is null))
);

create index files_of_run on files (tenant_id, run_id, id desc) where run_id is not null;
create index files_of_root on files (tenant_id, root_run_id, id desc) where root_run_id is not null;
create index files_of_call on files (tenant_id, invocation_id) where invocation_id is not null;
create index files_expiring on files (expires_at) where expires_at is not null;

comment on table files is 'Files of tenants, without their contents.';

create table file_chunks (
    tenant_id uuid not null,
    file_id   uuid not null,
    position  integer not null,
    content   bytea not null check (octet_length(content) between 1 and 1048576),
    primary key (tenant_id, file_id, position),
    foreign key (tenant_id, file_id) references files (tenant_id, id) on delete cascade
);

-- What is uploaded is mostly compressed already.
alter table file_chunks alter column content set storage external;

comment on table file_chunks is 'Contents of files, in order.';

-- Contents elsewhere of files that are gone. A tenant that is gone leaves some too.
create table left_files (
    tenant_id  uuid not null,
    file_id    uuid not null,
    location   text not null,
    due_at     timestamptz not null default now(), -- when it is deleted, or tried again
    created_at timestamptz not null default now(),
    primary key (tenant_id, file_id)
);

create index left_files_due on left_files (location, due_at);

comment on table left_files is 'Contents in stores of objects that no file has any more.';

alter table files enable row level security;
alter table files force row level security;
alter table file_chunks enable row level security;
alter table file_chunks force row level security;
alter table left_files enable row level security;
alter table left_files force row level security;

create policy tenant_isolation on files
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
create policy tenant_isolation on file_chunks
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
create policy tenant_isolation on left_files
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
create policy expired_read on files for select to toolcrib_owner using (expires_at <= now());
create policy expired_delete on files for delete to toolcrib_owner using (expires_at <= now());
create policy left_add on left_files for insert to toolcrib_owner with check (true);
create policy left_read on left_files for select to toolcrib_owner using (true);
create policy left_claim on left_files for update to toolcrib_owner using (true) with check (true);

grant select, insert, update, delete on files to toolcrib_app;
grant select, insert, delete on file_chunks to toolcrib_app;
grant select, insert, delete on left_files to toolcrib_app;

-- Remembers the content of a deleted file that is elsewhere. Chunks go with their file.
create function leave_file() returns trigger language plpgsql security definer as $$
begin
    if old.location <> 'postgres' then
        insert into left_files (tenant_id, file_id, location) values (old.tenant_id, old.id, old.location)
        on conflict do nothing;
    end if;
    return null;
end
$$;

create trigger files_leave after delete on files for each row execute function leave_file();

-- Deletes at most so many files of any tenant whose time is over, and returns how many it deleted.
create function sweep_files(most integer) returns integer
    language sql security definer as $$
    with gone as (
        delete from files d using (
            select o.tenant_id, o.id from files o
            where o.expires_at <= now()
            order by o.expires_at
            limit most) old
        where d.tenant_id = old.tenant_id and d.id = old.id
        returning 1
    )
    select count(*)::integer from gone
$$;

-- Leases at most so many contents at a place that no file has any more, of any tenant, as a list.
create function claim_left_files(place text, lease interval, most integer) returns json
    language sql security definer as $$
    with claimed as (
        update left_files l set due_at = now() + lease
        from (
            select d.tenant_id, d.file_id from left_files d
            where d.location = place and d.due_at <= now()
            order by d.due_at
            limit most
            for update skip locked) due
        where l.tenant_id = due.tenant_id and l.file_id = due.file_id
        returning l.tenant_id, l.file_id
    )
    select coalesce(json_agg(json_build_object('tenant_id', c.tenant_id, 'file_id', c.file_id)), '[]') from claimed c
$$;

do $$
declare
    name text;
begin
    foreach name in array array['leave_file()', 'sweep_files(integer)', 'claim_left_files(text, interval, integer)']
    loop
        execute format('alter function %s set search_path = %I, pg_temp', name, current_schema());
    end loop;
end
$$;

revoke all on function leave_file(), sweep_files(integer), claim_left_files(text, interval, integer) from public;
grant execute on function sweep_files(integer), claim_left_files(text, interval, integer) to toolcrib_app;
