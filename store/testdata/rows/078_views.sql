update tenants set mcp_apps_publish_enabled = true where id = '01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6';
insert into published_views ("tenant_id", "id", "name", "kind", "tool_id", "tool", "version", "digest", "run_id", "secret_hash", "expires_at", "created_by") values
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', '01a205c9-b7e0-7000-8000-000000000078', 'Order 4711', 'result', '01a205c9-b749-71bb-85cc-8a4575f009b5', 'getOrder', '1.0.0', 'd', '01a205c9-b7e1-7000-8000-000000000078', decode(repeat('78', 32), 'hex'), '2099-01-01', 'user:ada');
