insert into audit_log ("tenant_id", "id", "at", "actor_kind", "actor", "action", "object_kind", "object_id", "object_name", "request_id", "outcome", "after", "seq", "hash", "sealed_at") values
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', '01a205c9-b7a0-7000-8000-000000000064', '2026-03-01 12:00:00+00', 'user', 'user:ada', 'tool.override_set', 'tool', '01a205c9-b749-71bb-85cc-8a4575f009b5', 'search', 'r1', 'done', '{"enabled":true}', 1, 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', '2026-03-01 12:00:01+00');
insert into audit_heads ("tenant_id", "seq", "hash", "sealed_at") values
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', 1, 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', '2026-03-01 12:00:01+00');
