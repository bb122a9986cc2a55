package embedded

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/log"
)

// The server's own way to say that a port is taken is to end the process. Here
// it is an error, and others are chosen: also a server that keeps everything in
// memory has its namespace then.
func TestServerWhosePortIsTakenChoosesOthers(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]func(*temporalPorts) *int{
		"frontend": func(p *temporalPorts) *int { return &p.frontend },
		"history":  func(p *temporalPorts) *int { return &p.history },
		"matching": func(p *temporalPorts) *int { return &p.matching },
		"worker":   func(p *temporalPorts) *int { return &p.worker },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			taken, err := net.Listen("tcp4", "127.0.0.1:0")
			require.NoError(t, err)
			defer taken.Close()
			port, err := portOf(taken)
			require.NoError(t, err)
			tries := 0
			server := &Temporal{
				cfg: TemporalConfig{
					Port: AnyPort, Headless: true, Namespace: DefaultNamespace, Logger: slog.New(slog.DiscardHandler),
				},
				ports: func(ctx context.Context, wanted wish) (temporalPorts, error) {
					ports, err := chooseTemporalPorts(ctx, wanted)
					if tries++; tries <= 2 {
						*of(&ports) = port
					}
					return ports, err
				},
			}
			t.Cleanup(func() { require.NoError(t, server.Stop(context.WithoutCancel(t.Context()))) })
			require.NoError(t, server.start(t.Context()))
			require.Equal(t, 3, tries)
		})
	}
}

// A site that is open in the browser can send requests to this machine, which
// an HTTP API would carry out.
func TestServerHasNoHTTP(t *testing.T) {
	t.Parallel()
	cfg := serverConfig(nil, temporalPorts{frontend: 1, history: 2, matching: 3, worker: 4})
	require.Len(t, cfg.Services, 4)
	for name, service := range cfg.Services {
		require.NotZero(t, service.RPC.GRPCPort, name)
		require.Zero(t, service.RPC.HTTPPort, name)
	}
	require.Empty(t, cfg.ClusterMetadata.ClusterInformation[clusterName].HTTPAddress)
}

func TestPortThatMustBe(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	port, err := portOf(taken)
	require.NoError(t, err)

	_, err = wish{service: "Temporal", port: port, fixed: true}.choose(t.Context())
	var refused *PortTakenError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, os.Getpid(), refused.By.PID)
	require.ErrorContains(
		t, err, fmt.Sprintf("port %d, which Temporal was to listen on, is taken by process %d", port, os.Getpid()),
	)

	var said strings.Builder
	wanted := wish{service: "Temporal", port: port}
	got, err := wanted.choose(t.Context())
	require.NoError(t, err)
	require.NotEqual(t, port, got)
	wanted.tell(t.Context(), slog.New(slog.NewTextHandler(&said, nil)), got)
	require.Contains(t, said.String(), fmt.Sprintf("service=Temporal port=%d taken_by=\"process %d", port, os.Getpid()))
}

func TestLocalName(t *testing.T) {
	t.Parallel()
	for _, host := range []string{
		"localhost", "LOCALHOST:8233", "127.0.0.1:8233", "127.9.9.9", "[::1]:8233", "::1", "localhost.",
		"temporal.localhost:1",
	} {
		require.True(t, localName(host), host)
	}
	for _, host := range []string{
		"", "evil.example:8233", "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.1:8233", "[fd00::1]:1",
		"0.0.0.0", "notlocalhost",
	} {
		require.False(t, localName(host), host)
	}
}

func TestServerLoggerHushes(t *testing.T) {
	t.Parallel()
	var said strings.Builder
	logger := newServerLogger(t.Context(), slog.New(slog.NewTextHandler(&said, nil)))
	logger.Info("not this")
	logger.Warn("but this")
	logger.hush()
	logger.With().Error("not this either")
	require.Contains(t, said.String(), "but this")
	require.NotContains(t, said.String(), "not this")
}

// The development stack does not query the internet for version information.
func TestServerAsksForNoVersionInformation(t *testing.T) {
	t.Parallel()

	collection := dynamicconfig.NewCollection(dynamicConfig(), log.NewNoopLogger())
	require.False(t, dynamicconfig.EnableServerVersionCheck.Get(collection)())
}
