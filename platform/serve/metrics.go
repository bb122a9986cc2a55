package serve

import (
	"context"
	"net"
	"net/http"

	"github.com/toolcrib/toolcrib/platform/dev/ports"
	"github.com/toolcrib/toolcrib/platform/observe"
	"github.com/toolcrib/toolcrib/platform/observe/probe"
	"github.com/toolcrib/toolcrib/tool"
)

// Listen opens an address. It fails with tool.Unavailable.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, &tool.Error{Kind: tool.Unavailable, Op: "serve.Listen", Msg: ports.Refusal(ctx, address, err), Err: err}
	}
	return listener, nil
}

// Local reports whether a listener accepts connections from this machine only.
func Local(l net.Listener) bool {
	addr, ok := l.Addr().(*net.TCPAddr)
	return ok && addr.IP.IsLoopback()
}

// MetricsHandler serves /metrics, /healthz and /readyz, for a listener of their
// own. They need no key.
func MetricsHandler(o *observe.Observer, p *probe.Prober) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", o.Handler())
	p.Register(mux)
	return mux
}
