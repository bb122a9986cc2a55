insert into tool_aliases ("tenant_id", "alias", "tool_id", "remove_by", "created_at") values
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', 'findOrders', '01a205c9-b749-71bb-85cc-8a4575f009b5', NULL, '2026-11-23 00:23:55.897026+00');
