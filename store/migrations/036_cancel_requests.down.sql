alter table runs
    drop column cancel_requested_at,
    drop column cancel_execution;
