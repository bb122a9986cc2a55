alter table tool_registry drop column egress_rules;
