do $$
declare
    t record;
begin
    for t in
        select g.tgname, g.tgrelid::regclass as source from pg_trigger g
        join pg_class c on c.oid = g.tgrelid
        where g.tgfoid = 'audit_row'::regproc and c.relnamespace = current_schema()::regnamespace
    loop
        execute format('drop trigger %I on %s', t.tgname, t.source);
    end loop;
end
$$;

drop function audit_unsealed_age();
drop function seal_audit(integer);
drop function audit_digest(text, audit_log);
drop function audit_row();
drop function audit_refuse(uuid, text, text, text, text, text);
drop function audit_write(uuid, text, text, text, text, text, text, json, json);
drop function audit_id(timestamptz);
drop table audit_heads;
drop table audit_log;
