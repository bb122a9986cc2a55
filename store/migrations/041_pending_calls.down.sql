drop trigger runs_end_waits on runs;
drop trigger tool_invocations_end_wait on tool_invocations;
drop function end_run_waits();
drop function end_call_wait();
drop function claim_resolved_calls(integer, interval);
drop table pending_tool_calls;
