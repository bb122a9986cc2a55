-- What an apply takes away is claimed first: no other one may have it meanwhile.
alter table applied_objects add column claimed_at timestamptz;
alter table applied_objects add column gone boolean not null default false;

comment on column applied_objects.claimed_at is 'When an apply began to take it away; that holds for a minute.';
comment on column applied_objects.gone is 'It was taken away for good: kept for an hour, for applies that saw it before.';
