alter table tool_invocations drop column parent_id;

drop index runs_parent;

alter table runs
    drop column parent_run_id,
    drop column parent_invocation_id,
    drop column detached,
    drop column depth,
    drop column calls;
