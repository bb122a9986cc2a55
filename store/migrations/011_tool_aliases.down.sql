drop table tool_aliases;
