-- name: SetTenant :exec
-- First statement of every transaction; the settings end with it. The actor is for the audit log. Timeouts are in
-- milliseconds, and local to the transaction, so that they work behind a pooler too.
select set_config('app.tenant_id', @tenant_id::text, true), set_config('statement_timeout', @statement_timeout::text, true),
       set_config('lock_timeout', @lock_timeout::text, true), set_config('idle_in_transaction_session_timeout', @idle_timeout::text, true),
       set_config('app.actor', @actor::text, true);

-- name: SetTenantPlanOnce :exec
-- SetTenant for large statements that look up rows by their keys: planning them for each
-- set of parameters costs more than running them.
select set_config('app.tenant_id', @tenant_id::text, true), set_config('statement_timeout', @statement_timeout::text, true),
       set_config('lock_timeout', @lock_timeout::text, true), set_config('idle_in_transaction_session_timeout', @idle_timeout::text, true),
       set_config('app.actor', @actor::text, true), set_config('plan_cache_mode', 'force_generic_plan', true);

-- name: SetTenantPlanEach :exec
-- SetTenant for lists with optional filters: the best index, and the partitions to read,
-- depend on the parameters.
select set_config('app.tenant_id', @tenant_id::text, true), set_config('statement_timeout', @statement_timeout::text, true),
       set_config('lock_timeout', @lock_timeout::text, true), set_config('idle_in_transaction_session_timeout', @idle_timeout::text, true),
       set_config('app.actor', @actor::text, true), set_config('plan_cache_mode', 'force_custom_plan', true);

-- name: SetTenantInOrder :exec
-- SetTenant for pages that walk an index in the order of the page and stop when the page
-- is full. The planner expects a tenant of average size, whose rows it would rather collect
-- and sort.
select set_config('app.tenant_id', @tenant_id::text, true), set_config('statement_timeout', @statement_timeout::text, true),
       set_config('lock_timeout', @lock_timeout::text, true), set_config('idle_in_transaction_session_timeout', @idle_timeout::text, true),
       set_config('app.actor', @actor::text, true), set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_bitmapscan', 'off', true);
