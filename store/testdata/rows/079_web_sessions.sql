insert into web_sessions ("tenant_id", "token_hash", "key_id", "subject", "roles", "idle_ends_at", "ends_at") values
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', decode(repeat('ab', 32), 'hex'), '01a205c9-b7da-7a1a-8fbb-0e480f50c570', null, '{}', now() + interval '12 hours', now() + interval '7 days'),
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', decode(repeat('cd', 32), 'hex'), null, 'user:corp/ada', '{support}', now() + interval '12 hours', now() + interval '12 hours');
