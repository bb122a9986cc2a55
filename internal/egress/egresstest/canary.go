package egresstest

import (
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
)

// Canary listens at an address that must not be reached, and counts
// connections.
type Canary struct {
	Addr  string // Host and port.
	calls atomic.Int64
}

// NewCanary returns a canary on an address of this machine, such as
// "127.0.0.1:0". It skips the test where the machine has none of the network.
func NewCanary(tb testing.TB, network, addr string) *Canary {
	tb.Helper()
	ln, err := (&net.ListenConfig{}).Listen(tb.Context(), network, addr)
	if err != nil {
		tb.Skipf("this machine has no %s: %v", addr, err)
	}
	c := &Canary{Addr: ln.Addr().String()}
	var done sync.WaitGroup
	done.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			c.calls.Add(1)
			_ = conn.Close()
		}
	})
	tb.Cleanup(func() { _ = ln.Close(); done.Wait() })
	return c
}

// Port returns the port that c listens on.
func (c *Canary) Port() uint16 { return netip.MustParseAddrPort(c.Addr).Port() }

// Calls returns how many connections c has seen.
func (c *Canary) Calls() int64 { return c.calls.Load() }
