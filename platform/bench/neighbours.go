package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

const (
	neighbourTenants = 4
	neighbourRate    = 5   // Calls a second of each of them.
	loudLimit        = 10  // Requests a second that the loud key may send.
	loudFactor       = 100 // How much more it sends.
	fairTimes        = 1.5
)

// neighbours has tenants call tools over HTTP at a steady rate, first alone and then beside a key that
// sends a hundred times what it may.
func neighbours(ctx context.Context, l *lab) ([]Figure, error) {
	s, err := l.newSite(ctx, "bench-neighbours")
	if err != nil {
		return nil, err
	}
	url, err := s.serveAPI(ctx, 0)
	if err != nil {
		return nil, err
	}
	loud, err := s.neighbour(ctx, url, "loud", store.Limits{RequestsPerSecond: loudLimit, Burst: loudLimit})
	if err != nil {
		return nil, err
	}
	quiet := make([]call, neighbourTenants)
	for i := range quiet {
		if quiet[i], err = s.neighbour(ctx, url, fmt.Sprintf("quiet-%d", i), store.Limits{}); err != nil {
			return nil, err
		}
	}
	if _, _, err := together(ctx, quiet, l.size.Overload/4); err != nil {
		return nil, err
	}
	l.progress("%d tenants with %d calls a second each", neighbourTenants, neighbourRate)
	alone, _, err := together(ctx, quiet, l.size.Overload)
	if err != nil {
		return nil, err
	}
	l.progress("beside %d requests a second of a key that may send %d", loudLimit*loudFactor, loudLimit)
	var shouted flood
	var shouting sync.WaitGroup
	shouting.Go(func() { shouted = openLoop(ctx, loudLimit*loudFactor, l.size.Overload, loud) })
	beside, fairness, err := together(ctx, quiet, l.size.Overload)
	shouting.Wait()
	if err := errors.Join(append(shouted.failed, err)...); err != nil {
		return nil, err
	}
	p99 := func(d []time.Duration) float64 { return ms(percentile(d, 0.99)) }
	return []Figure{Figure{
		Name: "neighbours_p99", Unit: "ms", Ratio: p99(beside) / p99(alone), Ours: p99(beside), Floor: p99(alone),
		P50: ms(percentile(beside, 0.5)), P99: p99(beside), N: len(beside),
		Note: fmt.Sprintf("p99 of %d tenants' calls over HTTP, none refused, beside a key that sends %d requests a second "+
			"and may send %d (%d answered, %d refused); the floor is without it, p50 %.0f ms; fairness index %.3f",
			neighbourTenants, loudLimit*loudFactor, loudLimit, len(shouted.answered), len(shouted.refused),
			ms(percentile(alone, 0.5)), fairness),
	}.aimed(atMost(fairTimes))}, nil
}

// call makes one call of a tool.
type call = func(context.Context) error

// neighbour makes a tenant with the tool, and a key with limits, and returns how it calls the tool.
func (s *site) neighbour(ctx context.Context, url, slug string, limits store.Limits) (call, error) {
	p, err := s.newTenant(ctx, "bench-"+slug)
	if err != nil {
		return nil, err
	}
	if err := s.publish(ctx, p, advanceFunction); err != nil {
		return nil, err
	}
	c, err := s.apiClient(ctx, url, p.Tenant, limits)
	if err != nil {
		return nil, err
	}
	return callOf(c), nil
}

// callOf returns how a client calls the tool of the loops.
func callOf(c *client.Client) call {
	return func(ctx context.Context) error {
		_, err := c.CallTool(ctx, toolName(advanceFunction, tool.LaneFast), v1.NewCall{
			Arguments: json.RawMessage(`{"number":1,"text":"a"}`),
		})
		return err
	}
}

// together has tenants make calls at the same rate for a time. It returns how long they took, sorted, and
// how evenly they were served (Jain's index: 1 where all were alike).
func together(ctx context.Context, tenants []call, lasts time.Duration) ([]time.Duration, float64, error) {
	floods := make([]flood, len(tenants))
	var all sync.WaitGroup
	for i, call := range tenants {
		all.Go(func() { floods[i] = openLoop(ctx, neighbourRate, lasts, call) })
	}
	all.Wait()
	var took []time.Duration
	var sum, squares float64
	for _, f := range floods {
		if len(f.failed) > 0 || len(f.refused) > 0 {
			return nil, 0, fmt.Errorf("of a tenant within its limits, %d calls were refused and %d failed: %w",
				len(f.refused), len(f.failed), errors.Join(f.failed...))
		}
		took = append(took, f.answered...)
		n := float64(len(f.answered))
		sum, squares = sum+n, squares+n*n
	}
	slices.Sort(took)
	return took, sum * sum / (float64(len(tenants)) * squares), nil
}
