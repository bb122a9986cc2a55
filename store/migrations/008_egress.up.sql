-- Where the calls of a tool may go within its egress class.

alter table tool_registry add column egress_rules json not null default '{}'; -- {"hosts": […], "methods": […], "ports": […], "max_bytes": n}
