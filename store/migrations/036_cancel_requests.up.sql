-- The last request to cancel a run, for the process that advances the run: it learns of
-- it here sooner than by its heartbeats. The request is for one execution of the run's
-- workflow (Temporal's run id), so that it does not cancel the one after a reset.
alter table runs
    add column cancel_requested_at timestamptz,
    add column cancel_execution text not null default '';
