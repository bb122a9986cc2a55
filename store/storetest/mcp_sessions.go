package storetest

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/remote"
	"github.com/toolcrib/toolcrib/internal/remote/session"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

// MCPSession is the fixture's run's session with a server, and its key.
func (f *Fixture) MCPSession(id string) (session.Key, *session.Session) {
	server := remote.Server{
		URL: "https://mcp.example/" + id, Headers: map[string]remote.Header{"X-Team": {Literal: "desk"}},
	}
	return session.Key{Tenant: f.Tenant, RunID: f.Run.ID, Server: server.Key()},
		&session.Session{
			ID: secret.NewValue(id), Protocol: "2025-11-25", Handshake: json.RawMessage(`{"protocolVersion":"2025-11-25"}`),
			Server: server,
		}
}

func testMCPSessions(t *testing.T, d *Database) {
	t.Helper()
	t.Run("GoesOnElsewhere", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		key, begun := f.MCPSession("s1")
		none, err := f.Store.LoadMCPSession(t.Context(), key)
		require.NoError(t, err)
		require.Nil(t, none)
		_, err = f.Store.SaveMCPSession(t.Context(), key, begun)
		require.NoError(t, err)

		kept, err := f.Store.LoadMCPSession(t.Context(), key)
		require.NoError(t, err)
		require.True(t, kept.ID.Equal(begun.ID))
		require.Equal(t, begun.Protocol, kept.Protocol)
		require.JSONEq(t, string(begun.Handshake), string(kept.Handshake))
		require.Equal(t, begun.Server, kept.Server)
		require.NotZero(t, kept.CreatedAt)
		key.Server = strings.Repeat("0", 64)
		none, err = f.Store.LoadMCPSession(t.Context(), key)
		require.NoError(t, err)
		require.Nil(t, none, "another server's is another session")
	})

	t.Run("OneOfManyStands", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		ids := make([]string, 8)
		var wg sync.WaitGroup
		for i := range ids {
			wg.Go(func() {
				key, begun := f.MCPSession("s")
				begun.ID = secret.NewValue("s" + string(rune('a'+i)))
				if kept, err := f.Store.SaveMCPSession(t.Context(), key, begun); err == nil {
					ids[i] = kept.ID.Reveal()
				}
			})
		}
		wg.Wait()
		require.NotEmpty(t, ids[0])
		for _, id := range ids {
			require.Equal(t, ids[0], id)
		}
	})

	t.Run("OnlyTheLostOneIsDropped", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		key, begun := f.MCPSession("s1")
		_, err := f.Store.SaveMCPSession(t.Context(), key, begun)
		require.NoError(t, err)
		_, other := f.MCPSession("s2")
		require.NoError(t, f.Store.DropMCPSession(t.Context(), key, other))
		kept, err := f.Store.LoadMCPSession(t.Context(), key)
		require.NoError(t, err)
		require.NotNil(t, kept)
		require.NoError(t, f.Store.DropMCPSession(t.Context(), key, begun))
		kept, err = f.Store.LoadMCPSession(t.Context(), key)
		require.NoError(t, err)
		require.Nil(t, kept)
	})

	t.Run("OfNoRun", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		key, begun := f.MCPSession("s1")
		for _, run := range []string{"", "none", f.Tool.ID} {
			key.RunID = run
			_, err := f.Store.SaveMCPSession(t.Context(), key, begun)
			RequireKind(t, tool.NotFound, err)
		}
	})

	t.Run("ThoseOfEndedRunsExpire", func(t *testing.T) {
		t.Parallel()
		for _, status := range []agent.RunStatus{agent.RunCompleted, agent.RunFailed, agent.RunCancelled} {
			f := NewFixture(t, d)
			key, begun := f.MCPSession("of a run that ends")
			_, err := f.Store.SaveMCPSession(t.Context(), key, begun)
			require.NoError(t, err)
			require.NoError(t, f.Store.FinishRun(t.Context(), agent.RunEnd{Tenant: f.Tenant, RunID: f.Run.ID, Status: status}))
			gone, err := f.Store.LoadMCPSession(t.Context(), key)
			require.NoError(t, err)
			require.Nil(t, gone, status)
		}
	})

	t.Run("IdleOnesAreTakenToBeEnded", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		key, idle := f.MCPSession("idle")
		_, err := f.Store.SaveMCPSession(t.Context(), key, idle)
		require.NoError(t, err)
		used, inUse := f.MCPSession("used")
		_, err = f.Store.SaveMCPSession(t.Context(), used, inUse)
		require.NoError(t, err)
		conn := d.Conn(t)
		for of, left := range map[session.Key]string{key: "-1 second", used: "1 minute"} {
			_, err = conn.Exec(
				t.Context(), "update mcp_sessions set expires_at = now() + $3::interval where run_id = $1 and server_key = $2",
				of.RunID, of.Server, left,
			)
			require.NoError(t, err)
		}
		kept, err := f.Store.LoadMCPSession(t.Context(), used)
		require.NoError(t, err)
		require.NotNil(t, kept)
		var long bool
		require.NoError(
			t,
			conn.QueryRow(
				t.Context(),
				"select expires_at > now() + interval '50 minutes' from mcp_sessions where run_id = $1 and server_key = $2",
				used.RunID, used.Server,
			).Scan(&long),
		)
		require.True(t, long, "using it has put off its end")
		gone, err := f.Store.LoadMCPSession(t.Context(), key)
		require.NoError(t, err)
		require.Nil(t, gone)

		taken, err := f.Store.TakeExpiredMCPSessions(t.Context(), 1000)
		require.NoError(t, err)
		var found []string
		for _, e := range taken {
			if e.Tenant == f.Tenant {
				found = append(found, e.Session.ID.Reveal())
				require.Equal(t, idle.Server, e.Session.Server)
			}
		}
		require.Equal(t, []string{"idle"}, found)
	})
}
