alter table tool_sessions drop column link_makers;
