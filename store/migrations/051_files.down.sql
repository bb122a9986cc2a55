drop function claim_left_files(text, interval, integer);
drop function sweep_files(integer);
drop table left_files;
drop table file_chunks;
drop table files;
drop function leave_file();
