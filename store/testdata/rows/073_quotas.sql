insert into quotas ("tenant_id", "name", "most", "changed_by") values
    (null, 'tools', '1000', 'platform'),
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', 'tools', '50', 'platform');
insert into quota_counts ("tenant_id", "name", "part", "used") values
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', 'idempotency_keys', '3', '2');
