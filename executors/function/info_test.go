package function_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/tool"
)

// A function sees the call that it serves, whole: its run, its effect, and for
// whom it is.
func TestInfo(t *testing.T) {
	t.Parallel()

	reg := function.NewRegistry()
	require.NoError(t, function.Define(reg, "who", "", func(ctx context.Context, _ struct{}) (function.Info, error) {
		info, _ := function.InfoFrom(ctx)
		return info, nil
	}))
	for _, run := range []string{"run-1", "run-2", ""} {
		c := call("who", ``)
		c.RunID = run
		c.Principal.Permissions = []string{"orders.read"}
		res, err := function.New(reg).Execute(t.Context(), c)
		require.NoError(t, err)
		var info function.Info
		require.NoError(t, json.Unmarshal(res.Structured, &info))
		require.Equal(t, function.Info{
			Tool: "adder@1.2.0", CallID: "call_1", EffectID: "effect-1", RunID: run, Mode: tool.Production, Attempt: 2,
			Principal: tool.Principal{Tenant: "t1", Subject: "user:ada", Permissions: []string{"orders.read"}},
		}, info)
	}
	_, ok := function.InfoFrom(t.Context())
	require.False(t, ok)
}
