drop index runs_pause_due;
