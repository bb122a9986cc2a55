alter table runs
    drop column continues_run_id,
    drop column continues_turn;
