drop table credentials;
drop table tenant_keys;
