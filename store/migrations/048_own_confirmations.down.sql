alter table approvals drop column own;
