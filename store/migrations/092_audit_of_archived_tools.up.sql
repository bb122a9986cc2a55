-- A tool that was archived, or taken out of the archive, was on record as switched off or on.
do $migration$
declare
    known text := pg_get_functiondef('audit_row()'::regprocedure);
    next text := $$when 'status' = any (changed) and n ->> 'status' = 'disabled' then 'disabled'$$;
    added text := $$when 'archived_at' = any (changed) then case when n ->> 'archived_at' is null then 'restored' else 'archived' end
                $$;
begin
    if strpos(known, next) = 0 then
        raise exception 'audit_row() is not the function of the migrations';
    end if;
    execute replace(known, next, added || next);
end
$migration$;
