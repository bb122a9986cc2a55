drop function purge_runs(timestamptz, integer);
