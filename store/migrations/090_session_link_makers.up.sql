-- Who made a link of a tool session decides on no call of the runs that began by it, also when another link came since.
alter table tool_sessions add column link_makers text[] not null default '{}';
comment on column tool_sessions.link_makers is 'Who gave the session a link, each once.';
