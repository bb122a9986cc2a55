drop function answer_is_error(json);
drop function answer_content(json, text, text);
drop table tool_invocations;
drop function ensure_invocation_partitions(integer);
drop function uuid_floor(timestamptz);
drop procedure protect_partition(text);
drop table effects;
