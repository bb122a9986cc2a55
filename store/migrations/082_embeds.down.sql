drop table embed_tokens;
drop table embed_origins;
