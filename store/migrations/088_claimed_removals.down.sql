delete from applied_objects where gone;
alter table applied_objects drop column gone;
alter table applied_objects drop column claimed_at;
