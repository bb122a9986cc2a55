package grpcproxy_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/toolcrib/toolcrib/platform/faulttest/grpcproxy"
)

// counter is a server that counts its calls.
type counter struct {
	grpc_health_v1.UnimplementedHealthServer
	calls atomic.Int64
}

func (c *counter) Check(
	ctx context.Context, in *grpc_health_v1.HealthCheckRequest,
) (*grpc_health_v1.HealthCheckResponse, error) {
	c.calls.Add(1)
	if in.GetService() == "missing" {
		return nil, status.Error(codes.NotFound, "no such service")
	}
	if md, _ := metadata.FromIncomingContext(ctx); len(md.Get("tag")) > 0 {
		_ = grpc.SetTrailer(ctx, metadata.Pairs("tag", md.Get("tag")[0]))
	}
	return &grpc_health_v1.HealthCheckResponse{Status: grpc_health_v1.HealthCheckResponse_SERVING}, nil
}

func newBench(t *testing.T) (*grpcproxy.Proxy, *counter, grpc_health_v1.HealthClient) {
	t.Helper()
	var lc net.ListenConfig
	listener, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server, counted := grpc.NewServer(), &counter{}
	grpc_health_v1.RegisterHealthServer(server, counted)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	proxy, err := grpcproxy.Start(listener.Addr().String())
	require.NoError(t, err)
	t.Cleanup(proxy.Close)
	cc, err := grpc.NewClient(proxy.Address(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() { _ = cc.Close() })
	return proxy, counted, grpc_health_v1.NewHealthClient(cc)
}

func TestCallsPassThrough(t *testing.T) {
	t.Parallel()

	_, _, client := newBench(t)
	var trailer metadata.MD
	out, err := client.Check(metadata.AppendToOutgoingContext(t.Context(), "tag", "x"),
		&grpc_health_v1.HealthCheckRequest{}, grpc.Trailer(&trailer))
	require.NoError(t, err)
	require.Equal(t, grpc_health_v1.HealthCheckResponse_SERVING, out.GetStatus())
	require.Equal(t, []string{"x"}, trailer.Get("tag"))
	_, err = client.Check(t.Context(), &grpc_health_v1.HealthCheckRequest{Service: "missing"})
	require.Equal(t, codes.NotFound, status.Code(err))
}

func TestFaultsHappenBeforeAndAfter(t *testing.T) {
	t.Parallel()

	for effect, want := range map[grpcproxy.Effect]struct {
		code  codes.Code
		calls int64
	}{
		grpcproxy.FailBefore: {codes.Unavailable, 0},
		grpcproxy.FailAfter:  {codes.Unavailable, 1},
		grpcproxy.Hang:       {codes.DeadlineExceeded, 0},
		grpcproxy.HangAfter:  {codes.DeadlineExceeded, 1},
		grpcproxy.Delay:      {codes.OK, 1},
	} {
		t.Run(string(effect), func(t *testing.T) {
			t.Parallel()

			proxy, counted, client := newBench(t)
			proxy.Inject(grpcproxy.Fault{Method: "Watch", Effect: grpcproxy.FailBefore})
			fault := proxy.Inject(grpcproxy.Fault{Method: "Check", Effect: effect, Times: 1, Pause: 20 * time.Millisecond})
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := client.Check(ctx, &grpc_health_v1.HealthCheckRequest{})
			require.Equal(t, want.code, status.Code(err), "%v", err)
			require.Equal(t, want.calls, counted.calls.Load())
			require.Equal(t, 1, fault.Hits())
			_, err = client.Check(t.Context(), &grpc_health_v1.HealthCheckRequest{})
			require.NoError(t, err, "a fault happens as often as it says")
		})
	}
}

func TestCancelledFaultLetsGo(t *testing.T) {
	t.Parallel()

	proxy, _, client := newBench(t)
	fault := proxy.Inject(grpcproxy.Fault{Effect: grpcproxy.Hang})
	done := make(chan error, 1)
	go func() {
		_, err := client.Check(t.Context(), &grpc_health_v1.HealthCheckRequest{})
		done <- err
	}()
	require.Eventually(t, func() bool { return fault.Hits() == 1 }, time.Minute, time.Millisecond)
	fault.Cancel()
	require.Equal(t, codes.Unavailable, status.Code(<-done))
	_, err := client.Check(t.Context(), &grpc_health_v1.HealthCheckRequest{})
	require.NoError(t, err)
}
