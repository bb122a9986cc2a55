insert into tenant_keys ("tenant_id", "version", "wrapped", "kek_id", "created_at", "updated_at") values
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', '1', E'\\x77726170706564', 'kek-test', '2026-11-23 00:23:55.667068+00', '2026-11-23 00:23:55.667068+00');

insert into credentials ("tenant_id", "id", "ref", "category", "provider_key", "provider_variant", "hosts", "version", "key_version", "ciphertext", "revision", "created_at", "updated_at", "rotated_at", "last_used_at", "expires_at", "revoked_at") values
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', '01a205c9-b823-7042-8fff-fad5cd260286', 'shop', 'custom', 'shop', '', '{api.example.com}', '1', '1', E'\\x7365616c6564', '1', '2026-11-23 00:23:55.686824+00', '2026-11-23 00:23:55.686824+00', NULL, NULL, NULL, NULL);
