insert into prices ("tenant_id", "id", "model", "valid_from", "input_micros", "output_micros", "changed_by") values
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', '01a205c9-b7da-7a1a-8fbb-0e480f50c540', 'acme/small', '2026-03-01 12:00:00+00', '250000', '2000000', 'user:ada');

insert into usage_days ("tenant_id", "day", "agent_id", "tool", "model", "shard", "turns", "input_tokens", "output_tokens") values
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', '2026-03-01', '01a205c9-b7a6-7e86-ab8e-4273538fd977', '', 'acme/small', '0', '1', '11', '7');
