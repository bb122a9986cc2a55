drop function record_steps;
