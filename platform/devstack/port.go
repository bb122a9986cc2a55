package devstack

import (
	"context"
	"fmt"
	"net"
	"strconv"
)

const loopback = "127.0.0.1"

// choosePort returns preferred if nobody listens there, else a free port. The
// port is free at this moment only: who listens later must be ready to choose
// again.
func choosePort(ctx context.Context, preferred int) (int, error) {
	if preferred > 0 {
		if port, err := tryPort(ctx, preferred); err == nil {
			return port, nil
		}
	}
	port, err := tryPort(ctx, 0)
	if err != nil {
		return 0, fmt.Errorf("finding a free port: %w", err)
	}
	return port, nil
}

// choosePorts returns n free ports, all different.
func choosePorts(ctx context.Context, n int) ([]int, error) {
	ports := make([]int, n)
	for i := range ports {
		l, err := listen(ctx, 0)
		if err != nil {
			return nil, fmt.Errorf("finding a free port: %w", err)
		}
		defer l.Close() // Held until all are chosen, so that no two are the same.
		if ports[i], err = portOf(l); err != nil {
			return nil, err
		}
	}
	return ports, nil
}

func tryPort(ctx context.Context, port int) (int, error) {
	l, err := listen(ctx, port)
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return portOf(l)
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
