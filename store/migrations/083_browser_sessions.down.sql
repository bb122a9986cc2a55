create or replace function end_web_sessions(of_hash bytea) returns void language sql security definer as $$
    delete from web_sessions w where w.token_hash = of_hash
$$;
do $$
begin
    execute format('alter function end_web_sessions(bytea) set search_path = %I, pg_temp', current_schema());
end
$$;
drop trigger audit_ended on web_sessions;
drop trigger audit_began on web_sessions;
alter table web_sessions drop column browser, drop column id;
