-- Partitions that cannot be made yet are not waited for under a lock.
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
        -- Not before there is something to make: every call waits for this lock.
        lock table tool_invocations in access exclusive mode;
        continue when to_regclass(partition_name) is not null;
        continue when fence is null and pg_relation_size('tool_invocations_default') > 0;
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
begin
    execute format('alter function ensure_invocation_partitions(integer) set search_path = %I, pg_temp', current_schema());
end
$$;

-- While one of these waits for a lock, calls wait behind it.
alter function ensure_invocation_partitions(integer) set lock_timeout = '200ms';
alter function fence_default_partition(integer) set lock_timeout = '200ms';
alter function drop_default_fence(text) set lock_timeout = '200ms';
