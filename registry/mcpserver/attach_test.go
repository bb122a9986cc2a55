package mcpserver_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/mcpserver"
	"github.com/toolcrib/toolcrib/registry/registrytest"
	"github.com/toolcrib/toolcrib/tool"
)

// Allowed tools become drafts: hidden, with one attempt, pinned, and asking for
// approval. Nothing else does.
func TestAttachImportsWhatIsAllowed(t *testing.T) {
	t.Parallel()
	b := attach(t, "read_file", "read_flie")

	head, err := b.registry.Get(t.Context(), b.ada, tool.Ref{Slug: "filesReadFile"})
	require.NoError(t, err)
	require.Equal(t, tool.Draft, head.Status)
	require.Equal(t, tool.MCP, head.Implementation)
	require.JSONEq(t, `{"server":"files","tool_name":"read_file","definition_digest":"`+b.read.Digest+`"}`,
		string(head.Config))
	require.False(t, head.Shown())
	require.Equal(t, tool.EgressWrite, head.EgressClass)
	require.True(t, head.RequiresApproval)
	require.False(t, head.Execution.Repeatable(), "hints decide nothing")
	require.JSONEq(t, pathInput, string(head.InputSchema))

	_, err = b.registry.Get(t.Context(), b.ada, tool.Ref{Slug: "filesListDir"})
	require.Equal(t, tool.NotFound, tool.KindOf(err))
	require.Equal(t, mcpserver.StateOffered, b.remote(t, "list_dir").State)
	require.Equal(t, []string{"missing read_flie"}, changes(b.refresh(t)),
		"a name that is not offered is reported each time")

	server, err := b.registry.Servers().Get(t.Context(), b.ada, "files")
	require.NoError(t, err)
	require.Equal(t, "2025-11-25", server.ProtocolVersion)
	require.Equal(t, "Files", server.ServerName)
	_, err = b.registry.Servers().Get(t.Context(), b.bob, "files")
	require.Equal(t, tool.NotFound, tool.KindOf(err))
}

func TestNothingIsImportedUnlessAllowed(t *testing.T) {
	t.Parallel()
	b := empty()
	b.shelf.put(offered(t, "read_file", "Reads.", pathInput))
	_, report, err := b.registry.Servers().Attach(t.Context(), b.ada, files())
	require.NoError(t, err)
	require.Equal(t, []string{"offered read_file"}, changes(report))

	_, err = b.registry.Servers().Update(t.Context(), b.ada, "files", files(definition.AllTools))
	require.NoError(t, err)
	require.Equal(t, []string{"new read_file"}, changes(b.refresh(t)))
	require.Empty(t, changes(b.refresh(t)))
}

// What a server says of itself opens nothing unless an operator takes its word.
func TestHintsAreHints(t *testing.T) {
	t.Parallel()
	yes := true
	for _, trust := range []bool{false, true} {
		b := empty()
		d := mcpserver.ToolDefinition{Name: "read_file", Title: "Read a file", InputSchema: json.RawMessage(pathInput)}
		d.Annotations.ReadOnly, d.Annotations.Idempotent = &yes, &yes
		b.shelf.put(digested(t, d))
		s := files("*")
		s.TrustHints = trust
		_, _, err := b.registry.Servers().Attach(t.Context(), b.ada, s)
		require.NoError(t, err)
		head, err := b.registry.Get(t.Context(), b.ada, tool.Ref{Slug: "filesReadFile"})
		require.NoError(t, err)
		require.Equal(t, "Read a file", head.Name)
		require.False(t, head.Execution.Idempotent)
		require.Equal(t, trust, head.Execution.Pure)
		if trust {
			require.Equal(t, tool.ReadConcurrency, head.Execution.MaxConcurrency)
		}
		require.JSONEq(t, `{"read_only":true,"idempotent":true}`, string(head.Interaction.Annotations))
		want := tool.EgressWrite
		if trust {
			want = tool.EgressReadOnly
		}
		require.Equal(t, want, head.EgressClass)

		b.publish(t, "filesReadFile")
		d.Annotations.ReadOnly = nil
		b.shelf.put(digested(t, d))
		require.Equal(t, []string{"changed read_file"}, changes(b.refresh(t)))
		_, err = b.registry.Servers().Approve(t.Context(), b.ada, "files", mcpserver.Approval{
			Name:    "read_file",
			Publish: true,
		})
		require.NoError(t, err)
		head, err = b.registry.Get(t.Context(), b.ada, tool.Ref{Slug: "filesReadFile"})
		require.NoError(t, err)
		require.Equal(t, tool.EgressWrite, head.EgressClass, "trust that is taken back is taken back")
		require.False(t, head.Execution.Pure)
	}
}

