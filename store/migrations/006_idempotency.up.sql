-- What a caller was answered to a request that it named with an idempotency
-- key, so that the request sent again is answered and not served again.

create table idempotency_keys (
    tenant_id   uuid not null references tenants on delete cascade,
    subject     text not null, -- whose key it is: nobody else's request meets it
    key_hash    bytea not null check (octet_length(key_hash) = 32), -- sha256 of the key
    id          uuid not null, -- names the request, for as long as the key does
    digest      text not null check (digest ~ '^[0-9a-f]{64}$'), -- of the request
    fence       bigint not null default 1, -- counts who served it
    lease_until timestamptz not null,      -- until then it is being served, unless it is answered
    status      integer,                   -- HTTP's; the last three are set when it is answered
    header      json,
    body        bytea,
    created_at  timestamptz not null default now(),
    expires_at  timestamptz not null,
    primary key (tenant_id, subject, key_hash)
) with (fillfactor = 70); -- every row is updated once, in place where there is room

create index idempotency_keys_expired on idempotency_keys (expires_at);

comment on table idempotency_keys is 'Requests that callers named, and their answers; kept for a day.';

alter table idempotency_keys enable row level security;
alter table idempotency_keys force row level security;

create policy tenant_isolation on idempotency_keys
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
create policy expired_read on idempotency_keys for select to toolcrib_owner using (expires_at <= now());
create policy expired_delete on idempotency_keys for delete to toolcrib_owner using (expires_at <= now());

grant select, insert, update on idempotency_keys to toolcrib_app;

-- Deletes so many keys at most whose time is over, whosever they are, and
-- returns how many it deleted.
create function sweep_idempotency_keys(most integer) returns integer
    language plpgsql security definer as $$
declare
    gone integer;
begin
    delete from idempotency_keys where expires_at <= now() and ctid = any (array(
        select k.ctid from idempotency_keys k where k.expires_at <= now() order by k.expires_at limit most));
    get diagnostics gone = row_count;
    return gone;
end
$$;

do $$
begin
    execute format('alter function sweep_idempotency_keys(integer) set search_path = %I, pg_temp', current_schema());
end
$$;

revoke all on function sweep_idempotency_keys(integer) from public;
grant execute on function sweep_idempotency_keys(integer) to toolcrib_app, toolcrib_maintenance;

-- The keys that a key made are revoked with it.
create index api_keys_maker on api_keys (tenant_id, created_by);
