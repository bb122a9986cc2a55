insert into inbox_items ("tenant_id", "id", "run_id", "kind", "content", "call_id", "author", "created_at", "message_id", "taken_at") values
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', '01a205c9-b858-7153-ba27-77db6f508a01', '01a205c9-b7b8-76fd-b799-9568e7d8ad49', 'message', '[{"type":"text","text":"hurry"}]', NULL, 'user:ada', '2026-11-23 00:23:55.770833+00', NULL, NULL);