// A server in use is not detached by mistake; attached anew, it takes up the
// tools that it had.
func TestDetach(t *testing.T) {
	t.Parallel()
	b := attach(t)
	b.publish(t, "filesReadFile")
	_, err := b.registry.Servers().Detach(t.Context(), b.ada, "files", false)
	registrytest.RequireRefused(t, err, tool.Conflict, "", "in use by 1 published tools (filesReadFile)")
	_, err = b.registry.Servers().Detach(t.Context(), b.bob, "files", true)
	require.Equal(t, tool.NotFound, tool.KindOf(err))
	disabled, err := b.registry.Servers().Detach(t.Context(), b.ada, "files", true)
	require.NoError(t, err)
	require.Equal(t, []string{"filesReadFile"}, disabled)
	registrytest.RequireRefused(t, b.runs(t, "filesReadFile"), tool.Conflict, "", "disabled")
	_, err = b.registry.Servers().Get(t.Context(), b.ada, "files")
	require.Equal(t, tool.NotFound, tool.KindOf(err))
	_, err = b.registry.Enable(t.Context(), b.ada, tool.Ref{Slug: "filesReadFile"})
	registrytest.RequireRefused(t, err, tool.Conflict, "/implementation_config/server", `no server "files" is attached`)
	_, err = b.registry.Enable(t.Context(), b.ada, tool.Ref{Slug: "filesListDir"})
	require.NoError(t, err)
	_, _, err = b.registry.Publish(t.Context(), b.ada, tool.Ref{Slug: "filesListDir"})
	registrytest.RequireRefused(t, err, tool.Conflict, "/implementation_config/server", `no server "files" is attached`)

	b.shelf.put(b.read, offered(t, "list_dir", "Lists something else.", pathInput))
	_, report, err := b.registry.Servers().Attach(t.Context(), b.ada, files("*"))
	require.NoError(t, err)
	require.Equal(t, []string{"changed list_dir", "back read_file"}, changes(report))
	_, err = b.registry.Enable(t.Context(), b.ada, tool.Ref{Slug: "filesReadFile"})
	require.NoError(t, err)
	require.NoError(t, b.runs(t, "filesReadFile"))
}

// A tool that was renamed is the server's still when that is attached anew: no
// second one is made of it, under its former name or at all.
func TestAttachedAnewWithRenamedTools(t *testing.T) {
	t.Parallel()
	b := attach(t)
	for name, keep := range map[string]registry.Renaming{
		"filesReadFile": {Slug: "openFile"}, "filesListDir": {Slug: "openFolder", Drop: true},
	} {
		_, _, err := b.registry.Rename(t.Context(), b.ada, tool.Ref{Slug: name}, keep)
		require.NoError(t, err)
	}
	before := b.remote(t, "read_file")
	require.Equal(t, "openFile", before.ToolSlug)
	_, err := b.registry.Servers().Detach(t.Context(), b.ada, "files", true)
	require.NoError(t, err)
	_, report, err := b.registry.Servers().Attach(t.Context(), b.ada, files("*"))
	require.NoError(t, err)
	require.NotContains(t, changes(report), "new read_file")
	require.NotContains(t, changes(report), "new list_dir")
	require.Equal(t, before.ToolID, b.remote(t, "read_file").ToolID)
	require.Equal(t, "openFolder", b.remote(t, "list_dir").ToolSlug)
	for _, slug := range []string{"filesReadFile", "filesListDir"} {
		_, err = b.registry.Get(t.Context(), b.ada, tool.Ref{Slug: slug})
		require.Equal(t, tool.NotFound, tool.KindOf(err), slug)
	}
}

