package worker_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/worker"
)

// A configuration that cannot work is refused when the worker is made, not in
// the middle of a run.
func TestNewRefusesBadConfig(t *testing.T) {
	t.Parallel()

	_, err := worker.New(t.Context(), worker.Config{})
	require.ErrorContains(t, err, "DatabaseURL")
	_, err = worker.New(t.Context(), worker.Config{DatabaseURL: "postgres://127.0.0.1:1/x?connect_timeout=1"})
	require.Equal(t, tool.Unavailable, tool.KindOf(err))
	_, err = worker.New(t.Context(), worker.Config{
		DatabaseURL: "postgres://127.0.0.1:1/x",
		Allow:       map[tool.TenantID]worker.Allowance{"": {Hosts: []string{"not a host"}}},
	})
	require.ErrorContains(t, err, "Config.Allow")
	_, err = worker.New(t.Context(), worker.Config{
		DatabaseURL: "postgres://127.0.0.1:1/x", Custom: map[string]tool.Executor{"not a name": nil},
	})
	require.ErrorContains(t, err, "Config.Custom")
	echo := tool.ExecutorFunc(func(context.Context, *tool.Call) (*tool.Result, error) { return &tool.Result{}, nil })
	_, err = worker.New(t.Context(), worker.Config{
		DatabaseURL: "postgres://127.0.0.1:1/x", Custom: map[string]tool.Executor{"echo": echo},
		Executors: map[tool.Implementation]tool.Executor{tool.Custom: echo},
	})
	require.ErrorContains(t, err, "both run custom tools")
}

// A plugin that would bypass the isolation of tenants does not start.
func TestNewRefusesAPrivilegedRole(t *testing.T) {
	t.Parallel()

	db := storetest.NewDatabase(t)
	_, err := worker.New(t.Context(), worker.Config{DatabaseURL: db.URL})
	require.Equal(t, tool.Denied, tool.KindOf(err), "%v", err)
}

func TestPlugin(t *testing.T) {
	t.Parallel()

	db := storetest.NewDatabase(t)
	plugin, err := worker.New(t.Context(), worker.Config{Store: db.Store})
	require.NoError(t, err)
	var keys []string
	for _, b := range plugin.Builtins() {
		keys = append(keys, b.Key)
	}
	require.Equal(t, []string{
		"awaitSignal", "datetime_utils", "delete_goals", "delete_memories", "delete_plans", "enter_space", "function_call",
		"get_plans",
		"http_request", "leave_space", "listTools", "manageTools", "mcp_call", "read_messages",
		"read_result", "request_input", "retrieval_pipeline", "send_message",
		"set_goals", "set_memories", "set_plans", "skip", "task_status", "web_search",
	}, keys,
		"web_fetch is there with a reader, json_transform with a sandbox")

	var options sdkworker.Options
	require.NoError(
		t, plugin.ConfigureWorker(context.Background(), sdkworker.PluginConfigureWorkerOptions{WorkerOptions: &options}),
	)
	require.Equal(t, worker.DefaultStopTimeout, options.WorkerStopTimeout)
	require.Positive(t, options.MaxHeartbeatThrottleInterval)
	options = sdkworker.Options{WorkerStopTimeout: time.Second, MaxHeartbeatThrottleInterval: time.Minute}
	require.NoError(
		t, plugin.ConfigureWorker(context.Background(), sdkworker.PluginConfigureWorkerOptions{WorkerOptions: &options}),
	)
	require.Equal(t, time.Second, options.WorkerStopTimeout)
	require.Equal(t, time.Minute, options.MaxHeartbeatThrottleInterval)

	require.NoError(t, plugin.Close())
	require.NoError(t, plugin.Close(), "a second close does nothing")
	require.NoError(t, db.Store.Ping(t.Context()), "the host's store stays open")
}
