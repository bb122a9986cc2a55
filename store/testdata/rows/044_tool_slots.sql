insert into tool_slots ("tenant_id", "scope", "slot", "holder", "lease_until", "fence") values
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', 'group/mail', '0', 'effect-1', '2026-11-24 00:23:55.770833+00', '3'),
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', 'group/mail', '1', NULL, NULL, '1');
