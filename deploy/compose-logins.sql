-- The logins of servers and of the reconciler, which get their roles and nothing
-- more. It may be repeated. The password comes from the environment.
\getenv password APP_PASSWORD
select format('create role %I login', name)
from unnest(array['tools_app', 'tools_maintenance']) as name
where not exists (select from pg_roles where rolname = name) \gexec
alter role tools_app password :'password';
alter role tools_maintenance password :'password';
grant toolcrib_app to tools_app, tools_migrator;
grant toolcrib_maintenance to tools_maintenance;
