insert into profiles ("tenant_id", "id", "name", "description", "requires_approval", "rate_calls", "rate_per", "rate_burst", "max_concurrency", "changed_by") values
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', '01a205c9-b7da-7a1a-8fbb-0e480f50c568', 'careful', 'until the audit', 't', '10', 'minute', '5', '2', 'user:ada');
insert into tool_assignments ("tenant_id", "id", "tool_id", "tool_scope_id", "agent_id", "profile_id", "changed_by") values
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', '01a205c9-b7da-7a1a-8fbb-0e480f50c569', '01a205c9-b749-71bb-85cc-8a4575f009b5', '01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', '01a205c9-b7a6-7e86-ab8e-4273538fd977', '01a205c9-b7da-7a1a-8fbb-0e480f50c568', 'user:ada');
insert into rate_buckets ("tenant_id", "profile_id", "tool_id", "agent_id", "full_at") values
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', '01a205c9-b7da-7a1a-8fbb-0e480f50c568', '01a205c9-b749-71bb-85cc-8a4575f009b5', '01a205c9-b7a6-7e86-ab8e-4273538fd977', '2026-03-01 12:00:00+00');
