drop function tenant_of_slug(text);
