insert into run_output ("tenant_id", "run_id", "seq", "turn", "attempt", "call_id", "text", "created_at") values
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', '01a205c9-b7b8-76fd-b799-9568e7d8ad49', '4', '1', '1', NULL, 'Let me look.', '2026-11-23 00:23:55.814837+00');
