package embedded_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/platform/dev/embedded"
	"github.com/toolcrib/toolcrib/wire"
)

const queue = "embedded-test"

func start(t *testing.T, cfg embedded.Config) *embedded.Stack {
	t.Helper()
	s, err := embedded.Start(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Stop(context.WithoutCancel(t.Context()))) })
	return s
}

func dial(t *testing.T, address, namespace string) client.Client {
	t.Helper()
	c, err := client.Dial(client.Options{HostPort: address, Namespace: namespace})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

// serve runs a worker until the returned function is called.
func serve(t *testing.T, c client.Client) (stop func()) {
	t.Helper()
	w := sdkworker.New(c, queue, sdkworker.Options{
		StickyScheduleToStartTimeout: 100 * time.Millisecond, // A worker that is gone is not waited for.
	})
	w.RegisterWorkflowWithOptions(greet, workflow.RegisterOptions{Name: "greet"})
	w.RegisterWorkflowWithOptions(count, workflow.RegisterOptions{Name: "count"})
	require.NoError(t, w.Start())
	return w.Stop
}

// greet waits for a name.
func greet(ctx workflow.Context) (string, error) {
	var name string
	workflow.GetSignalChannel(ctx, "name").Receive(ctx, &name)
	return "hello " + name, nil
}

// count goes on in a new run until nothing is left.
func count(ctx workflow.Context, left int) error {
	if left == 0 {
		return nil
	}
	return workflow.NewContinueAsNewError(ctx, "count", left-1)
}

// A folder with a name that is awkward in addresses, and other ports the
// second time: neither may matter.
func TestStackGoesOnWhereItStopped(t *testing.T) {
	t.Parallel()
	cfg := embedded.Config{
		DataDir:     filepath.Join(folder(t), "a folder #1 100%"),
		DatabaseURL: "postgres://elsewhere", TemporalPort: embedded.AnyPort, UIPort: embedded.AnyPort,
	}
	tenant := temporal.NewSearchAttributeKeyKeyword(wire.TenantAttribute).ValueSet("acme")

	first := start(t, cfg)
	require.Equal(t, "postgres://elsewhere", first.DatabaseURL())
	c := dial(t, first.TemporalAddress(), first.Namespace())
	stop := serve(t, c)
	run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
		ID: "greeting", TaskQueue: queue, TypedSearchAttributes: temporal.NewSearchAttributes(tenant),
	}, "greet")
	require.NoError(t, err)
	require.Eventually(t, func() bool { // It waits for its signal: a task cut short is given out again much later.
		now, err := c.DescribeWorkflowExecution(t.Context(), run.GetID(), run.GetRunID())
		return err == nil && now.GetPendingWorkflowTask() == nil
	}, time.Minute, 10*time.Millisecond)
	stop()
	require.NoError(t, first.Stop(t.Context()))

	second := start(t, cfg)
	require.NotEqual(t, first.TemporalAddress(), second.TemporalAddress())
	c = dial(t, second.TemporalAddress(), second.Namespace())
	defer serve(t, c)()
	require.NoError(t, c.SignalWorkflow(t.Context(), "greeting", run.GetRunID(), "name", "Ada"))
	var said string
	require.NoError(t, c.GetWorkflow(t.Context(), "greeting", run.GetRunID()).Get(t.Context(), &said))
	require.Equal(t, "hello Ada", said)
	require.Eventually(t, func() bool {
		found, err := c.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{
			Query: wire.TenantAttribute + " = 'acme' AND ExecutionStatus = 'Completed'",
		})
		return err == nil && len(found.GetExecutions()) == 1
	}, time.Minute, 50*time.Millisecond)
}

// Two clones want the same ports at the same moment: each gets some.
func TestTwoStacksAtOnce(t *testing.T) {
	t.Parallel()
	ports := freePorts(t, 3)
	stacks := make([]*embedded.Stack, 2)
	var wg sync.WaitGroup
	for i := range stacks {
		dir := filepath.Join(folder(t), "data")
		wg.Go(func() {
			var err error
			stacks[i], err = embedded.Start(t.Context(), embedded.Config{
				DataDir: dir, TemporalPort: ports[0], UIPort: ports[1], PostgresPort: ports[2],
			})
			if err != nil {
				t.Error(err) // Not require: this is another goroutine.
			}
		})
	}
	wg.Wait()
	for _, s := range stacks {
		require.NotNil(t, s)
		t.Cleanup(func() { require.NoError(t, s.Stop(context.WithoutCancel(t.Context()))) })
	}
	one, two := stacks[0], stacks[1]
	require.NotEqual(t, one.TemporalAddress(), two.TemporalAddress())
	require.NotEqual(t, one.UIURL(), two.UIURL())
	execute(t, one.DatabaseURL(), "CREATE TABLE mine ()")
	require.False(t, query[bool](t, two.DatabaseURL(), "SELECT to_regclass('mine') IS NOT NULL"))

	_, err := embedded.Start(t.Context(), embedded.Config{DataDir: one.DataDir()})
	var locked *embedded.LockedError
	require.ErrorAs(t, err, &locked)
}

