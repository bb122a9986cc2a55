package e2e_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/toolcrib/toolcrib/platform/dev/embedded"
	"github.com/toolcrib/toolcrib/platform/serve"
)

// Workers of a task queue are counted, so that each keeps its part of a model's rate limits.
func TestWorkersAreCounted(t *testing.T) {
	t.Parallel()

	queue := "q-" + newID(t)
	c, err := dial(server.Address())
	require.NoError(t, err)
	t.Cleanup(c.Close)
	n, err := serve.Peers(t.Context(), c, queue)
	require.NoError(t, err)
	require.Equal(t, 1, n, "this one, which has not polled yet")
	for _, identity := range []string{"a", "b", "b"} {
		own, err := client.Dial(client.Options{
			HostPort: server.Address(), Namespace: embedded.DefaultNamespace, Logger: quietTemporal(), Identity: identity,
		})
		require.NoError(t, err)
		t.Cleanup(own.Close)
		w := sdkworker.New(own, queue, sdkworker.Options{})
		w.RegisterActivityWithOptions(func(context.Context) error { return nil }, activity.RegisterOptions{Name: "none"})
		require.NoError(t, w.Start())
		t.Cleanup(w.Stop)
	}
	require.Eventually(t, func() bool {
		n, err := serve.Peers(t.Context(), c, queue)
		return err == nil && n == 2
	}, 20*time.Second, 100*time.Millisecond)
}
