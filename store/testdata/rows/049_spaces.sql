insert into spaces ("tenant_id", "id", "slug", "name", "max_hops") values
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', '01a205c9-b858-7153-ba27-77db6f508d01', 'launch', 'Launch', '4');
insert into space_members ("tenant_id", "space_id", "kind", "name") values
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', '01a205c9-b858-7153-ba27-77db6f508d01', 'person', 'user:bob');
insert into space_messages ("tenant_id", "id", "space_id", "seq", "changed_seq", "kind", "from_kind", "from_name", "text", "status") values
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', '01a205c9-b858-7153-ba27-77db6f508d02', '01a205c9-b858-7153-ba27-77db6f508d01', '1', '1', 'text', 'person', 'user:bob', 'hello', 'complete');
insert into run_spaces ("tenant_id", "run_id", "space_id") values
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', '01a205c9-b858-7153-ba27-77db6f508d03', '01a205c9-b858-7153-ba27-77db6f508d01');
insert into space_wakes ("tenant_id", "space_id", "agent_id", "subject", "from_seq", "upto_seq", "hops", "run_id") values
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', '01a205c9-b858-7153-ba27-77db6f508d01', '01a205c9-b7a6-7e86-ab8e-4273538fd977', 'user:bob', '1', '1', '0', '01a205c9-b858-7153-ba27-77db6f508d04');
insert into agent_notes ("tenant_id", "agent_id", "kind", "key", "text") values
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', '01a205c9-b7a6-7e86-ab8e-4273538fd977', 'goal', 'launch', 'Ship it.');
