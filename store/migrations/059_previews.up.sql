-- A result that is too large for a transcript is stored once, with the call, and has a preview,
-- which answers the model.

create or replace function answer_content(result json, error_kind text, error text) returns json language sql stable as $$
    select case
        when result is null then json_build_array(json_build_object('type', 'text', 'text', error_kind || ': ' || error))
        else coalesce(result -> 'preview', result -> 'content', '[]')
    end
$$;
