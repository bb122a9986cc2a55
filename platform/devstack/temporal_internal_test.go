package devstack

import (
	"log/slog"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The server's own way to say that a port is taken is to end the process.
func TestServerThatCannotListenIsAnError(t *testing.T) {
	t.Parallel()
	db, err := openTemporalDatabase("", DefaultNamespace)
	require.NoError(t, err)
	ports, err := chooseTemporalPorts(t.Context(), AnyPort)
	require.NoError(t, err)
	taken, err := net.Listen("tcp4", address(ports.history))
	require.NoError(t, err)
	defer taken.Close()

	var said strings.Builder
	log := newServerLogger(t.Context(), slog.New(slog.NewTextHandler(&said, nil)))
	_, err = runServer(serverConfig(db.config, ports), log)
	require.ErrorContains(t, err, "address already in use")
}

func TestServerLoggerHushes(t *testing.T) {
	t.Parallel()
	var said strings.Builder
	log := newServerLogger(t.Context(), slog.New(slog.NewTextHandler(&said, nil)))
	log.Info("not this")
	log.Warn("but this")
	log.hush()
	log.With().Error("not this either")
	require.Contains(t, said.String(), "but this")
	require.NotContains(t, said.String(), "not this")
}
