insert into agents ("id", "tenant_id", "slug", "name", "definition", "status", "version", "revision", "published_at", "created_at", "updated_at") values
    ('01a205c9-b7a6-7e86-ab8e-4273538fd977', '01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', 'support', 'support', '{"name":"support","instructions":"Help.","model":"scripted/support","tools":["searchOrders"],"limits":{}}', 'draft', '1.0.0', '2', NULL, '2026-11-23 00:23:55.575368+00', '2026-11-23 00:23:55.829807+00');

insert into agent_versions ("id", "agent_id", "tenant_id", "version", "digest", "snapshot", "published", "published_at", "created_at") values
    ('01a205c9-b8b3-712f-9cec-223bd4c62a99', '01a205c9-b7a6-7e86-ab8e-4273538fd977', '01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', '1.0.0', 'ca481fb20622c30d7cec80be2e5145c1681a82159b7febd9f83723063f59a9ff', '{"name":"support","instructions":"Help.","model":"scripted/support","tools":["searchOrders"],"limits":{}}', 'true', NULL, '2026-11-23 00:23:55.829807+00');
