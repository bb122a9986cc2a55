package chaos_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	platformclient "github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/tool"
)

// Whatever happens to processes, connections, statements, methods, locks,
// clocks and disks: when it is over, everything that was accepted has ended,
// once, and all records agree.
func TestNemesis(t *testing.T) {
	t.Parallel()
	seed := *seedFlag
	if seed == 0 {
		seed = 1
		if *timeFlag > 0 {
			seed = rand.Uint64()
		}
	}
	t.Logf("play it again with -seed %d", seed)
	s := newSite(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var drivers sync.WaitGroup
	for i := range 4 {
		drivers.Go(func() { s.drive(ctx, rand.New(rand.NewPCG(seed, uint64(i)))) })
	}
	n := &nemesis{site: s, done: make(map[string]int)}
	n.play(ctx, rand.New(rand.NewPCG(seed, 100)), *timeFlag)
	stop()
	drivers.Wait()
	for slug := range httpTools {
		s.enable(slug)
	}
	t.Logf("faults: %s", n)
	s.check()
}

// enable makes a tool available again, once the servers are back.
func (s *site) enable(slug string) {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		_, err := s.clients[0].SetTool(s.t.Context(), slug, platformclient.Enable)
		return err == nil || tool.KindOf(err) == tool.Conflict // It is.
	}, patience, 200*time.Millisecond)
}

// fault is a kind of fault. begin makes it happen and returns what ends it; it
// returns nil for what is over at once, and an error where there was nothing it
// could happen to.
type fault struct {
	name  string
	begin func(s *site, ctx context.Context, dice *rand.Rand) (end func() error, err error)
}

// nemesis makes faults happen and counts them.
type nemesis struct {
	*site
	mu   sync.Mutex
	done map[string]int
}

// String lists how many times each fault happened.
func (n *nemesis) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(n.done)) {
		parts = append(parts, fmt.Sprintf("%s × %d", name, n.done[name]))
	}
	return strings.Join(parts, ", ")
}

// play makes every kind of fault happen once, in the seed's order, and goes on
// until the time is over. Two of them happen at a time.
func (n *nemesis) play(ctx context.Context, dice *rand.Rand, length time.Duration) {
	deadline := time.Now().Add(length)
	deck := make(chan fault)
	var players sync.WaitGroup
	for range 2 {
		own := rand.New(rand.NewPCG(dice.Uint64(), dice.Uint64()))
		players.Go(func() {
			for f := range deck {
				n.make(ctx, own, f)
			}
		})
	}
	all := faults()
	for first := true; first || time.Now().Before(deadline); first = false {
		dice.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for _, f := range all {
			if !first && time.Now().After(deadline) {
				break
			}
			deck <- f
		}
	}
	close(deck)
	players.Wait()
}

// make makes one fault happen, lets it last, and ends it.
func (n *nemesis) make(ctx context.Context, dice *rand.Rand, f fault) {
	longest := 900
	if *timeFlag > 0 {
		longest = 6000
	}
	end, err := f.begin(n.site, ctx, dice)
	if err != nil {
		n.t.Logf("%s: %v", f.name, err)
		return
	}
	n.mu.Lock()
	n.done[f.name]++
	n.mu.Unlock()
	if end != nil {
		time.Sleep(time.Duration(100+dice.IntN(longest)) * time.Millisecond)
		if err := end(); err != nil {
			n.t.Errorf("ending %q: %v", f.name, err)
		}
	}
	time.Sleep(time.Duration(50+dice.IntN(longest/3)) * time.Millisecond)
}

// faults returns every kind of fault.
func faults() []fault {
	return slices.Concat(networkFaults(), statementFaults(), databaseFaults(), frontendFaults(), processFaults(),
		workflowFaults(),
		[]fault{{"upstream answers 503", func(s *site, _ context.Context, _ *rand.Rand) (func() error, error) {
			s.upstream.setDown(true)
			return func() error { s.upstream.setDown(false); return nil }, nil
		}}})
}