// A slug that is a former name of another tool keeps one tool of a server out, and
// no more.
func TestFormerNamesKeepToolsOfServersOut(t *testing.T) {
	t.Parallel()
	b := empty()
	const lastDay = "2099-06-30"
	_, _, err := b.registry.Create(t.Context(), b.ada, spec("filesReadFile"))
	require.NoError(t, err)
	_, _, err = b.registry.Rename(t.Context(), b.ada, tool.Ref{Slug: "filesReadFile"},
		registry.Renaming{Slug: "readMine", KeepUntil: lastDay})
	require.NoError(t, err)
	b.shelf.put(offered(t, "read_file", "Reads a file.", pathInput), offered(t, "list_dir", "Lists a folder.", pathInput))
	_, report, err := b.registry.Servers().Attach(t.Context(), b.ada, files("*"))
	require.NoError(t, err)
	require.Equal(t, []string{"new list_dir", "refused read_file"}, changes(report))
	require.Equal(t, `its slug would be filesReadFile, which is the former name of tool "readMine" until `+lastDay,
		b.remote(t, "read_file").Reason)
}

func TestServersAreWrittenByThoseWhoMay(t *testing.T) {
	t.Parallel()
	b := attach(t)
	reader := b.ada
	reader.Permissions = []string{"tools.read"}
	_, _, err := b.registry.Servers().Attach(t.Context(), reader, files())
	require.Equal(t, tool.Denied, tool.KindOf(err))
	_, err = b.registry.Servers().Update(t.Context(), reader, "files", files())
	require.Equal(t, tool.Denied, tool.KindOf(err))
	_, _, err = b.registry.Servers().Refresh(t.Context(), reader, "files")
	require.Equal(t, tool.Denied, tool.KindOf(err))
	_, err = b.registry.Servers().Detach(t.Context(), reader, "files", true)
	require.Equal(t, tool.Denied, tool.KindOf(err))
	_, err = b.registry.Servers().Approve(t.Context(), reader, "files", mcpserver.Approval{Name: "read_file"})
	require.Equal(t, tool.Denied, tool.KindOf(err))
	_, err = b.registry.Servers().Compare(t.Context(), reader, "files", "read_file")
	require.NoError(t, err)

	_, _, err = b.registry.Servers().Attach(t.Context(), b.ada, files())
	require.Equal(t, tool.Conflict, tool.KindOf(err))
	stale := files("*")
	stale.Revision = 1
	_, err = b.registry.Servers().Update(t.Context(), b.ada, "files", stale)
	require.ErrorIs(t, err, definition.ErrChanged)
	_, err = b.registry.Servers().At(1).Update(t.Context(), b.ada, "files", files("*"))
	require.ErrorIs(t, err, definition.ErrChanged)
	off := files("*")
	off.Status = definition.ServerDisabled
	_, err = b.registry.Servers().Update(t.Context(), b.ada, "files", off)
	require.NoError(t, err)
	_, _, err = b.registry.Servers().Refresh(t.Context(), b.ada, "files")
	registrytest.RequireRefused(t, err, tool.Conflict, "/status", "disabled")
}

