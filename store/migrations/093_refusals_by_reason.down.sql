do $migration$
declare
    changed text := $$
                and l.reason = coalesce(nullif(p_reason, ''), nullif(current_setting('app.actor', true), '')::json ->> 'reason', '')), false)$$;
begin
    execute replace(pg_get_functiondef('audit_refuse(uuid, text, text, text, text, text)'::regprocedure), changed, '), false)');
end
$migration$;
