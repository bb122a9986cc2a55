drop index pipelines_building;
drop index documents_open;
drop index runs_open;
