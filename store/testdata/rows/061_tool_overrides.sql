insert into tool_overrides ("tenant_id", "tool_id", "tool_scope_id", "enabled", "requires_approval", "reason", "changed_by", "changed_at") values
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', '01a205c9-b749-71bb-85cc-8a4575f009b5', '01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', 't', 't', 'until the audit', 'user:ada', '2026-03-01 12:00:00+00');
