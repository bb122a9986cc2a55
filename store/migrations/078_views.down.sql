drop table published_views;

alter table tenants drop column mcp_apps_publish_enabled;
