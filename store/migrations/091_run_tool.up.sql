-- Lists of runs name the tool of a single call. Runs from before this have none.
alter table runs add column tool text not null default '';
comment on column runs.tool is 'Slug of the tool of a single call, as it was when the call was accepted; empty for other runs.';
