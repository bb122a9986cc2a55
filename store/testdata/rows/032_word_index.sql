insert into document_texts ("tenant_id", "document_id", "version", "text") values
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', '01a205c9-b9af-70c1-b1aa-4d7af9ee1deb', '1', 'words');
