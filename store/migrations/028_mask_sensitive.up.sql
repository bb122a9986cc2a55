-- Whether the API hides what looks like a secret, by its name or form, in a
-- tenant's runs, messages, invocations and events. The rows hold it as it came:
-- calls go on with it.

alter table tenants add column mask_sensitive boolean not null default true;

grant update (mask_sensitive, updated_at) on tenants to toolcrib_app;
grant update (mask_sensitive) on tenants to toolcrib_maintenance;
