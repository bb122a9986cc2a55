drop index tool_invocations_status;
drop index runs_status;
