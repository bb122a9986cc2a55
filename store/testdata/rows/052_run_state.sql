insert into run_state ("tenant_id", "run_id", "key", "value", "revision", "effect_id", "fence", "before_value", "before_revision") values
    ('01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6', '01a205c9-b7b8-76fd-b799-9568e7d8ad49', 'last_bookmark', '{"url":"https://example.com"}', '2', 'effect-1', '1', 'null', '1');
