package bench

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/platform/serve"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

const (
	overloadFactor  = 5  // How much more is asked for than can be answered.
	requestsPerLoop = 4  // Requests that the server takes at once, for each loop of the other benchmarks.
	refusalInMS     = 50 // What a refusal may take.
)

// overload finds how many calls a second the API answers, and then asks for five times as many: what
// it answers then, and how soon it refuses the rest.
func overload(ctx context.Context, l *lab) ([]Figure, error) {
	s, err := l.newSite(ctx, "bench-overload")
	if err != nil {
		return nil, err
	}
	if err := s.publish(ctx, s.principal, advanceFunction); err != nil {
		return nil, err
	}
	atOnce := requestsPerLoop * l.size.AtOnce
	url, err := s.serveAPI(ctx, atOnce)
	if err != nil {
		return nil, err
	}
	caller, err := s.apiClient(ctx, url, s.principal.Tenant, store.Limits{})
	if err != nil {
		return nil, err
	}
	call := callOf(caller)
	if _, err := closedLoop(ctx, atOnce, l.size.Overload/4, call); err != nil {
		return nil, err
	}
	l.progress("%d callers, each after its answer", atOnce)
	peak, err := closedLoop(ctx, atOnce, l.size.Overload, call)
	if err != nil {
		return nil, err
	}
	l.progress("%.0f calls a second, of which it answers %.0f", peak*overloadFactor, peak)
	flood := openLoop(ctx, peak*overloadFactor, l.size.Overload, call)
	if len(flood.failed) > 0 {
		return nil, fmt.Errorf("%d calls failed otherwise than by a refusal: %w", len(flood.failed), flood.failed[0])
	}
	var attempts, calls int
	if err := s.pool.QueryRow(ctx, "select coalesce(sum(attempt), 0), count(*) from tool_invocations").
		Scan(&attempts, &calls); err != nil {
		return nil, fmt.Errorf("counting attempts: %w", err)
	}
	goodput := float64(len(flood.answered)) / l.size.Overload.Seconds()
	slices.Sort(flood.refused)
	slices.Sort(flood.answered)
	return []Figure{
		Figure{
			Name: "overload_goodput", Unit: "calls/s", Ratio: goodput / peak, Ours: goodput, Floor: peak, N: len(flood.answered),
			P50: ms(percentile(flood.answered, 0.5)), P99: ms(percentile(flood.answered, 0.99)),
			Note: fmt.Sprintf("calls over HTTP at %d times the peak, %d at once; the floor is the peak; %.2f attempts a call",
				overloadFactor, atOnce, float64(attempts)/float64(max(calls, 1))),
		}.aimed(atLeast(0.9)),
		Figure{
			Name: "overload_refusals", Unit: "ms", Ours: ms(percentile(flood.refused, 0.99)), N: len(flood.refused),
			P50: ms(percentile(flood.refused, 0.5)), P99: ms(percentile(flood.refused, 0.99)),
			Note: "refusals meanwhile; each says when to come again",
		}.aimed(bound{of: "p99", value: p99Of, most: true, limit: refusalInMS, unit: "ms"}),
	}, nil
}

// serveAPI serves the site's API, and takes that many requests at once; zero for as many as by default.
func (s *site) serveAPI(ctx context.Context, requests int) (string, error) {
	handler, err := serve.Handler(ctx, serve.HandlerConfig{
		Store: s.Store, Temporal: s.temporal, Namespace: s.lab.temporal.Namespace(), TaskQueue: s.queue, Runs: s.starts,
		MaxRequests: requests, MaxTenantRequests: requests, Logger: s.lab.cfg.Logger,
	})
	if err != nil {
		return "", err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("listening: %w", err)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }()
	s.lab.later(func(context.Context) error { return server.Close() })
	return "http://" + listener.Addr().String(), nil
}

// apiClient makes a key of a tenant, and a client with it.
func (s *site) apiClient(
	ctx context.Context, url string, tenant tool.TenantID, limits store.Limits,
) (*client.Client, error) {
	_, text, err := s.CreateKey(ctx, store.Key{
		Tenant: tenant, Name: "bench", Permissions: []string{"*"}, CreatedBy: "bench", Limits: limits,
	})
	if err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	c, err := client.New(client.Config{Server: url, Key: text})
	if err != nil {
		return nil, err
	}
	s.lab.later(func(context.Context) error { c.Close(); return nil })
	return c, nil
}

// closedLoop has callers make calls one after the other for a time, and returns how many they made
// each second together.
func closedLoop(
	ctx context.Context, callers int, lasts time.Duration, call func(context.Context) error,
) (float64, error) {
	group, ctx := errgroup.WithContext(ctx)
	began := time.Now()
	made := make([]int, callers)
	for i := range callers {
		group.Go(func() error {
			for time.Since(began) < lasts {
				if err := call(ctx); err != nil {
					return err
				}
				made[i]++
			}
			return nil
		})
	}
	err := group.Wait()
	all := 0
	for _, n := range made {
		all += n
	}
	return float64(all) / time.Since(began).Seconds(), err
}

// flood is what became of calls that were made without regard to their answers.
type flood struct {
	answered, refused []time.Duration
	failed            []error
}

// openLoop makes calls at a rate for a time, whether others were answered or not.
func openLoop(ctx context.Context, rate float64, lasts time.Duration, call func(context.Context) error) flood {
	var (
		all flood
		mu  sync.Mutex
		out sync.WaitGroup
	)
	began := time.Now()
	for made := 0; ; made++ {
		due := began.Add(time.Duration(float64(made) / rate * float64(time.Second)))
		if due.Sub(began) >= lasts {
			break
		}
		time.Sleep(time.Until(due))
		out.Go(func() {
			began := time.Now()
			err := call(ctx)
			took := time.Since(began)
			mu.Lock()
			defer mu.Unlock()
			switch refused := new(tool.Error); {
			case err == nil:
				all.answered = append(all.answered, took)
			case errors.As(err, &refused) && refused.RetryAfter > 0:
				all.refused = append(all.refused, took)
			default:
				all.failed = append(all.failed, err)
			}
		})
	}
	out.Wait()
	return all
}
