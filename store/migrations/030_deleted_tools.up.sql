-- A tool that is deleted keeps its row, which the records of its calls and the
-- pins of runs refer to. It gives up its slug and its further names, is disabled,
-- and is not found any more.

alter table tool_registry add column deleted_at timestamptz;

-- No name comes back by a change that knows nothing of it, and no call is let through.
alter table tool_registry add constraint tool_registry_deleted_check
    check (deleted_at is null or slug = 'deleted-' || id::text and status = 'disabled' and not is_active) not valid;
alter table tool_registry validate constraint tool_registry_deleted_check;
