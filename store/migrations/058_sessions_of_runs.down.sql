drop trigger runs_end_sessions on runs;
drop function expire_run_sessions();
