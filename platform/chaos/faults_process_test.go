package chaos_test

import (
	"context"
	"math/rand/v2"
	"syscall"
)

// processFaults happen to the platform's processes, which are started again
// whenever they end.
func processFaults() []fault {
	signal := func(
		of func(*site) []*process, sent syscall.Signal,
	) func(*site, context.Context, *rand.Rand) (func() error, error) {
		return func(s *site, _ context.Context, dice *rand.Rand) (func() error, error) {
			all := of(s)
			p := all[dice.IntN(len(all))]
			p.signal(sent)
			if sent == syscall.SIGSTOP {
				return func() error { p.signal(syscall.SIGCONT); return nil }, nil
			}
			return nil, nil
		}
	}
	servers, workers := func(s *site) []*process { return s.servers }, func(s *site) []*process { return s.workers }
	return []fault{
		{"server killed", signal(servers, syscall.SIGKILL)},
		{"server restarted", signal(servers, syscall.SIGTERM)},
		{"server frozen", signal(servers, syscall.SIGSTOP)},
		{"worker killed", signal(workers, syscall.SIGKILL)},
		{"worker restarted", signal(workers, syscall.SIGTERM)},
		{"worker frozen", signal(workers, syscall.SIGSTOP)},
	}
}
