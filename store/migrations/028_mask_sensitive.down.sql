revoke update (mask_sensitive, updated_at) on tenants from toolcrib_app;
alter table tenants drop column mask_sensitive;
