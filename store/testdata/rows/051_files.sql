insert into files ("tenant_id", "id", "name", "media_type", "size", "sha256", "kind", "location", "stored", "created_by", "expires_at") values
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', '01a205c9-b858-7153-ba27-77db6f509d01', 'a.txt', 'text/plain', '4', repeat('0', 64), 'upload', 'postgres', 'true', 'user:bob', NULL);
insert into file_chunks ("tenant_id", "file_id", "position", "content") values
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', '01a205c9-b858-7153-ba27-77db6f509d01', '0', 'data');
insert into left_files ("tenant_id", "file_id", "location") values
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', '01a205c9-b858-7153-ba27-77db6f509d02', 'elsewhere');
