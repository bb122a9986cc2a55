drop table api_keys;
drop table tenants;
drop function refuse_change();
