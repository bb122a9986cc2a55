update tool_overrides set description = 'Searches the shop.', defaults = '{"limit":5}', limits = '{"timeout_s":5}' where tool_id = '01a205c9-b749-71bb-85cc-8a4575f009b5';
insert into tool_override_versions ("tenant_id", "tool_id", "tool_scope_id", "revision", "requires_approval", "description", "reason", "removed", "changed_by", "changed_at") values
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', '01a205c9-b749-71bb-85cc-8a4575f009b5', '01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', 40, 'f', '', '', 't', 'user:ada', '2026-03-01 12:00:00+00');
insert into tool_registry ("id", "tenant_id", "slug", "name", "implementation_type", "status", "version") values
    ('01a205ca-0000-7000-8000-000000000072', null, 'currencies', 'Currencies', 'http', 'draft', '1.0.0');
insert into tool_overrides ("tenant_id", "tool_id", "tool_scope_id", "enabled", "requires_approval", "reason", "changed_by") values
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', '01a205ca-0000-7000-8000-000000000072', '00000000-0000-0000-0000-000000000000', 'f', 'f', '', 'user:ada');
