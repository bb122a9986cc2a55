package chaos_test

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/dev/embedded"
)

// backend is a Temporal server of the test's own, which can be restarted if it has a folder.
type backend struct {
	cfg    embedded.TemporalConfig
	server *embedded.Temporal
}

func newBackend(t *testing.T, dir string) *backend {
	t.Helper()
	b := &backend{cfg: embedded.TemporalConfig{Dir: dir, Port: embedded.AnyPort, Headless: true, Logger: quiet()}}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var err error
	b.server, err = embedded.StartTemporal(ctx, b.cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = b.server.Stop(context.Background()) })
	_, port, err := net.SplitHostPort(b.server.Address())
	require.NoError(t, err)
	b.cfg.Port, err = strconv.Atoi(port)
	require.NoError(t, err)
	b.cfg.PortFixed = true // The proxy knows it.
	return b
}

// restart stops the server, lets something happen, and starts it again.
func (b *backend) restart(ctx context.Context, meanwhile func()) error {
	if err := b.server.Stop(ctx); err != nil {
		return err
	}
	meanwhile()
	server, err := embedded.StartTemporal(ctx, b.cfg)
	if err != nil {
		return fmt.Errorf("starting Temporal again: %w", err)
	}
	b.server = server
	return nil
}
