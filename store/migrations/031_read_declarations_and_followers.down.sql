alter table runs drop column followed_until;
alter table tool_versions drop column reads_declared_at, drop column reads_declared_by;
alter table tool_registry drop column reads_declared_at, drop column reads_declared_by;
