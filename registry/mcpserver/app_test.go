package mcpserver_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/remote"
	"github.com/toolcrib/toolcrib/registry/mcpserver"
	"github.com/toolcrib/toolcrib/tool"
)

func (b *attached) head(t *testing.T, slug string) tool.Tool {
	t.Helper()
	head, err := b.registry.Get(t.Context(), b.ada, tool.Ref{Slug: slug})
	require.NoError(t, err)
	return head
}

// What a server declares of an app is a part of the draft. A change of it stops the tool until it is approved, and
// the draft follows, but for what was changed by hand. A tool for apps alone is offered to no model.
func TestAnAppIsPinned(t *testing.T) {
	t.Parallel()

	b := attach(t, "*")
	shown := offered(t, "show_file", "Shows a file.", pathInput)
	shown.UI = &remote.UI{ResourceURI: "ui://files/page"}
	fresh := offered(t, "fresh", "Looks again.", pathInput)
	fresh.UI = &remote.UI{ResourceURI: "ui://files/page", Visibility: []string{remote.ForApp}}
	shown, fresh = digested(t, shown), digested(t, fresh)
	b.shelf.put(b.read, b.list, shown, fresh)
	require.Equal(t, []string{"new fresh", "new show_file"}, changes(b.refresh(t)))
	b.publish(t, "filesShowFile")
	b.publish(t, "filesFresh")
	b.publish(t, "filesReadFile")
	require.NoError(t, b.runs(t, "filesShowFile"))

	ui := func(slug string) string {
		var config struct {
			UI json.RawMessage `json:"ui"`
		}
		require.NoError(t, json.Unmarshal(b.head(t, slug).Config, &config))
		return string(config.UI)
	}
	require.Empty(t, ui("filesReadFile"))
	require.JSONEq(t, `{"resource_uri":"ui://files/page"}`, ui("filesShowFile"))
	require.Empty(t, b.head(t, "filesShowFile").Interaction.Audience)
	require.Equal(t, tool.AudienceUser, b.head(t, "filesFresh").Interaction.Audience)

	changed := shown
	changed.UI = &remote.UI{ResourceURI: "ui://files/other", Visibility: []string{remote.ForApp}}
	changed = digested(t, changed)
	b.shelf.put(b.read, b.list, changed, fresh)
	require.Equal(t, []string{"changed show_file"}, changes(b.refresh(t)))
	require.Error(t, b.runs(t, "filesShowFile"))
	require.NoError(t, b.runs(t, "filesReadFile"), "its neighbour runs on")
	drift, err := b.registry.Servers().Compare(t.Context(), b.ada, "files", "show_file")
	require.NoError(t, err)
	require.Contains(t, drift.Tool.Seen.UI.ResourceURI, "other")
	require.NotEmpty(t, drift.Diff.Changes)
	_, err = b.registry.Servers().Approve(t.Context(), b.ada, "files", mcpserver.Approval{
		Name: "show_file", Digest: changed.Digest, Publish: true,
	})
	require.NoError(t, err)
	require.JSONEq(t, `{"resource_uri":"ui://files/other","visibility":["app"]}`, ui("filesShowFile"))
	require.Equal(t, tool.AudienceUser, b.head(t, "filesShowFile").Interaction.Audience)

	gone := changed
	gone.UI = nil
	gone = digested(t, gone)
	b.shelf.put(b.read, b.list, gone, fresh)
	b.refresh(t)
	_, err = b.registry.Servers().Approve(t.Context(), b.ada, "files", mcpserver.Approval{
		Name: "show_file", Publish: true,
	})
	require.NoError(t, err)
	require.Empty(t, ui("filesShowFile"))
	require.Empty(t, b.head(t, "filesShowFile").Interaction.Audience)
}
