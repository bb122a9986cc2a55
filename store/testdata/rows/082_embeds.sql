insert into embed_origins ("tenant_id", "id", "name", "created_by") values
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', '01a205c9-b7e2-7000-8000-000000000082', 'https://shop.example.com', 'user:ada');
insert into embed_tokens ("tenant_id", "id", "secret_hash", "origin", "tool_id", "tool", "version", "digest", "caller", "key_id", "expires_at") values
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', '01a205c9-b7e3-7000-8000-000000000082', decode(repeat('82', 32), 'hex'), 'https://shop.example.com', '01a205c9-b749-71bb-85cc-8a4575f009b5', 'getOrder', '1.0.0', 'd', 'customer-7', '01a205c9-b7e4-7000-8000-000000000082', '2099-01-01');
