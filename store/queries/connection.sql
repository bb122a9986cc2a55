-- name: SetTenant :exec
-- First statement of every transaction; the setting ends with it.
select set_config('app.tenant_id', @tenant_id::text, true);

-- name: SetTenantPlanOnce :exec
-- SetTenant for what looks rows up by their keys in large statements: planning
-- them anew for each set of parameters costs more than running them.
select set_config('app.tenant_id', @tenant_id::text, true), set_config('plan_cache_mode', 'force_generic_plan', true);
