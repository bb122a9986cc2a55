-- People see the browsers that they are signed in with, and end the sessions of others. Sessions have an id that opens
-- nothing, and their beginnings and ends are audited.

alter table web_sessions
    add column id uuid not null default gen_random_uuid(),
    add column browser text not null default '', -- its kind, such as Firefox on Linux
    add constraint web_sessions_browser_check check (length(browser) <= 100) not valid;

create trigger audit_began after insert on web_sessions for each row
    execute function audit_row('{last_used_at,idle_ends_at,ends_at}', '{token_hash}', 'browser_session');
create trigger audit_ended after delete on web_sessions for each row
    when (old.idle_ends_at > now() and old.ends_at > now()) -- others had ended before
    execute function audit_row('{last_used_at,idle_ends_at,ends_at}', '{token_hash}', 'browser_session');

-- Signs a browser out of every tenant: in the log of each, by the key or the person of its session there.
create or replace function end_web_sessions(of_hash bytea) returns void language plpgsql security definer as $$
declare
    w web_sessions;
    v_actor text := current_setting('app.actor', true);
begin
    for w in select s.* from web_sessions s where s.token_hash = of_hash order by s.tenant_id for update loop
        perform set_config('app.actor', json_build_object('kind', case when w.key_id is null then 'user' else 'key' end,
            'subject', coalesce(w.subject, 'key:' || w.key_id::text), 'key_id', w.key_id,
            'request_id', nullif(v_actor, '')::json ->> 'request_id')::text, true);
        delete from web_sessions d where d.token_hash = of_hash and d.tenant_id = w.tenant_id;
    end loop;
    perform set_config('app.actor', coalesce(v_actor, ''), true);
end
$$;

do $$
begin
    execute format('alter function end_web_sessions(bytea) set search_path = %I, pg_temp', current_schema());
end
$$;
