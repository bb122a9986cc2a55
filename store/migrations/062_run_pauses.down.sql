drop function claim_pauses(integer, interval);
drop function pause_run(uuid, uuid, boolean, text, text, interval);
drop policy pause_claim on runs;
alter table runs
    drop column pause_round,
    drop column paused_at,
    drop column paused_by,
    drop column pause_reason,
    drop column pause_due;
