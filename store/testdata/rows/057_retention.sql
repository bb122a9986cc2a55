insert into retention_rules ("tenant_id", "class", "keep_days") values
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', 'runs', '30');
