package cli_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
)

// Anything is found by words of its names, in any order, or by its id.
func TestSearch(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.tools(t, "refundOrder", "orderRefund", "countStock")
	s.ok(t, "role", "create", "refund-clerk", "--permission", "tools.read")
	out := s.ok(t, "search", "order", "refund")
	require.Regexp(t, `tool +orderRefund +published`, out)
	require.Regexp(t, `tool +refundOrder +published`, out)
	require.NotContains(t, out, "countStock")

	var found v1.Page[v1.Found]
	require.NoError(t, json.Unmarshal([]byte(s.ok(t, "search", "refund", "--kind", "role", "--json")), &found))
	require.Len(t, found.Items, 1)
	require.Equal(t, "refund-clerk", found.Items[0].Name)
	id := found.Items[0].ID
	require.NoError(t, json.Unmarshal([]byte(s.ok(t, "search", "refund", "--limit", "2", "--json")), &found))
	require.Len(t, found.Items, 2)

	none := s.run(t, "search", id)
	require.Zero(t, none.code, none.err)
	require.Contains(t, none.err, "nothing is called")
	require.Equal(t, cli.ExitUsage, s.run(t, "search").code)
	require.NotZero(t, s.run(t, "search", "x", "--limit", "21").code)
	require.Equal(t, cli.ExitUsage, s.run(t, "search", "x", "--kind", "nonsense").code)
}
