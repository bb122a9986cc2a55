alter table tool_registry drop constraint tool_registry_deleted_check;
alter table tool_registry drop column deleted_at;
