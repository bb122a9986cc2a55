-- Formerly it made the indexes that a later step makes where they are missing.
select 1;
