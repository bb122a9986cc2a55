insert into budgets ("tenant_id", "id", "name", "agent_id", "period", "limit_micros", "changed_by") values
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', '01a205c9-b7da-7a1a-8fbb-0e480f50c566', 'support-day', '01a205c9-b7a6-7e86-ab8e-4273538fd977', 'day', '5000000', 'user:ada');
insert into budget_windows ("tenant_id", "budget_id", "span", "spent_micros") values
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', '01a205c9-b7da-7a1a-8fbb-0e480f50c566', '2026-03-01', '1250000');
insert into budget_holds ("tenant_id", "holder", "budget_id", "span", "micros") values
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', '01a205c9-b7d0-7000-8000-000000000066', '01a205c9-b7da-7a1a-8fbb-0e480f50c566', '2026-03-01', '2000');
