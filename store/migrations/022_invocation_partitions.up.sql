-- Partitions of tool_invocations are made without a long lock. Rows that the
-- default partition took stay in it: the partition of a month that has begun
-- starts on a later day of it.
--
-- While a partition is attached, the default partition is searched for rows that
-- belong to it, under a lock that every call waits for. A valid constraint that
-- says there are none, a fence, spares the search. It is validated while rows are
-- read and written. A fence named outside_YYYYMMDD excludes ids from that day to
-- the end of its month.

-- Adds a fence, not yet valid, for the first of these months that has neither a
-- partition nor a fence, and returns the name of a fence that waits, or null.
-- From then on the default partition takes no such rows, so it begins tomorrow at
-- the earliest.
create function fence_default_partition(months_ahead integer) returns text
    language plpgsql security definer as $$
declare
    fence text;
    first_day date;
begin
    perform pg_advisory_xact_lock(hashtextextended('toolcrib.fence_default_partition', 0));
    select c.conname::text into fence from pg_constraint c
    where c.conrelid = 'tool_invocations_default'::regclass and c.conname ~ '^outside_\d{8}$'
    order by c.conname limit 1;
    if fence is not null or pg_relation_size('tool_invocations_default') = 0 then
        return fence;
    end if;
    for i in 0 .. least(greatest(months_ahead, 0), 24) loop
        first_day := (date_trunc('month', now() at time zone 'utc') + make_interval(months => i))::date;
        continue when to_regclass('tool_invocations_' || to_char(first_day, 'YYYY_MM')) is not null;
        if i = 0 then
            first_day := (now() at time zone 'utc')::date + 2;
            continue when first_day >= (date_trunc('month', now() at time zone 'utc') + interval '1 month')::date;
        end if;
        fence := 'outside_' || to_char(first_day, 'YYYYMMDD');
        execute format('alter table tool_invocations_default add constraint %I check (id < %L or id >= %L) not valid', fence,
            uuid_floor(first_day::timestamp at time zone 'utc'),
            uuid_floor((date_trunc('month', first_day::timestamp) + interval '1 month') at time zone 'utc'));
        return fence;
    end loop;
    return null;
end
$$;

-- Validates a fence. It fails with check_violation where the default partition
-- holds rows of the time behind it.
create function validate_default_fence(fence text) returns void language plpgsql security definer as $$
begin
    if fence !~ '^outside_\d{8}$' then
        raise exception 'no fence is named %', fence using errcode = 'invalid_parameter_value';
    end if;
    execute format('alter table tool_invocations_default validate constraint %I', fence);
end
$$;

-- Removes a fence.
create function drop_default_fence(fence text) returns void language plpgsql security definer as $$
begin
    if fence !~ '^outside_\d{8}$' then
        raise exception 'no fence is named %', fence using errcode = 'invalid_parameter_value';
    end if;
    execute format('alter table tool_invocations_default drop constraint if exists %I', fence);
end
$$;

-- Makes the partitions of the current month and of the given number of months
-- after it where they are missing and can be made at once: where the default
-- partition never held a row, or a valid fence stands. Returns how many it made.
create or replace function ensure_invocation_partitions(months_ahead integer) returns integer
    language plpgsql security definer as $$
declare
    first_day date;
    begins date;
    fence text;
    partition_name text;
    reference text;
    made integer := 0;
begin
    for i in 0 .. least(greatest(months_ahead, 0), 24) loop
        first_day := (date_trunc('month', now() at time zone 'utc') + make_interval(months => i))::date;
        partition_name := 'tool_invocations_' || to_char(first_day, 'YYYY_MM');
        continue when to_regclass(partition_name) is not null;

        lock table tool_invocations in access exclusive mode;
        continue when to_regclass(partition_name) is not null;
        begins := first_day;
        select c.conname::text into fence from pg_constraint c
        where c.conrelid = 'tool_invocations_default'::regclass and c.convalidated
          and c.conname ~ ('^outside_' || to_char(first_day, 'YYYYMM') || '\d\d$')
        order by c.conname limit 1;
        if fence is not null then
            begins := to_date(right(fence, 8), 'YYYYMMDD');
        elsif pg_relation_size('tool_invocations_default') > 0 then
            continue;
        end if;
        execute format('create table %I (like tool_invocations including defaults including constraints)', partition_name);
        for reference in
            select pg_get_constraintdef(f.oid) from pg_constraint f
            where f.conrelid = 'tool_invocations'::regclass and f.contype = 'f'
        loop
            execute format('alter table %I add %s', partition_name, reference);
        end loop;
        execute format('alter table tool_invocations attach partition %I for values from (%L) to (%L)', partition_name,
            uuid_floor(begins::timestamp at time zone 'utc'),
            uuid_floor((first_day + interval '1 month') at time zone 'utc'));
        call protect_partition(partition_name);
        if fence is not null then
            execute format('alter table tool_invocations_default drop constraint %I', fence);
        end if;
        made := made + 1;
    end loop;
    return made;
end
$$;

do $$
declare
    signature text;
begin
    foreach signature in array array['ensure_invocation_partitions(integer)', 'fence_default_partition(integer)',
        'validate_default_fence(text)', 'drop_default_fence(text)']
    loop
        execute format('alter function %s set search_path = %I, pg_temp', signature, current_schema());
        execute format('alter function %s set lock_timeout = ''2s''', signature);
        execute format('revoke all on function %s from public', signature);
        execute format('grant execute on function %s to toolcrib_app, toolcrib_maintenance', signature);
    end loop;
end
$$;
