package vault_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/internal/vault"
	"github.com/toolcrib/toolcrib/store/storetest"
)

// The database holds no id of a session in plain, and any process with the key
// goes on with the session.
func TestSessionIDsAreEncrypted(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	f := storetest.NewFixture(t, d)
	b := &bundle{Database: d, tenant: f.Tenant, kek: vault.GenerateKey()}
	first, second := b.with(t, b.kek).Sessions(d.Store), b.with(t, b.kek).Sessions(d.Store)
	key, begun := f.MCPSession("planted-session-id")
	kept, err := first.SaveMCPSession(t.Context(), key, begun)
	require.NoError(t, err)
	require.True(t, kept.ID.Equal(begun.ID))

	var stored string
	row := d.Conn(t).QueryRow(t.Context(), "select s::text from mcp_sessions s where run_id = $1 and server_key = $2",
		key.RunID, key.Server)
	require.NoError(t, row.Scan(&stored))
	require.False(
		t,
		secret.NewRedactor(begun.ID).Holds([]byte(strings.ReplaceAll(stored, "https://mcp.example/planted-session-id", ""))),
		stored,
	)

	loaded, err := second.LoadMCPSession(t.Context(), key)
	require.NoError(t, err)
	require.True(t, loaded.ID.Equal(begun.ID))
	_, err = b.with(t, b.kek).RotateDataKey(t.Context(), f.Tenant)
	require.NoError(t, err)
	loaded, err = b.with(t, b.kek).Sessions(d.Store).LoadMCPSession(t.Context(), key)
	require.NoError(t, err)
	require.True(t, loaded.ID.Equal(begun.ID), "a rotation of the data key ends no session")

	other := *begun
	other.ID = secret.NewValue("another-session")
	require.NoError(t, second.DropMCPSession(t.Context(), key, &other))
	loaded, err = second.LoadMCPSession(t.Context(), key)
	require.NoError(t, err)
	require.NotNil(t, loaded, "another session was lost, not this one")

	// A row that was moved to another server does not open, and is dropped.
	moved, elsewhere := f.MCPSession("elsewhere")
	_, err = first.SaveMCPSession(t.Context(), moved, elsewhere)
	require.NoError(t, err)
	b.exec(t, "update mcp_sessions set session_id = (select session_id from mcp_sessions where run_id = $1 and "+
		"server_key = $2) where run_id = $1 and server_key = $3",
		key.RunID, key.Server, moved.Server)
	loaded, err = first.LoadMCPSession(t.Context(), moved)
	require.NoError(t, err)
	require.Nil(t, loaded)
	renewed, err := first.SaveMCPSession(t.Context(), moved, elsewhere)
	require.NoError(t, err)
	require.True(t, renewed.ID.Equal(elsewhere.ID))

	require.NoError(t, second.DropMCPSession(t.Context(), key, begun))
	loaded, err = first.LoadMCPSession(t.Context(), key)
	require.NoError(t, err)
	require.Nil(t, loaded)
	b.exec(t, "update mcp_sessions set expires_at = now() - interval '1 minute' where run_id = $1", key.RunID)
	expired, taken, err := second.TakeExpiredMCPSessions(t.Context(), 100)
	require.NoError(t, err)
	require.Equal(t, 2, taken)
	var ids []string
	for _, e := range expired {
		ids = append(ids, e.Session.ID.Reveal())
	}
	require.ElementsMatch(t, []string{"planted-session-id", "elsewhere"}, ids)
}
