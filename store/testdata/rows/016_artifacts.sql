insert into artifacts ("id", "tenant_id", "slug", "name", "description", "language", "status", "version", "revision", "created_by", "created_at", "updated_at") values
    ('01a205c9-b96d-7160-8dd2-4a2bfadfdad7', '01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', 'quote', '', '', 'jq', 'active', '1.0.0', '2', '', '2026-11-23 00:23:56.02285+00', '2026-11-23 00:23:56.038866+00');

insert into artifact_versions ("tenant_id", "artifact_id", "version", "digest", "inputs", "content", "created_by", "created_at") values
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', '01a205c9-b96d-7160-8dd2-4a2bfadfdad7', '1.0.0', '', '[]', E'\\x2e', '', '2026-11-23 00:23:56.038866+00');
