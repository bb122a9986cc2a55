-- Formerly runs did not know which execution ended them, and a message could name
-- itself as the one before it.
alter table runs add column if not exists ended_by text not null default '';

do $$
begin
    if not exists (select from pg_constraint where conrelid = 'messages'::regclass and conname = 'messages_check') then
        alter table messages add constraint messages_check check (parent_id <> id) not valid;
    end if;
    alter table messages validate constraint messages_check;
end
$$;
