-- A run that continues another has its messages before its own first one, in turn 0.
alter table runs
    add column continues_run_id uuid,
    add column continues_turn   integer; -- the last turn of the other run that it takes over
