alter table approval_decisions drop column grant_id;
drop table approval_grants;
