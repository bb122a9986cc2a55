drop trigger tool_registry_quarantined on tool_registry;
drop function deliver_quarantine();
drop trigger runs_webhook_deliveries on runs;
drop function drop_webhook_deliveries();
drop function sweep_webhook_deliveries(integer);
drop function webhook_tenants(integer);
drop table webhook_deliveries;
drop table webhooks;
drop function new_uuid7();
