-- migrate: online
-- Lists of runs and calls by status. Settling a call no longer updates its row in
-- place; see docs/performance.md for what that costs.
create index concurrently runs_status on runs (tenant_id, status, id desc);

create index concurrently tool_invocations_status on tool_invocations (tenant_id, status, id desc);
