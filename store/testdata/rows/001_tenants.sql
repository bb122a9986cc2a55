insert into tenants ("id", "slug", "name", "status", "created_at", "updated_at") values
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', 't-4711f7ab', 't-4711f7ab', 'active', '2026-11-23 00:23:55.460872+00', '2026-11-23 00:23:55.460872+00');

insert into api_keys ("id", "tenant_id", "name", "secret_hash", "permissions", "scopes", "created_by", "expires_at", "revoked_at", "last_used_at", "created_at") values
    ('01a205c9-b7ee-7069-b39b-22d8e3063cad', '01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', 'test', E'\\xdd961c35e1374421737f1ca2be1c4026fedf4008d23ed84cae2a307d7f61f7c0', '{}', '{}', '', NULL, NULL, NULL, '2026-11-23 00:23:55.633396+00');
