-- migrate: online
-- The runs whose workflows are to be given their rounds: few, and looked for every second.
create index concurrently runs_pause_due on runs (pause_due) where pause_due is not null and completed_at is null;
