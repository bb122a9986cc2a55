drop function taint_by_link(uuid, uuid);
alter table pending_tool_calls drop column by_link;
alter table runs drop column by_link;
