revoke select (tenant_id, id, next_generation, updated_at, deleted_at) on pipelines from toolcrib_maintenance;
revoke select (tenant_id, id, pipeline_id, version, status, updated_at) on documents from toolcrib_maintenance;
revoke select (tenant_id, id, run_id, status) on tool_invocations from toolcrib_maintenance;
revoke select (tenant_id, id, kind, status, workflow_id, first_run_id, created_at, completed_at) on runs from toolcrib_maintenance;
drop policy maintenance_read on pipelines;
drop policy maintenance_read on documents;
drop policy maintenance_read on tool_invocations;
drop policy maintenance_read on runs;
drop table leases;
