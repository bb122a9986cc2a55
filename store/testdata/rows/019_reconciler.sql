insert into leases ("name", "holder", "scope", "fence", "expires_at", "passed_at") values
    ('reconciler', 'host/1/01a205c9', '01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', '1', '2026-11-23 00:24:15.885484+00', '2026-11-23 00:23:55.885484+00');