func freePorts(t *testing.T, n int) []int {
	t.Helper()
	ports := make([]int, n)
	for i := range ports {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		require.NoError(t, err)
		defer l.Close()
		address, ok := l.Addr().(*net.TCPAddr)
		require.True(t, ok)
		ports[i] = address.Port
	}
	return ports
}

func TestStackThatFailsLeavesNothingRunning(t *testing.T) {
	t.Parallel()
	cfg := embedded.Config{DataDir: filepath.Join(folder(t), "data"), Headless: true}
	s := start(t, cfg)
	require.NoError(t, s.Stop(t.Context()))
	version := filepath.Join(cfg.DataDir, "postgres", "data", "PG_VERSION")
	good, err := os.ReadFile(version)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(version, []byte("9\n"), 0o600))

	_, err = embedded.Start(t.Context(), cfg)
	var mismatch *embedded.VersionMismatchError
	require.ErrorAs(t, err, &mismatch)
	require.NotErrorIs(t, err, context.Canceled, "the service that was told to stop is not the news")

	require.NoError(t, os.WriteFile(version, good, 0o600))
	start(t, cfg)
}

func TestThrowawayStackLeavesNothing(t *testing.T) {
	t.Parallel()
	s := start(t, embedded.Config{Throwaway: true, Headless: true})
	require.Equal(t, "off", query[string](t, s.DatabaseURL(), "SELECT current_setting('fsync')"))
	c := dial(t, s.TemporalAddress(), s.Namespace())
	defer serve(t, c)()

	// By default the server delays each new run by a second.
	began := time.Now()
	run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{TaskQueue: queue}, "count", 8)
	require.NoError(t, err)
	require.NoError(t, run.Get(t.Context(), nil))
	require.Less(t, time.Since(began), 6*time.Second)

	require.NoError(t, s.Stop(t.Context()))
	require.NoDirExists(t, s.DataDir())
}

func TestTemporalRefusesDataOfAnotherRelease(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "schema"), []byte("0.1/0.1\n"), 0o600))
	_, err := embedded.StartTemporal(t.Context(), embedded.TemporalConfig{Dir: dir, Port: embedded.AnyPort})
	var mismatch *embedded.VersionMismatchError
	require.ErrorAs(t, err, &mismatch)
	require.Equal(t, "schema 0.1/0.1", mismatch.Have)
}

func TestTemporalBeginsAnewWhereItWasCutShort(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "temporal.db"), []byte("half a database"), 0o600))
	server, err := embedded.StartTemporal(t.Context(), embedded.TemporalConfig{
		Dir: dir, Port: embedded.AnyPort, Headless: true,
	})
	require.NoError(t, err)
	require.NoError(t, server.Stop(t.Context()))
}

func TestTemporalUI(t *testing.T) {
	t.Parallel()
	server, err := embedded.StartTemporal(t.Context(), embedded.TemporalConfig{
		Port: embedded.AnyPort, UIPort: embedded.AnyPort,
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop(context.WithoutCancel(t.Context()))) })
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	browser := &http.Client{Jar: jar}

	status, body := get(t, browser, server.UIURL()+"/")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, "<html")
	status, body = get(t, browser, server.UIURL()+"/api/v1/namespaces/default/search-attributes")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, wire.TenantAttribute)

	// Nor may a site whose own name was made to lead here.
	rebound, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.UIURL()+"/api/v1/namespaces",
		http.NoBody)
	require.NoError(t, err)
	rebound.Host = "rebound.example"
	refused, err := browser.Do(rebound)
	require.NoError(t, err)
	require.NoError(t, refused.Body.Close())
	require.Equal(t, http.StatusForbidden, refused.StatusCode)

	// Another site that is open in the same browser must not reach workflows.
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
		server.UIURL()+"/api/v1/namespaces/default/workflows/any/terminate", strings.NewReader("{}"))
	require.NoError(t, err)
	request.Header.Set("Origin", "https://elsewhere.example")
	request.Header.Set("Sec-Fetch-Site", "cross-site")
	response, err := browser.Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.GreaterOrEqual(t, response.StatusCode, 400)
	require.Less(t, response.StatusCode, 404, "refused before it was looked at")
}

func get(t *testing.T, browser *http.Client, url string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	require.NoError(t, err)
	response, err := browser.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.Empty(t, response.Header.Get("Access-Control-Allow-Origin"))
	return response.StatusCode, string(body)
}
