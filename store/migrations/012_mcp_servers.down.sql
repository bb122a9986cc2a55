alter table tool_registry drop column quarantine;
drop table mcp_remote_tools;
drop table mcp_servers;
