do $$
declare
    t record;
begin
    for t in
        select g.tgname, g.tgrelid::regclass as source from pg_trigger g
        join pg_class c on c.oid = g.tgrelid
        where g.tgname in ('quota_made', 'quota_gone', 'quota_changed') and c.relnamespace = current_schema()::regnamespace
    loop
        execute format('drop trigger %I on %s', t.tgname, t.source);
    end loop;
end
$$;

drop function recount_quotas(uuid, boolean);
drop function count_idempotency_keys();
drop function count_artifact_versions();
drop function count_files();
drop function count_documents();
drop function count_rows();
drop function count_tools();
drop function count_spread_quota(uuid, text, bigint);
drop function count_quota(uuid, text, bigint);
drop function refuse_quota(text, bigint, bigint, bigint);
drop function quota_of(uuid, text);
drop table quota_counts;
drop table quotas;
