package store_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
)

// Large results are compressed by lz4 where the server has it, and by what its operator
// chose.
func TestLargeResultsAreCompressedByLZ4(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	f := storetest.NewFixture(t, d)
	conn := d.Conn(t)
	known := texts(t, conn, "select unnest(enumvals) from pg_settings where name = 'default_toast_compression'")
	settled := func(s *store.Store) string {
		t.Helper()
		e := f.Lone(t)
		end := storetest.Completed(e, f.Admit(t, e, true, true).Fence)
		raw, err := json.Marshal(map[string]string{"text": strings.Repeat("a line of a long text\n", 1000)})
		require.NoError(t, err)
		end.Result = tool.JSONResult(raw)
		_, err = s.Settle(t.Context(), end)
		require.NoError(t, err)
		return texts(t, conn, `select pg_column_compression(i.output) || ' ' || pg_column_compression(e.result)
			from tool_invocations i join effects e on e.invocation_id = i.id where i.id = $1`, e.InvocationID)[0]
	}
	want := "pglz pglz"
	for _, method := range known {
		if method == "lz4" {
			want = "lz4 lz4"
		}
	}
	require.Equal(t, want, settled(f.Store))

	_, err := conn.Exec(t.Context(), "alter database "+pgx.Identifier{conn.Config().Database}.Sanitize()+
		" set default_toast_compression = 'pglz'")
	require.NoError(t, err)
	chosen, err := store.Open(t.Context(), d.URL, store.Options{SetRole: store.AppRole, MaxConns: 1})
	require.NoError(t, err)
	defer chosen.Close()
	require.Equal(t, "pglz pglz", settled(chosen))
}
