drop table artifact_versions;
drop table artifacts;
