drop function fence_default_partition(integer);
drop function validate_default_fence(text);
drop function drop_default_fence(text);

create or replace function ensure_invocation_partitions(months_ahead integer) returns integer
    language plpgsql security definer as $$
declare
    first_day date;
    partition_name text;
    reference text;
    lower_id uuid;
    upper_id uuid;
    made integer := 0;
begin
    for i in 0 .. least(greatest(months_ahead, 0), 24) loop
        first_day := (date_trunc('month', now() at time zone 'utc') + make_interval(months => i))::date;
        partition_name := 'tool_invocations_' || to_char(first_day, 'YYYY_MM');
        continue when to_regclass(partition_name) is not null;
        lower_id := uuid_floor(first_day::timestamp at time zone 'utc');
        upper_id := uuid_floor((first_day + interval '1 month') at time zone 'utc');

        lock table tool_invocations in access exclusive mode;
        continue when to_regclass(partition_name) is not null;
        execute format('create table %I (like tool_invocations including defaults including constraints)', partition_name);
        -- The references are made before the rows come: checking them on rows
        -- that are there would be subject to row level security.
        for reference in
            select pg_get_constraintdef(f.oid) from pg_constraint f
            where f.conrelid = 'tool_invocations'::regclass and f.contype = 'f'
        loop
            execute format('alter table %I add %s', partition_name, reference);
        end loop;
        alter table tool_invocations_default no force row level security;
        execute format('with moved as (delete from tool_invocations_default where id >= %L and id < %L returning *)
            insert into %I select * from moved', lower_id, upper_id, partition_name);
        alter table tool_invocations_default force row level security;
        execute format('alter table tool_invocations attach partition %I for values from (%L) to (%L)',
            partition_name, lower_id, upper_id);
        call protect_partition(partition_name);
        made := made + 1;
    end loop;
    return made;
end
$$;

-- A function with its owner's rights must not look names up where its caller says.
-- And while it waits for the table, every call waits behind it: a backup that
-- holds the table for long is not to hold the calls too.
alter function ensure_invocation_partitions(integer) set lock_timeout = '2s';
do $$
begin
    execute format('alter function ensure_invocation_partitions(integer) set search_path = %I, pg_temp', current_schema());
end
$$;

revoke all on function ensure_invocation_partitions(integer) from public;
grant execute on function ensure_invocation_partitions(integer) to toolcrib_app, toolcrib_maintenance;
