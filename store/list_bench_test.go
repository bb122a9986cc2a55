package store_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
)

// BenchmarkListByStatus reads the first page of the failed calls among a million,
// one in a thousand of which failed, and of the completed ones.
func BenchmarkListByStatus(b *testing.B) {
	d := storetest.NewDatabase(b)
	f := storetest.NewFixture(b, d)
	conn := d.Conn(b)
	for _, sql := range []string{
		fmt.Sprintf(`insert into tool_invocations (id, tenant_id, call_id, tool, mode, status)
			select (substr(uuid_floor(now() - n * interval '1 ms')::text, 1, 24) || lpad(to_hex(n), 12, '0'))::uuid, '%s', 'c', 'x', 'production',
				case when n %% 1000 = 0 then 'failed' else 'completed' end from generate_series(1, 1000000) n`, f.Tenant),
		"vacuum analyze tool_invocations",
	} {
		_, err := conn.Exec(b.Context(), sql)
		require.NoError(b, err)
	}
	for _, status := range []string{"failed", "completed"} {
		b.Run(status, func(b *testing.B) {
			for b.Loop() {
				page, err := d.Store.ListInvocations(b.Context(), f.Tenant, store.InvocationQuery{
					Status: tool.InvocationStatus(status), Limit: 50,
				})
				require.NoError(b, err)
				require.Equal(b, 50, len(page)) //nolint:testifylint // A page of rows is not to be printed.
			}
		})
	}
}

// BenchmarkSettle settles calls with the indexes of lists by status, and without
// them: what these cost.
func BenchmarkSettle(b *testing.B) {
	for _, name := range []string{"Indexed", "Bare"} {
		b.Run(name, func(b *testing.B) {
			d := storetest.NewDatabase(b)
			f := storetest.NewFixture(b, d)
			if name == "Bare" {
				_, err := d.Conn(b).Exec(b.Context(), "drop index tool_invocations_status")
				require.NoError(b, err)
			}
			for b.Loop() {
				e := f.Lone(b)
				ticket := f.Admit(b, e, true, true)
				_, err := f.Store.Settle(b.Context(), storetest.Completed(e, ticket.Fence))
				require.NoError(b, err)
			}
		})
	}
}
