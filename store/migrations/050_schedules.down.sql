drop trigger tenants_schedules on tenants;
drop function schedules_due_of_tenant();
drop function sweep_schedule_starts(integer);
drop function schedule_tenants(integer);
drop table schedule_starts;
drop table schedules;
