drop table run_state;
