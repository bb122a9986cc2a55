drop function take_requests(uuid, text, double precision, double precision, double precision, double precision, double precision);
drop function permissions_of_roles(uuid, text[]);
drop table request_buckets;
drop table token_users;
drop table roles;

alter table api_keys drop column roles, drop column owner, drop column requests_per_second, drop column burst,
    drop column bytes_per_minute;
