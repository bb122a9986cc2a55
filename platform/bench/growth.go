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
// In each round, hand-written loops and ours take turns.
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
	hand := growing{name: "hand-written", lengths: l.size.Growth, run: s.growByHand}
	rotation := []*growing{&hand}
	loops, large := make(map[tool.Lane]*growing), make(map[tool.Lane]*growing)
	for _, lane := range lanes {
		if loops[lane], err = s.growing(ctx, advanceFunction, lane, l.size.Growth); err != nil {
			return nil, err
		}
		rotation = append(rotation, loops[lane])
		if large[lane], err = s.growing(ctx, expoundFunction, lane, l.size.Growth[:2]); err != nil {
			return nil, err
		}
	}
	for round := range l.size.Rounds {
		for _, g := range rotation {
			l.progress("round %d of %d: loops, %s", round+1, l.size.Rounds, g.name)
			if err := g.once(ctx); err != nil {
				return nil, err
			}
		}
	}
	var figures []Figure
	for _, lane := range lanes {
		l.progress("loops, %s", large[lane].name)
		if err := large[lane].once(ctx); err != nil { // Its history only, which is the same each time.
			return nil, err
		}
		figures = append(figures, growthFigures(lane, loops[lane], large[lane], &hand, l.size.Window)...)
	}
	return figures, nil
}

// growing is a loop that is run at some lengths, again and again.
type growing struct {
	name    string
	lengths []int
	run     func(ctx context.Context, turns int) (grown, error)
	done    [][]grown // By length.
}

// once runs the loop at each length.
func (g *growing) once(ctx context.Context) error {
	if g.done == nil {
		g.done = make([][]grown, len(g.lengths))
	}
	for i, turns := range g.lengths {
		one, err := g.run(ctx, turns)
		if err != nil {
			return err
		}
		g.done[i] = append(g.done[i], one)
	}
	return nil
}

// growing publishes agents whose loops have the given lengths. Each is checked by its model.
func (s *site) growing(ctx context.Context, fn string, lane tool.Lane, lengths []int) (*growing, error) {
	agents := make(map[int]agent.Agent, len(lengths))
	for _, turns := range lengths {
		var err error
		if agents[turns], err = s.agent(ctx, fn, strconv.Itoa(turns), turns, lane); err != nil {
			return nil, err
		}
	}
	return &growing{
		name: fmt.Sprintf("%s, %s", lane, fn), lengths: lengths,
		run: func(ctx context.Context, turns int) (grown, error) { return s.growOne(ctx, agents[turns], lane, turns) },
	}, nil
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

func (s *site) growByHand(ctx context.Context, turns int) (grown, error) {
	s.asked.take()
	w, err := s.temporal.ExecuteWorkflow(ctx, s.options("hand/"+uuid.NewString()), handLoop, loopInput{
		Turns: turns, Model: true, Step: regularStep,
	})
	if err != nil {
		return grown{}, fmt.Errorf("starting a hand-written loop: %w", err)
	}
	var got int
	if err := w.Get(ctx, &got); err != nil {
		return grown{}, fmt.Errorf("running a hand-written loop: %w", err)
	}
	if got != turns {
		return grown{}, fmt.Errorf("a hand-written loop of %d turns counted to %d", turns, got)
	}
	h, err := s.history(ctx, w)
	if err != nil {
		return grown{}, err
	}
	return grown{turns: turns, each: between(s.asked.take()), bytes: h.bytes, runs: h.runs}, nil
}

func between(at []time.Time) []time.Duration {
	var each []time.Duration
	for i := range len(at) - 1 {
		each = append(each, at[i+1].Sub(at[i]))
	}
	return each
}

// growthFigures compares the turns of each loop with its own, and takes the median of the loops.
func growthFigures(lane tool.Lane, ours, large, hand *growing, window int) []Figure {
	first := func(g grown) float64 { return ms(g.first(window)) }
	last := func(g grown) float64 { return ms(g.last(window)) }
	slower := func(g grown) float64 { return last(g) / first(g) }
	var figures []Figure
	for i, loops := range ours.done {
		var each []time.Duration
		for _, g := range loops {
			each = append(each, g.each...)
		}
		f := Figure{
			Name: fmt.Sprintf("turn_%d_%s", ours.lengths[i], lane), Unit: "ms/turn", Ratio: middleOf(loops, slower),
			Ours: middleOf(loops, last), Floor: middleOf(loops, first), P50: ms(middle(each)), N: len(each),
			Note: fmt.Sprintf("ours: the last turns of a loop, floor: its first, medians of %d loops; "+
				"hand-written %.1f → %.1f, %.2f; %d executions", len(loops), middleOf(hand.done[i], first),
				middleOf(hand.done[i], last), middleOf(hand.done[i], slower), loops[0].runs),
		}
		if i == len(ours.done)-1 {
			f = f.aimed(atMost(1.05))
		}
		figures = append(figures, f)
	}
	return append(figures,
		bytesPerTurn("history_per_turn_"+string(lane), ours, hand, "answers of 200 bytes"),
		bytesPerTurn("history_per_turn_large_"+string(lane), large, hand, "answers of 8 KB"))
}

// middleOf is the median of a value of loops.
func middleOf(loops []grown, value func(grown) float64) float64 {
	values := make([]float64, len(loops))
	for i, g := range loops {
		values[i] = value(g)
	}
	slices.Sort(values)
	return percentile(values, 0.5)
}

// bytesPerTurn is by how much a turn more makes the history larger.
func bytesPerTurn(name string, ours, hand *growing, note string) Figure {
	slope := func(g *growing) float64 {
		short, long := g.done[0][0], g.done[1][0]
		return float64(long.bytes-short.bytes) / float64(long.turns-short.turns)
	}
	a, b := slope(ours), slope(hand)
	return Figure{
		Name: name, Unit: "bytes/turn", Ratio: a / b, Ours: a, Floor: b, N: ours.lengths[1],
		Note: note + "; the floor is hand-written, with answers of 200",
	}.aimed(bound{of: "ours", value: oursOf, most: true, limit: 3072, unit: "bytes"})
}
