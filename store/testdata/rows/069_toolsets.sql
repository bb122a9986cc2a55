insert into toolsets ("tenant_id", "id", "slug", "name", "instructions", "catalog", "status", "tools", "servers", "created_by") values
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', '01a205c9-b7e0-7000-8000-000000000069', 'support', 'Support desk', 'Look orders up first.', 'auto', 'active', '[{"tool_id":"01a205c9-b749-71bb-85cc-8a4575f009b5","version":"^1"}]', '{01a205c9-b92f-7294-87f4-741b53dbc410}', 'user:ada');
insert into api_keys ("id", "tenant_id", "name", "secret_hash", "permissions", "created_by", "toolset_id") values
    ('01a205c9-b7e1-7000-8000-000000000069', '01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', 'support-desk', decode(repeat('69', 32), 'hex'), '{tools.read,runs.write}', 'user:ada', '01a205c9-b7e0-7000-8000-000000000069');
