// Package e2e_test runs Toolcrib against a real Temporal server and a real
// PostgreSQL, with workers that are killed, stopped and woken up again.
package e2e_test

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"

	"github.com/toolcrib/toolcrib/internal/payload"
	"github.com/toolcrib/toolcrib/platform/dev/embedded"
)

// server is the Temporal server that all tests share. Each test has a tenant,
// a database and a task queue of its own.
var server *embedded.Temporal

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		os.Exit(childMain()) //nolint:forbidigo // This is main.
	}
	os.Exit(run(m)) //nolint:forbidigo // This is main.
}

func run(m *testing.M) int {
	flag.Parse()
	// These tests wait for timeouts more than they work, so that more of them
	// run at once than there are processors.
	if at := flag.Lookup("test.parallel"); at.Value.String() == at.DefValue {
		if err := flag.Set("test.parallel", "8"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var err error
	server, err = embedded.StartTemporal(ctx, embedded.TemporalConfig{
		Port: embedded.AnyPort, Headless: true, Logger: quiet(),
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "starting Temporal:", err)
		return 1
	}
	defer func() { _ = server.Stop(context.Background()) }()
	return m.Run()
}

func quiet() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
}

// dial connects to the shared server. Like workers, clients take the payload keys of the environment:
// with TOOLCRIB_PAYLOAD_KEYS, all that these tests do is encrypted.
func dial(address string, plugins ...client.Plugin) (client.Client, error) {
	keys, err := payload.FromEnvironment(os.Getenv)
	if err != nil {
		return nil, err
	}
	return dialWith(address, keys, plugins...)
}

// dialWith is dial with other payload keys.
func dialWith(address string, keys *payload.Keyring, plugins ...client.Plugin) (client.Client, error) {
	options := client.Options{
		HostPort: address, Namespace: embedded.DefaultNamespace, Plugins: plugins,
		Logger: quietTemporal(),
	}
	if len(plugins) == 0 { // Otherwise they do.
		payload.Configure(&options, keys)
	}
	return client.Dial(options)
}

func quietTemporal() sdklog.Logger { return sdklog.NewStructuredLogger(quiet()) }
