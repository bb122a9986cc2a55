package registrytest

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/tool"
)

// published returns a draft that runs on a server, and a published version of it, which is not stored.
func published(t *testing.T, f Fixture, slug, server string) (tool.Tool, tool.Version) {
	t.Helper()

	head := example(f.Tenant, slug)
	head.Implementation = tool.MCP
	head.Config = json.RawMessage(fmt.Sprintf(`{"server":%q,"tool_name":"read"}`, server))
	head.Status = tool.Draft
	head = create(t, f.Store, head)
	v := versionOf(t, head, "1.0.0")
	v.Published, head.Status = true, tool.Published
	return head, v
}

// A server stays while a tool that runs on it is published or deprecated, whatever its caller read before, and nothing
// is published or enabled on a server that is gone.
func testServerInUse(t *testing.T, f Fixture) {
	t.Helper()

	server := attach(t, f.Store, f.Tenant, "files")
	draft, _ := published(t, f, "filesDraft", "files")
	require.NotEmpty(t, draft.ID)
	head, v := published(t, f, "filesRead", "files")
	head, _, err := f.Store.AddVersion(t.Context(), head, v)
	require.NoError(t, err)
	for _, status := range []tool.Status{tool.Published, tool.Deprecated} {
		head.Status = status
		head, err = f.Store.UpdateTool(t.Context(), head)
		require.NoError(t, err)
		err = f.Store.DetachServer(t.Context(), server)
		requireKind(t, tool.Conflict, err)
		require.ErrorContains(t, err, "filesRead")
		found, err := f.Store.FindServer(t.Context(), f.Tenant, "files")
		require.NoError(t, err)
		require.Equal(t, server.Revision, found.Revision, "nothing of it was written")
	}
	head.Status = tool.Disabled
	head, err = f.Store.UpdateTool(t.Context(), head)
	require.NoError(t, err)
	require.NoError(t, f.Store.DetachServer(t.Context(), server))
	for _, status := range []tool.Status{tool.Published, tool.Deprecated} {
		enabled := head
		enabled.Status = status
		_, err = f.Store.UpdateTool(t.Context(), enabled)
		requireKind(t, tool.Conflict, err)
		require.ErrorContains(t, err, `no server "files" is attached`)
	}
	head.Description = "Edited."
	_, err = f.Store.UpdateTool(t.Context(), head)
	require.NoError(t, err, "what does not run is edited")

	attach(t, f.Store, f.Other, "files")
	late, v := published(t, f, "filesLate", "files")
	_, _, err = f.Store.AddVersion(t.Context(), late, v)
	requireKind(t, tool.Conflict, err)
	stored, err := f.Store.FindTool(t.Context(), f.Tenant, tool.Ref{ID: late.ID})
	require.NoError(t, err)
	require.Equal(t, tool.Draft, stored.Status)
	v.Published, late.Status = false, tool.Draft
	_, _, err = f.Store.AddVersion(t.Context(), late, v)
	require.NoError(t, err, "a version that is not published runs nowhere")

	for i := range 10 {
		requireOneOfTwo(t, f, fmt.Sprintf("s%d", i))
	}
}

// requireOneOfTwo detaches a server while a tool that runs on it is published: one of the two happens.
func requireOneOfTwo(t *testing.T, f Fixture, slug string) {
	t.Helper()

	server := attach(t, f.Store, f.Tenant, slug)
	head, v := published(t, f, slug+"Read", slug)
	var publishing, detaching error
	var both sync.WaitGroup
	begin := make(chan struct{})
	both.Go(func() { <-begin; _, _, publishing = f.Store.AddVersion(t.Context(), head, v) })
	both.Go(func() { <-begin; detaching = f.Store.DetachServer(t.Context(), server) })
	close(begin)
	both.Wait()
	if publishing == nil {
		requireKind(t, tool.Conflict, detaching)
	} else {
		requireKind(t, tool.Conflict, publishing)
		require.NoError(t, detaching)
	}
}
