drop table applied_objects;
