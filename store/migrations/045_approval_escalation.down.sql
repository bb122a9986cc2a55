drop function escalating_approvals(integer);
alter table approvals drop column escalates_at, drop column escalate_to,
    drop column escalated_at;
