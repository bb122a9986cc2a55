package egress

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSealedConnectionIsSilent proves that what was judged unsent stays so.
func TestSealedConnectionIsSilent(t *testing.T) {
	t.Parallel()

	client, server := net.Pipe()
	t.Cleanup(func() { _, _ = client.Close(), server.Close() })
	c := &conn{Conn: client}
	require.False(t, c.seal(c.mark()))
	n, err := c.Write([]byte("late"))
	require.Zero(t, n)
	require.ErrorIs(t, err, net.ErrClosed)
}
