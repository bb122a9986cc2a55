alter table tool_aliases drop column renamed;
