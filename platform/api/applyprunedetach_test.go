package api_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

// A tool that is published after pruning looked for uses of its server keeps the server attached.
func TestPruneBesideAPublication(t *testing.T) {
	t.Parallel()

	remote := newRemoteServer(t)
	b := setup(t, discovering(t, remote.host))
	server := `{"kind":"mcp_server","slug":"files","server_url":"` + remote.url + `","allowed_tools":["read_file"]}`
	require.Zero(t, b.applied(t, v1.Apply{Set: "shop"}, server, echo("say")).Failed)
	draft := `{"kind":"tool","slug":"readFile","implementation_type":"mcp","description":"Reads a file.",
		"implementation_config":{"server":"files","tool_name":"read_file"}}`
	require.Zero(t, b.applied(t, v1.Apply{}, draft).Failed)

	conn, observer := b.Conn(t), b.Conn(t)
	tx, err := conn.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(),
		"select from mcp_servers where tenant_id = $1 and slug = 'files' for share", b.tenant)
	require.NoError(t, err)
	done := make(chan v1.Applied, 1)
	go func() { done <- b.applied(t, v1.Apply{Set: "shop", Prune: true}, echo("say")) }() //nolint:testifylint // Awaited.
	require.Eventually(t, func() bool {
		var waiting bool
		err := observer.QueryRow(t.Context(), `select exists (select from pg_stat_activity
			where $1 = any (pg_blocking_pids(pid)))`, conn.PgConn().PID()).Scan(&waiting)
		return err == nil && waiting
	}, 30*time.Second, 5*time.Millisecond)
	_, err = tx.Exec(t.Context(), `update tool_registry set status = 'published', revision = revision + 1
		where tenant_id = $1 and slug = 'readFile'`, b.tenant)
	require.NoError(t, err)
	require.NoError(t, tx.Commit(t.Context()))

	pruned := <-done
	require.Len(t, pruned.Gone, 1, "%+v", pruned)
	require.Equal(t, v1.Kept, pruned.Gone[0].Action)
	require.Equal(t, tool.Conflict, pruned.Gone[0].Error.Code)
	require.Contains(t, pruned.Gone[0].Error.Detail, "readFile")
	require.Equal(t, http.StatusOK, b.do(t, http.MethodGet, "/v1/mcp/servers/files", "").status)

	// It is tried again by the next apply, when nothing uses it any more.
	require.Equal(t, http.StatusOK, b.do(t, http.MethodPost, "/v1/tools/readFile/disable", "").status)
	again := b.applied(t, v1.Apply{Set: "shop", Prune: true}, echo("say"))
	require.Len(t, again.Gone, 1)
	require.Equal(t, v1.Detached, again.Gone[0].Action, "%+v", again)
}
