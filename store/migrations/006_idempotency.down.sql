drop index api_keys_maker;
drop function sweep_idempotency_keys(integer);
drop table idempotency_keys;
