package embedded

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"strconv"

	"github.com/toolcrib/toolcrib/platform/dev/ports"
)

const loopback = "127.0.0.1"

// wish is the preferred port of a service.
type wish struct {
	service string
	port    int  // [AnyPort] where all are alike.
	fixed   bool // No other will do.
}

// choose returns the wanted port if no process listens there, else a free one,
// or a [*PortTakenError] if the port is fixed. The port is free at this moment
// only: a caller that listens later must be ready to choose again.
func (w wish) choose(ctx context.Context) (int, error) {
	l, err := w.listen(ctx)
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return portOf(l)
}

// listen is [wish.choose] for a caller that listens at once.
func (w wish) listen(ctx context.Context) (net.Listener, error) {
	if w.port > 0 {
		l, err := listen(ctx, w.port)
		if err == nil {
			return l, nil
		}
		if w.fixed {
			return nil, &PortTakenError{Service: w.service, Port: w.port, By: ports.Holder(ctx, w.port)}
		}
	}
	return listenAnywhere(ctx)
}

// tell logs that a service got another port than the one it wanted.
func (w wish) tell(ctx context.Context, log *slog.Logger, got int) {
	if w.port <= 0 || w.port == got {
		return
	}
	log.WarnContext(ctx, "the usual port is taken, and another is used", slog.String("service", w.service),
		slog.Int("port", w.port), slog.String("taken_by", ports.Holder(ctx, w.port).String()), slog.Int("used", got))
}

// choosePorts returns n free ports, all different.
func choosePorts(ctx context.Context, n int) ([]int, error) {
	chosen := make([]int, n)
	for i := range chosen {
		l, err := listenAnywhere(ctx)
		if err != nil {
			return nil, err
		}
		defer l.Close() // Held until all are chosen, so that no two are the same.
		if chosen[i], err = portOf(l); err != nil {
			return nil, err
		}
	}
	return chosen, nil
}

// Ports of this range are not used for outgoing connections by any system we
// know, and are above the well-known ports. A port that the kernel chooses
// could be taken by another program's connection a moment later.
const (
	firstPort = 11_000
	lastPort  = 32_000
)

// listenAnywhere listens on a free port.
func listenAnywhere(ctx context.Context) (net.Listener, error) {
	for range 20 {
		port := firstPort + rand.N(lastPort-firstPort) //nolint:gosec // No secret.
		if l, err := listen(ctx, port); err == nil {
			return l, nil
		}
	}
	l, err := listen(ctx, 0)
	if err != nil {
		return nil, fmt.Errorf("finding a free port: %w", err)
	}
	return l, nil
}

func listen(ctx context.Context, port int) (net.Listener, error) {
	var lc net.ListenConfig
	return lc.Listen(ctx, "tcp4", address(port))
}

func portOf(l net.Listener) (int, error) {
	addr, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		return 0, fmt.Errorf("listening on %v, not on TCP", l.Addr())
	}
	return addr.Port, nil
}

func address(port int) string {
	return net.JoinHostPort(loopback, strconv.Itoa(port))
}
