-- name: SetTenant :exec
-- First statement of every transaction; the settings end with it. Time-outs are
-- in milliseconds, and of the transaction rather than of the connection, so that
-- they hold behind a pooler too.
select set_config('app.tenant_id', @tenant_id::text, true), set_config('statement_timeout', @statement_timeout::text, true),
       set_config('lock_timeout', @lock_timeout::text, true), set_config('idle_in_transaction_session_timeout', @idle_timeout::text, true);

-- name: SetTenantPlanOnce :exec
-- SetTenant for what looks rows up by their keys in large statements: planning
-- them anew for each set of parameters costs more than running them.
select set_config('app.tenant_id', @tenant_id::text, true), set_config('statement_timeout', @statement_timeout::text, true),
       set_config('lock_timeout', @lock_timeout::text, true), set_config('idle_in_transaction_session_timeout', @idle_timeout::text, true),
       set_config('plan_cache_mode', 'force_generic_plan', true);

-- name: SetTenantPlanEach :exec
-- SetTenant for lists with optional filters: which index serves depends on what
-- they filter by, and which partitions are read on their values.
select set_config('app.tenant_id', @tenant_id::text, true), set_config('statement_timeout', @statement_timeout::text, true),
       set_config('lock_timeout', @lock_timeout::text, true), set_config('idle_in_transaction_session_timeout', @idle_timeout::text, true),
       set_config('plan_cache_mode', 'force_custom_plan', true);
