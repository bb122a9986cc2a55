package bench

import "time"

// Size says how much is measured.
type Size struct {
	Rounds int // Rounds that count; one more warms up.

	Loops   int // Agent loops, or chains, of a round, AtOnce of them at a time.
	AtOnce  int
	Alone   int // Loops of a round that run one at a time.
	Turns   int // Turns of an agent loop, calls of a chain.
	Fans    int // Fan-outs of a round.
	Growth  []int
	Window  int // Turns that are compared, at the beginning and at the end of the longest loop.
	Micro   time.Duration
	Tenants int
	Tools   []int
	Lookups int // Of each kind in the registry.
	Backlog int // Calls that the noisy tenant has queued.
	Probes  int // Calls of the quiet tenant.
	Starts  int // Warm starts of toolcrib dev.
	Largest int // Tools of the tenant that has the most.
	Listed  int // Tools that an MCP client lists.
	Waiting int // Runs that wait.
	Settle  time.Duration
	// Overload is how long calls are asked for at more than can be served.
	Overload time.Duration
}

// Full is what the figures of docs/performance.md are measured with.
func Full() Size {
	return Size{
		Rounds: 5, Loops: 48, AtOnce: 16, Alone: 10, Turns: 10, Fans: 5,
		Growth: []int{10, 100, 400}, Window: 20, Micro: time.Second,
		Tenants: 10_000, Tools: []int{10_000, 1_000_000}, Lookups: 3000, Largest: 5000, Listed: 10_000,
		Backlog: 10_000, Probes: 60, Starts: 5, Waiting: 10_000, Settle: time.Minute, Overload: 20 * time.Second,
	}
}

// Quick takes a minute or two: enough to see that everything still works and
// where it stands, too little to compare.
func Quick() Size {
	return Size{
		Rounds: 1, Loops: 16, AtOnce: 16, Alone: 2, Turns: 10, Fans: 2,
		Growth: []int{10, 40}, Window: 8, Micro: 100 * time.Millisecond,
		Tenants: 100, Tools: []int{1000, 20_000}, Lookups: 300, Largest: 500, Listed: 1000,
		Backlog: 300, Probes: 10, Starts: 1, Waiting: 200, Settle: 5 * time.Second, Overload: 2 * time.Second,
	}
}
