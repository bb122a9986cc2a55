do $migration$
declare
    added text := $$when 'archived_at' = any (changed) then case when n ->> 'archived_at' is null then 'restored' else 'archived' end
                when 'status'$$;
begin
    execute replace(pg_get_functiondef('audit_row()'::regprocedure), added, $$when 'status'$$);
end
$migration$;
