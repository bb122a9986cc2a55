-- The step made the indexes of the one behind it, which leaves alone what it
-- finds: nothing is missing.
select;
