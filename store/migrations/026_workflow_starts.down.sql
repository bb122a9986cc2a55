drop function count_workflow_starts();
drop function claim_workflow_starts(integer, interval);
drop table workflow_starts;
