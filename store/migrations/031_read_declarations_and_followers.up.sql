-- Who declared, and when, that the POST of an http tool only reads: beside the
-- configuration that says so, of the draft and of each version. Empty and null
-- where the configuration declares nothing.

alter table tool_registry
    add column reads_declared_by text not null default '',
    add column reads_declared_at timestamptz;
alter table tool_registry add constraint tool_registry_reads_declared
    check ((reads_declared_by = '') = (reads_declared_at is null)) not valid;
alter table tool_registry validate constraint tool_registry_reads_declared;

alter table tool_versions
    add column reads_declared_by text not null default '',
    add column reads_declared_at timestamptz;
alter table tool_versions add constraint tool_versions_reads_declared
    check ((reads_declared_by = '') = (reads_declared_at is null)) not valid;
alter table tool_versions validate constraint tool_versions_reads_declared;

-- Until when somebody follows a run's output: renewed by the server that holds
-- the stream, and read by the worker before it asks a model to stream.

alter table runs add column followed_until timestamptz;