func TestServerSpecs(t *testing.T) {
	t.Parallel()
	b := attached{bench: setup(nil)}
	_, _, err := b.registry.Servers().Attach(t.Context(), b.ada, files())
	registrytest.RequireRefused(t, err, tool.Conflict, "", "nothing here can talk to MCP servers")
	b = empty()
	for name, tt := range map[string]struct {
		edit       func(*definition.ServerSpec)
		path, text string
	}{
		"no slug":            {func(s *definition.ServerSpec) { s.Slug = "" }, "/slug", "lower-case"},
		"a slug of capitals": {func(s *definition.ServerSpec) { s.Slug = "Files" }, "/slug", "lower-case"},
		"no URL":             {func(s *definition.ServerSpec) { s.URL = "" }, "/server_url", "missing"},
		"a pattern": {
			func(s *definition.ServerSpec) { s.AllowedTools = []string{"read_*"} }, "/allowed_tools/0", "compared exactly",
		},
		"all and one": {
			func(s *definition.ServerSpec) { s.AllowedTools = []string{"read_file", "*"} }, "/allowed_tools/1",
			"list nothing beside it",
		},
		"one twice": {
			func(s *definition.ServerSpec) { s.AllowedTools = []string{"a", "a"} }, "/allowed_tools/1", "listed twice",
		},
		"a name with a newline": {
			func(s *definition.ServerSpec) { s.AllowedTools = []string{"a\nb"} }, "/allowed_tools/0", "the name of one",
		},
		"an unknown status": {func(s *definition.ServerSpec) { s.Status = "paused" }, "/status", "active or disabled"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := files("read_file")
			tt.edit(&s)
			_, _, err := b.registry.Servers().Attach(t.Context(), b.ada, s)
			registrytest.RequireRefused(t, err, tool.Invalid, tt.path, tt.text)
		})
	}
}

// Applying a server attaches it once, asks it, and says what is to be done.
func TestApplyServer(t *testing.T) {
	t.Parallel()
	b := empty()
	b.shelf.put(offered(t, "read_file", "Reads.", pathInput), offered(t, "bad", "Bad.", `{"type":"string"}`))
	d := definition.Definition{Server: new(files("*"))}

	c, err := b.registry.Check(t.Context(), b.ada, d)
	require.NoError(t, err)
	require.Equal(t, definition.Created, c.Action)
	_, err = b.registry.Servers().Get(t.Context(), b.ada, "files")
	require.Equal(t, tool.NotFound, tool.KindOf(err), "a check writes nothing")

	c, err = b.registry.Apply(t.Context(), b.ada, d)
	require.NoError(t, err)
	require.Equal(t, definition.Created, c.Action)
	require.Len(t, c.Warnings, 1)
	require.Contains(t, c.Warnings[0], `tool "bad"`)
	c, err = b.registry.Apply(t.Context(), b.ada, definition.Definition{Server: new(files("*"))})
	require.NoError(t, err)
	require.Equal(t, definition.Unchanged, c.Action)
	c, err = b.registry.Apply(t.Context(), b.ada, definition.Definition{Server: new(files("read_file"))})
	require.NoError(t, err)
	require.Equal(t, definition.Updated, c.Action)
	require.Equal(t, definition.Updated, c.Action)
	require.Equal(t, mcpserver.StatePinned, b.remote(t, "read_file").State)
}

// A server that a person has disabled stays so, unless its definition has a status.
func TestApplyLeavesTheStatusOfAServer(t *testing.T) {
	t.Parallel()
	b := empty()
	b.shelf.put(offered(t, "read_file", "Reads.", pathInput))
	apply := func(spec definition.ServerSpec, action definition.Action, status string) {
		t.Helper()
		checked, err := b.registry.Check(t.Context(), b.ada, definition.Definition{Server: &spec})
		require.NoError(t, err)
		require.Equal(t, action, checked.Action)
		c, err := b.registry.Apply(t.Context(), b.ada, definition.Definition{Server: &spec})
		require.NoError(t, err)
		require.Equal(t, action, c.Action)
		s, err := b.registry.Servers().Get(t.Context(), b.ada, "files")
		require.NoError(t, err)
		require.Equal(t, status, s.Status)
	}
	apply(files("*"), definition.Created, definition.ServerActive)
	disabled := files("*")
	disabled.Status = definition.ServerDisabled
	_, err := b.registry.Servers().Update(t.Context(), b.ada, "files", disabled)
	require.NoError(t, err)
	apply(files("*"), definition.Unchanged, definition.ServerDisabled)
	apply(files("read_file"), definition.Updated, definition.ServerDisabled)
	active := files("read_file")
	active.Status = definition.ServerActive
	apply(active, definition.Updated, definition.ServerActive)
}
