insert into tenant_erasures ("tenant_id", "slug", "requested_by", "keys_destroyed_at", "finished_at", "counts", "audit_seq", "audit_hash") values
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6fff', 'gone', 'ada', '2026-03-01 12:00:00+00', '2026-03-01 12:00:01+00', '{"runs":1}', '1', repeat('a', 64));
