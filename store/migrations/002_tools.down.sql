drop table tool_versions;
drop table tool_registry;
drop function guard_tool_egress();
