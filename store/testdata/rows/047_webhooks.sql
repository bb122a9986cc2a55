insert into webhooks ("tenant_id", "id", "url", "description", "types", "agent", "tool", "active", "secret", "secret_key_version", "seen_seq", "created_by") values
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', '01a205c9-b858-7153-ba27-77db6f508c01', 'https://example.com/hooks', '', '{run.failed}', '', '', 't', '\x01', '1', '0', 'user:bob');
insert into webhook_deliveries ("tenant_id", "id", "webhook_id", "type", "status") values
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', '01a205c9-b858-7153-ba27-77db6f508c02', '01a205c9-b858-7153-ba27-77db6f508c01', 'webhook.ping', 'pending');
