-- Two refusals of one object within a minute are one row if their reasons are the same, too: a change that a reviewer refused
-- hid that a permission was missing before.
do $migration$
declare
    known text := pg_get_functiondef('audit_refuse(uuid, text, text, text, text, text)'::regprocedure);
    next text := $$l.object_name = coalesce(p_name, '')), false)$$;
    changed text := $$l.object_name = coalesce(p_name, '')
                and l.reason = coalesce(nullif(p_reason, ''), nullif(current_setting('app.actor', true), '')::json ->> 'reason', '')), false)$$;
begin
    if strpos(known, next) = 0 then
        raise exception 'audit_refuse() is not the function of the migrations';
    end if;
    execute replace(known, next, changed);
end
$migration$;
