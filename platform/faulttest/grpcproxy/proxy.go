package grpcproxy

import (
	"context"
	"fmt"
	"math"
	"net"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// Proxy forwards calls to one server. Its methods may be called concurrently.
type Proxy struct {
	listener net.Listener
	server   *grpc.Server
	upstream *grpc.ClientConn
	wg       sync.WaitGroup

	mu     sync.Mutex
	faults []*Injection
}

// Start listens on a free loopback port and forwards to target, a host and
// port without TLS.
func Start(target string) (*Proxy, error) {
	upstream, err := grpc.NewClient("passthrough:///"+target,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(
			grpc.ForceCodecV2(codec{}), grpc.MaxCallRecvMsgSize(math.MaxInt32), grpc.MaxCallSendMsgSize(math.MaxInt32)))
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", target, err)
	}
	var lc net.ListenConfig
	listener, err := lc.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		_ = upstream.Close()
		return nil, fmt.Errorf("listening: %w", err)
	}
	p := &Proxy{listener: listener, upstream: upstream}
	p.server = grpc.NewServer(
		grpc.ForceServerCodecV2(codec{}), grpc.UnknownServiceHandler(p.forward),
		grpc.MaxRecvMsgSize(math.MaxInt32), grpc.MaxSendMsgSize(math.MaxInt32),
		// Clients of Temporal ping more often than gRPC's servers allow by default.
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: time.Second, PermitWithoutStream: true}))
	p.wg.Go(func() { _ = p.server.Serve(listener) })
	return p, nil
}

// Address returns the host and port that clients connect to.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Close ends every call and stops listening.
func (p *Proxy) Close() {
	p.server.Stop()
	_ = p.upstream.Close()
	p.wg.Wait()
}

// forward serves one call of any method.
func (p *Proxy) forward(_ any, stream grpc.ServerStream) error {
	ctx := stream.Context()
	method, ok := grpc.MethodFromServerStream(stream)
	if !ok {
		return status.Error(codes.Internal, "no method")
	}
	var in, out message
	if err := stream.RecvMsg(&in); err != nil {
		return err
	}
	name := method[strings.LastIndexByte(method, '/')+1:]
	fault := p.strike(name)
	if err := fault.before(ctx, name); err != nil {
		return err
	}
	if md, ok := metadata.FromIncomingContext(ctx); ok {
		ctx = metadata.NewOutgoingContext(ctx, endToEnd(md))
	}
	var header, trailer metadata.MD
	err := p.upstream.Invoke(ctx, method, &in, &out, grpc.Header(&header), grpc.Trailer(&trailer))
	if err := fault.after(ctx, name); err != nil {
		return err
	}
	stream.SetTrailer(endToEnd(trailer))
	if err != nil {
		return err
	}
	if err := stream.SetHeader(endToEnd(header)); err != nil {
		return err
	}
	return stream.SendMsg(&out)
}

// endToEnd returns the metadata that concern the two ends, without what belongs
// to one connection.
func endToEnd(md metadata.MD) metadata.MD {
	out := md.Copy()
	for key := range out {
		if strings.HasPrefix(key, ":") || strings.HasPrefix(key, "grpc-") && key != "grpc-status-details-bin" ||
			key == "content-type" {
			delete(out, key)
		}
	}
	return out
}

// pause waits, or returns why it cannot.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return status.FromContextError(ctx.Err()).Err()
	}
}
