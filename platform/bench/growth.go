package bench

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// growth runs loops of growing length, one alone, and compares the turns at
// their beginning with those at their end, and what they leave in the history.
func growth(ctx context.Context, l *lab) ([]Figure, error) {
	s, err := l.newSite(ctx, "bench-growth")
	if err != nil {
		return nil, err
	}
	for _, fn := range []string{advanceFunction, expoundFunction} {
		if err := s.publish(ctx, s.principal, fn); err != nil {
			return nil, err
		}
	}
	hand, err := s.handGrowth(ctx)
	if err != nil {
		return nil, err
	}
	var figures []Figure
	for _, lane := range lanes {
		loops, err := s.grow(ctx, advanceFunction, lane)
		if err != nil {
			return nil, err
		}
		large, err := s.grow(ctx, expoundFunction, lane)
		if err != nil {
			return nil, err
		}
		figures = append(figures, growthFigures(lane, loops, large, hand, l.size.Window)...)
	}
	return figures, nil
}

// grown is one loop that ran alone.
type grown struct {
	turns int
	each  []time.Duration // Of each turn but the first.
	bytes int64           // Of the history.
	runs  int             // Executions in its chain.
}

// first and last are the middle turn of a window at the beginning, once the
// loop is under way, and at the end.
func (g grown) first(window int) time.Duration {
	from := min(4, len(g.each)/4)
	return middle(g.each[from:min(from+window, len(g.each))])
}

func (g grown) last(window int) time.Duration { return middle(g.each[max(0, len(g.each)-window):]) }

func middle(d []time.Duration) time.Duration { return percentile(slices.Sorted(slices.Values(d)), 0.5) }

// grow runs a loop of each length in a lane. Each is checked by its model.
func (s *site) grow(ctx context.Context, fn string, lane tool.Lane) ([]grown, error) {
	lengths := s.lab.size.Growth
	if fn != advanceFunction {
		lengths = lengths[:min(2, len(lengths))]
	}
	var all []grown
	for _, turns := range lengths {
		s.lab.progress("a loop of %d turns, %s, %s", turns, lane, fn)
		a, err := s.agent(ctx, fn, strconv.Itoa(turns), turns, lane)
		if err != nil {
			return nil, err
		}
		g, err := s.growOne(ctx, a, lane, turns)
		if err != nil {
			return nil, err
		}
		all = append(all, g)
	}
	return all, nil
}

func (s *site) growOne(ctx context.Context, a agent.Agent, lane tool.Lane, turns int) (grown, error) {
	s.asked.take()
	w, err := s.run(ctx, a, turns, turns)
	if err != nil {
		return grown{}, err
	}
	h, err := s.history(ctx, w)
	if err != nil {
		return grown{}, err
	}
	return grown{turns: turns, each: between(s.asked.take()), bytes: h.bytes, runs: h.runs}, h.checkLane(lane, turns)
}

func (s *site) handGrowth(ctx context.Context) ([]grown, error) {
	var all []grown
	for _, turns := range s.lab.size.Growth {
		s.lab.progress("a hand-written loop of %d turns", turns)
		s.asked.take()
		w, err := s.temporal.ExecuteWorkflow(ctx, s.options("hand/"+uuid.NewString()), handLoop, loopInput{
			Turns: turns, Model: true, Step: regularStep,
		})
		if err != nil {
			return nil, fmt.Errorf("starting a hand-written loop: %w", err)
		}
		var got int
		if err := w.Get(ctx, &got); err != nil {
			return nil, fmt.Errorf("running a hand-written loop: %w", err)
		}
		if got != turns {
			return nil, fmt.Errorf("a hand-written loop of %d turns counted to %d", turns, got)
		}
		h, err := s.history(ctx, w)
		if err != nil {
			return nil, err
		}
		all = append(all, grown{turns: turns, each: between(s.asked.take()), bytes: h.bytes, runs: h.runs})
	}
	return all, nil
}

func between(at []time.Time) []time.Duration {
	var each []time.Duration
	for i := range len(at) - 1 {
		each = append(each, at[i+1].Sub(at[i]))
	}
	return each
}

func growthFigures(lane tool.Lane, loops, large, hand []grown, window int) []Figure {
	var figures []Figure
	for i, g := range loops {
		first, last := g.first(window), g.last(window)
		f := Figure{
			Name: fmt.Sprintf("turn_%d_%s", g.turns, lane), Unit: "ms/turn", Ratio: float64(last) / float64(first),
			Ours: ms(last), Floor: ms(first), P50: ms(middle(g.each)), N: len(g.each),
			Note: fmt.Sprintf("ours: the last turns of the loop, floor: its first; hand-written %.1f → %.1f; %d executions",
				ms(hand[i].first(window)), ms(hand[i].last(window)), g.runs),
		}
		if i == len(loops)-1 {
			f = f.aimed(atMost(1.05))
		}
		figures = append(figures, f)
	}
	return append(figures,
		bytesPerTurn("history_per_turn_"+string(lane), loops, hand, "answers of 200 bytes"),
		bytesPerTurn("history_per_turn_large_"+string(lane), large, hand, "answers of 8 KB"))
}

// bytesPerTurn is by how much a turn more makes the history larger.
func bytesPerTurn(name string, ours, hand []grown, note string) Figure {
	slope := func(g []grown) float64 {
		return float64(g[1].bytes-g[0].bytes) / float64(g[1].turns-g[0].turns)
	}
	a, b := slope(ours), slope(hand)
	return Figure{
		Name: name, Unit: "bytes/turn", Ratio: a / b, Ours: a, Floor: b, N: ours[1].turns,
		Note: note + "; the floor is hand-written, with answers of 200",
	}.aimed(bound{of: "ours", value: oursOf, most: true, limit: 3072, unit: "bytes"})
}
