insert into tool_canaries ("tenant_id", "id", "tool_id", "version_id", "version", "digest", "share", "until_calls", "max_error_percent", "min_calls", "started_by") values
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', '01a205c9-b7e2-7000-8000-000000000076', '01a205c9-b749-71bb-85cc-8a4575f009b5', '01a205c9-b8f7-733d-8637-ae92de21f93f', '1.1.0', '02cf1cb0acc6591e084d23bcc4fc4989ac8f37c90bab48c0218f1129921ba315', '10', '200', '5', '10', 'user:ada');
insert into tool_gates ("tenant_id", "id", "tool_id", "replay", "max_different", "changed_by") values
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', '01a205c9-b7e3-7000-8000-000000000076', '01a205c9-b749-71bb-85cc-8a4575f009b5', '20', '0', 'user:ada');
insert into tool_replays ("tenant_id", "id", "tool_id", "version", "digest", "asked", "state", "calls", "same", "started_by", "ended_at") values
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', '01a205c9-b7e4-7000-8000-000000000076', '01a205c9-b749-71bb-85cc-8a4575f009b5', '1.2.0', repeat('0', 64), '20', 'ended', '[]', '0', 'user:ada', '2026-03-01 12:00:00+00');
