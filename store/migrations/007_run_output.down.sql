drop table run_output;
