drop table tool_slots;
