drop table agent_versions;
drop table agents;
