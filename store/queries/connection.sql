-- name: SetTenant :exec
-- First statement of every transaction; the setting ends with it.
select set_config('app.tenant_id', @tenant_id::text, true);
