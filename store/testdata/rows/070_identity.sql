insert into roles ("tenant_id", "id", "name", "permissions", "created_by", "changed_by") values
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', '01a205c9-b7da-7a1a-8fbb-0e480f50c570', 'support', '{runs.read,orders.read}', 'user:ada', 'user:ada');
insert into token_users ("tenant_id", "subject", "roles") values
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', 'user:corp/ada', '{support}');
insert into request_buckets ("tenant_id", "subject", "requests", "bytes") values
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', 'user:corp/ada', '9.5', '0');
