package mcpserver_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/mcpserver"
	"github.com/toolcrib/toolcrib/registry/registrytest"
	"github.com/toolcrib/toolcrib/tool"
)

// A renamed tool is gone under its old name, and new under the other; what comes
// back as it was goes on, and what comes back otherwise does not.
func TestRenamedAndReturned(t *testing.T) {
	t.Parallel()
	b := attach(t)
	b.publish(t, "filesReadFile")
	b.publish(t, "filesListDir")

	renamed := b.read
	renamed.Name = "read_file2"
	b.shelf.put(digested(t, renamed), b.list)
	require.Equal(t, []string{"gone read_file", "offered read_file2"}, changes(b.refresh(t)))
	registrytest.RequireRefused(t, b.runs(t, "filesReadFile"), tool.Conflict, "", "offers it no more")
	require.NoError(t, b.runs(t, "filesListDir"))
	_, err := b.registry.Servers().Approve(t.Context(), b.ada, "files", mcpserver.Approval{Name: "read_file"})
	registrytest.RequireRefused(t, err, tool.Conflict, "", "cannot be approved")
	_, _, err = b.registry.Publish(t.Context(), b.ada, tool.Ref{Slug: "filesReadFile"})
	registrytest.RequireRefused(t, err, tool.Conflict, "", "cannot run")

	b.shelf.put(offered(t, "read_file", "Reads another file.", pathInput), b.list)
	require.Equal(t, []string{"changed read_file"}, changes(b.refresh(t)))
	require.Equal(t, tool.Conflict, tool.KindOf(b.runs(t, "filesReadFile")))

	b.shelf.put(b.read, b.list)
	require.Equal(t, []string{"back read_file"}, changes(b.refresh(t)))
	require.NoError(t, b.runs(t, "filesReadFile"))
}

// A server that does not answer changes nothing, and that is on record.
func TestSilenceChangesNothing(t *testing.T) {
	t.Parallel()
	b := attach(t)
	b.publish(t, "filesReadFile")
	b.shelf.fail(&tool.Error{Kind: tool.Unavailable, Msg: "the upstream can't be reached"})
	_, _, err := b.registry.Servers().Refresh(t.Context(), b.ada, "files")
	require.Equal(t, tool.Unavailable, tool.KindOf(err))
	require.NoError(t, b.runs(t, "filesReadFile"))
	server, err := b.registry.Servers().Get(t.Context(), b.ada, "files")
	require.NoError(t, err)
	require.Equal(t, "the upstream can't be reached", server.DiscoveryError)

	s := files("*")
	s.Slug = "other"
	_, report, err := b.registry.Servers().Attach(t.Context(), b.ada, s)
	require.NoError(t, err, "it is attached all the same")
	require.Equal(t, tool.Unavailable, report.Err.Kind)
	b.shelf.put(b.read, b.list)
	require.Empty(t, changes(b.refresh(t)))
	server, err = b.registry.Servers().Get(t.Context(), b.ada, "files")
	require.NoError(t, err)
	require.Empty(t, server.DiscoveryError)
}

// What an operator takes off the list stops at once, and goes on when it is
// back on.
func TestDisallowingStops(t *testing.T) {
	t.Parallel()
	b := attach(t)
	b.publish(t, "filesReadFile")
	_, err := b.registry.Servers().Update(t.Context(), b.ada, "files", files("list_dir"))
	require.NoError(t, err)
	registrytest.RequireRefused(t, b.runs(t, "filesReadFile"), tool.Conflict, "", "not among the server's allowed tools")
	require.Equal(t, []string{"refused read_file"}, changes(b.refresh(t)))
	_, err = b.registry.Servers().Update(t.Context(), b.ada, "files", files("list_dir", "read_file"))
	require.NoError(t, err)
	require.Equal(t, []string{"back read_file"}, changes(b.refresh(t)))
	require.NoError(t, b.runs(t, "filesReadFile"))
}

