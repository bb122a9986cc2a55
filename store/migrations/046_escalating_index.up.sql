-- migrate: online
-- The requests that are to escalate, in the order in which they do.
create index concurrently approvals_escalating on approvals (escalates_at)
    where status = 'pending' and escalates_at is not null and escalated_at is null;
