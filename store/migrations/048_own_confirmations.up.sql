-- Who called a tool directly may confirm the call, where only the tool asks for it.
alter table approvals add column own boolean not null default false;