// Names of a stranger do not take the place of others, and bad definitions are
// refused one by one.
func TestHostileOffers(t *testing.T) {
	t.Parallel()
	b := attach(t, definition.AllTools)
	b.publish(t, "filesReadFile")
	mine := spec("filesTaken")
	_, _, err := b.registry.Create(t.Context(), b.ada, mine)
	require.NoError(t, err)

	long := strings.Repeat("very_", 24) + "long"
	deep := strings.Repeat(`{"type":"object","properties":{"a":`, 70) + `{}` + strings.Repeat(`}}`, 70)
	b.shelf.put(
		b.read, b.list,
		offered(t, "read-file", "The same slug as read_file.", pathInput),
		offered(t, "a_b", "One of a pair.", pathInput), offered(t, "a-b", "The other.", pathInput),
		offered(t, "taken", "Another tool's slug.", pathInput),
		offered(t, "not_an_object", "Its schema.", `{"type":"string"}`),
		offered(t, "remote_ref", "Its schema.", `{"type":"object","properties":{"a":{"$ref":"https://evil.example/s"}}}`),
		offered(t, "no_values", "Its schema.", `{"type":"object","properties":{"a":{"enum":[]}}}`),
		offered(t, "deep", "Its schema.", deep),
		offered(t, "nul", "Its words.", `{"type":"object","description":"a\u0000b"}`),
		offered(t, "twice", "First.", pathInput), offered(t, "twice", "Second.", pathInput),
		offered(t, "…", "No letter.", pathInput),
		offered(t, long, "A long name.", pathInput),
	)
	report := b.refresh(t)
	require.Equal(t, []string{
		"refused a-b", "refused a_b", "refused deep", "refused no_values", "refused not_an_object", "refused nul",
		"refused read-file",
		"refused remote_ref", "refused taken", "refused twice", "new " + long, "new …",
	}, changes(report))
	reasons := make(map[string]string)
	for _, item := range report.Tools {
		reasons[item.Name] = item.Reason
	}
	require.Equal(t, `its slug would be filesReadFile, and so would that of "read_file"`, reasons["read-file"])
	require.Contains(t, reasons["a_b"], `"a-b"`)
	require.Equal(t, "its slug would be filesTaken, which another tool has", reasons["taken"])
	require.Contains(t, reasons["remote_ref"], "/input_schema: schema: it refers to")
	require.Equal(t, "the server lists it twice", reasons["twice"])
	require.Contains(t, reasons["nul"], "NUL")
	require.NoError(t, b.runs(t, "filesReadFile"))
	slug := b.remote(t, long).ToolSlug
	require.Len(t, slug, 64)
	require.True(t, tool.ValidSlug(slug))

	b.shelf.put(b.read, b.read, b.list)
	require.Contains(t, changes(b.refresh(t)), "refused read_file", "of two of one name neither is called")
	require.Equal(t, tool.Conflict, tool.KindOf(b.runs(t, "filesReadFile")))
}

// A thousand tools are imported, compared, and one of them stopped.
func TestAThousandTools(t *testing.T) {
	t.Parallel()
	b := attach(t, definition.AllTools)
	all := make([]mcpserver.ToolDefinition, 1000)
	for i := range all {
		all[i] = offered(t, fmt.Sprintf("tool_%04d", i), "Does one thing.", pathInput)
	}
	b.shelf.put(all...)
	report := b.refresh(t)
	require.Len(t, report.Tools, 1002)
	b.publish(t, "filesTool0500")
	all[500] = offered(t, "tool_0500", "Does another thing.", pathInput)
	b.shelf.put(all...)
	report = b.refresh(t)
	require.Equal(t, 999, report.Unchanged)
	require.Contains(t, changes(report), "changed tool_0500")
	require.Equal(t, tool.Conflict, tool.KindOf(b.runs(t, "filesTool0500")))
	page, err := b.registry.Servers().Tools(t.Context(), b.ada, "files",
		mcpserver.ToolQuery{State: mcpserver.StateChanged})
	require.NoError(t, err)
	require.Len(t, page, 1)
}
