-- Names that tools had before they were renamed. Other former names come from the
-- version that was published last; these are kept until their last day, whatever
-- is published.

alter table tool_aliases add column renamed boolean not null default false;

comment on column tool_aliases.renamed is 'The tool had this slug until it was renamed: publishing does not end it, and no new tool takes it.';
