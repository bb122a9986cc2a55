-- The id of a tenant by its slug, for programs whose configuration names tenants:
-- the worker publishes a host's functions to them. It returns nothing else of the
-- tenant; the row itself is read as its tenant.
create function tenant_of_slug(of_slug text) returns uuid
    language sql stable security definer as $$
    select t.id from tenants t where t.slug = of_slug
$$;

do $$
begin
    execute format('alter function tenant_of_slug(text) set search_path = %I, pg_temp', current_schema());
end
$$;

revoke all on function tenant_of_slug(text) from public;
grant execute on function tenant_of_slug(text) to toolcrib_app, toolcrib_maintenance;
