package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// fanIdeal is what the calls of a fan-out take where nothing else does.
const fanIdeal = fanWidth / fanAtOnce * napTime

// fanOut has a model make all calls in one turn, and measures from its answer, which
// is given at once,
// until it is asked again. The hand-written workflow does nothing but the calls.
func fanOut(ctx context.Context, l *lab) ([]Figure, error) {
	s, err := l.newSite(ctx, "bench-fanout")
	if err != nil {
		return nil, err
	}
	if err := s.publish(ctx, s.principal, napFunction); err != nil {
		return nil, err
	}
	agents, err := s.agents(ctx, napFunction, fmt.Sprintf("1x%d", fanWidth), 1)
	if err != nil {
		return nil, err
	}
	all := []contestant{
		{regularStep, func(ctx context.Context) (sample, error) { return s.handFans(ctx, regularStep) }},
		{localStep, func(ctx context.Context) (sample, error) { return s.handFans(ctx, localStep) }},
	}
	for _, lane := range lanes {
		all = append(all, contestant{
			string(lane), func(ctx context.Context) (sample, error) { return s.fans(ctx, agents[lane], lane) },
		})
	}
	records, err := l.contest(ctx, l.size.Rounds, all...)
	if err != nil {
		return nil, err
	}
	figure := func(name, contestant string) Figure {
		times := records[contestant].times()
		took := ms(percentile(times, 0.5))
		return Figure{
			Name: name, Unit: "ms", Ratio: took / ms(fanIdeal), Ours: took, Floor: ms(fanIdeal), P50: took,
			P99: ms(percentile(times, 0.99)), N: len(times), CPU: records[contestant].median(cpuPerCall),
			Note: "the floor is the ideal; per call: " + records[contestant].cost(),
		}
	}
	return []Figure{
		figure("fan_out_fast", string(tool.LaneFast)).aimed(atMost(1.07)),
		figure("fan_out_visible", string(tool.LaneVisible)).aimed(atMost(1.35)),
		figure("floor_fan_out_regular", regularStep),
		figure("floor_fan_out_local", localStep),
	}, nil
}

// fans is a round of agent runs that fan out.
func (s *site) fans(ctx context.Context, a agent.Agent, lane tool.Lane) (sample, error) {
	return s.recorded(ctx, func() (sample, error) {
		return s.fanTimes(ctx, func(ctx context.Context) (time.Duration, error) {
			s.asked.take()
			w, err := s.run(ctx, a, 1, fanWidth)
			if err != nil {
				return 0, err
			}
			h, err := s.history(ctx, w)
			if err != nil {
				return 0, err
			}
			if err := h.checkLane(lane, fanWidth); err != nil {
				return 0, err
			}
			turns := between(s.asked.take())
			if len(turns) != 1 {
				return 0, fmt.Errorf("the model was asked %d times, not twice", len(turns)+1)
			}
			return turns[0], nil
		})
	})
}

func (s *site) handFans(ctx context.Context, kind string) (sample, error) {
	return s.fanTimes(ctx, func(ctx context.Context) (time.Duration, error) {
		w, err := s.temporal.ExecuteWorkflow(ctx, s.options("hand/"+uuid.NewString()), handFan, loopInput{Step: kind})
		if err != nil {
			return 0, fmt.Errorf("starting a hand-written fan-out: %w", err)
		}
		var sum int
		if err := w.Get(ctx, &sum); err != nil {
			return 0, fmt.Errorf("running a hand-written fan-out: %w", err)
		}
		if want := fanWidth * (fanWidth + 1) / 2; sum != want {
			return 0, fmt.Errorf("a hand-written fan-out answered %d instead of %d", sum, want)
		}
		h, err := s.history(ctx, w)
		return h.wholeTime(), err
	})
}

// fanTimes runs one fan-out after the other.
func (s *site) fanTimes(ctx context.Context, fan func(ctx context.Context) (time.Duration, error)) (sample, error) {
	got := sample{calls: s.lab.size.Fans * fanWidth}
	for range s.lab.size.Fans {
		took, err := fan(ctx)
		if err != nil {
			return sample{}, err
		}
		got.each, got.took = append(got.each, took), got.took+took
	}
	return got, got.checkFans()
}

// checkFans checks that no fan-out was faster than its calls.
func (s sample) checkFans() error {
	for _, took := range s.each {
		if took < fanIdeal*9/10 { // Clocks are set.
			return fmt.Errorf("a fan-out took %s, and its calls alone take %s", took, fanIdeal)
		}
	}
	return nil
}
