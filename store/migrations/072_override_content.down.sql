drop trigger override_keep on tool_overrides;
drop trigger override_number on tool_overrides;
drop function keep_override();
drop function number_override();
drop table tool_override_versions;
alter table tool_overrides drop column revision, drop column limits, drop column defaults, drop column description;
