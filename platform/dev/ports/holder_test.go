package ports_test

import (
	"net"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/dev/ports"
)

func TestHolder(t *testing.T) {
	t.Parallel()
	for _, network := range []string{"tcp4", "tcp"} {
		l, err := net.Listen(network, ":0")
		require.NoError(t, err)
		defer l.Close()
		address, ok := l.Addr().(*net.TCPAddr)
		require.True(t, ok)
		require.True(t, ports.Listening(t.Context(), address.Port))
		holder := ports.Holder(t.Context(), address.Port)
		require.Equal(t, os.Getpid(), holder.PID)
		require.Contains(t, holder.String(), holder.Name)
	}
	require.False(t, ports.Listening(t.Context(), 1))
	require.Equal(t, ports.Process{}, ports.Holder(t.Context(), 1))
	require.Equal(t, "another process", ports.Process{}.String())
}

func TestParent(t *testing.T) {
	t.Parallel()
	require.Equal(t, os.Getppid(), ports.Parent(t.Context(), ports.Process{PID: os.Getpid()}).PID)
	require.Equal(t, ports.Process{}, ports.Parent(t.Context(), ports.Process{}))
}
