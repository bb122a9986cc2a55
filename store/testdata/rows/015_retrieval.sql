insert into pipelines ("id", "tenant_id", "slug", "name", "description", "search", "language", "max_chars", "overlap", "embedding", "generation", "next_embedding", "next_generation", "last_generation", "disabled", "revision", "created_by", "created_at", "updated_at", "deleted_at") values
    ('01a205c9-b992-7f21-976e-29e34d76c6e2', '01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', 'p01a205c9b9927eb995d8a0845ead9154', 'p01a205c9b9927eb995d8a0845ead9154', '', 'full_text', 'english', '0', '0', '{"url":"https://models.example/v1","model":"three","dimensions":3}', '1', NULL, '0', '1', 'false', '1', '', '2026-11-23 00:23:56.064797+00', '2026-11-23 00:23:56.064797+00', NULL);

insert into documents ("id", "tenant_id", "pipeline_id", "key", "title", "own_title", "media_type", "source", "metadata", "digest", "bytes", "version", "status", "error", "chunks", "embedded", "live_version", "live_title", "live_source", "live_metadata", "created_by", "created_at", "updated_at", "ready_at") values
    ('01a205c9-b9af-70c1-b1aa-4d7af9ee1deb', '01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', '01a205c9-b992-7f21-976e-29e34d76c6e2', 'cut', '', '', 'text/plain', '', '{}', 'dba36bffa5cab0f922d087a3aeb179f9d4e745df40b323e1b1471402848c8a3e', '5', '1', 'ingesting', '', '1', '1', '0', '', '', '{}', '', '2026-11-23 00:23:56.084967+00', '2026-11-23 00:23:56.39083+00', NULL),
    ('01a205c9-baf8-7752-a074-58d4397bd0ca', '01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', '01a205c9-b992-7f21-976e-29e34d76c6e2', 'uncut', '', '', 'text/plain', '', '{}', 'dba36bffa5cab0f922d087a3aeb179f9d4e745df40b323e1b1471402848c8a3e', '5', '1', 'pending', '', '0', '0', '0', '', '', '{}', '', '2026-11-23 00:23:56.408519+00', '2026-11-23 00:23:56.408519+00', NULL),
    ('01a205c9-bb01-7b52-a074-58d4397bd0cb', '01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', '01a205c9-b992-7f21-976e-29e34d76c6e2', 'searched', 'Settings', '', 'text/plain', '', '{}', 'dba36bffa5cab0f922d087a3aeb179f9d4e745df40b323e1b1471402848c8a3e', '60', '1', 'ready', '', '2', '2', '1', 'Settings', '', '{}', '', '2026-11-23 00:23:56.408519+00', '2026-11-23 00:23:56.408519+00', '2026-11-23 00:23:56.408519+00');

insert into document_contents ("tenant_id", "document_id", "content") values
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', '01a205c9-baf8-7752-a074-58d4397bd0ca', E'\\x776f726473');

insert into chunks ("id", "tenant_id", "document_id", "version", "position", "text", "headings", "start_at", "end_at", "page") values
    ('2cc839fe-ad2a-8054-9d6c-d537f2369c86', '01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', '01a205c9-b9af-70c1-b1aa-4d7af9ee1deb', '1', '0', 'words', '{}', '0', '5', '0'),
    ('3cc839fe-ad2a-8054-9d6c-d537f2369c87', '01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', '01a205c9-bb01-7b52-a074-58d4397bd0cb', '1', '0', 'Set history.enableReplicationDLQV2.', '{}', '2', '37', '0'),
    ('3cc839fe-ad2a-8054-9d6c-d537f2369c88', '01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', '01a205c9-bb01-7b52-a074-58d4397bd0cb', '1', '1', 'DLQV2. Then wait.', '{}', '31', '48', '0');

insert into chunk_terms ("tenant_id", "pipeline_id", "document_id", "version", "chunk_id", "terms") values
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', '01a205c9-b992-7f21-976e-29e34d76c6e2', '01a205c9-b9af-70c1-b1aa-4d7af9ee1deb', '1', '2cc839fe-ad2a-8054-9d6c-d537f2369c86', '''1:word'':1');

insert into chunk_embeddings ("tenant_id", "pipeline_id", "generation", "document_id", "version", "chunk_id", "embedding") values
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', '01a205c9-b992-7f21-976e-29e34d76c6e2', '1', '01a205c9-b9af-70c1-b1aa-4d7af9ee1deb', '1', '2cc839fe-ad2a-8054-9d6c-d537f2369c86', E'\\x0000803f0000000000000000');
