insert into applied_objects ("tenant_id", "kind", "object_id", "slug", "set_name", "applied_by", "removed_at") values
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', 'tool', '01a205c9-b749-71bb-85cc-8a4575f009b5', 'getOrder', 'shop', 'user:ada', null),
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', 'agent', '01a205c9-b7e0-7000-8000-000000000080', 'desk', 'shop', 'user:ada', now());
