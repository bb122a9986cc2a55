insert into schedules ("tenant_id", "id", "name", "agent", "input", "crons", "overlap", "catchup_s", "created_by") values
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', '01a205c9-b858-7153-ba27-77db6f509c01', 'nightly', 'desk', '"go"', '{0 3 * * *}', 'skip', '3600', 'user:bob');
insert into schedule_starts ("tenant_id", "id", "schedule_id", "scheduled_at", "run_id") values
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', '01a205c9-b858-7153-ba27-77db6f509c02', '01a205c9-b858-7153-ba27-77db6f509c01', '2026-01-01 03:00:00+00', '01a205c9-b858-7153-ba27-77db6f509c03');
