package bench

import (
	"context"
	"fmt"
	"strconv"

	"github.com/google/uuid"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// agentLoop runs an agent through the plugin and beside it the same loop written
// by hand, bare and with two committed rows around each tool call.
func agentLoop(ctx context.Context, l *lab) ([]Figure, error) {
	s, err := l.newSite(ctx, "bench-agentloop")
	if err != nil {
		return nil, err
	}
	agents, err := s.countingAgents(ctx, l.size.Turns)
	if err != nil {
		return nil, err
	}
	contestants := func(loops, atOnce int) []contestant {
		all := []contestant{
			{
				regularStep,
				func(ctx context.Context) (sample, error) { return s.handLoops(ctx, loops, atOnce, true, regularStep) },
			},
			{
				journaledStep,
				func(ctx context.Context) (sample, error) { return s.handLoops(ctx, loops, atOnce, true, journaledStep) },
			},
		}
		for _, lane := range lanes {
			all = append(all, contestant{string(lane), func(ctx context.Context) (sample, error) {
				return s.runs(ctx, agents[lane], loops, atOnce)
			}})
		}
		return all
	}
	busy, err := l.contest(ctx, l.size.Rounds, contestants(l.size.Loops, l.size.AtOnce)...)
	if err != nil {
		return nil, err
	}
	alone, err := l.contest(ctx, l.size.Rounds, contestants(l.size.Alone, 1)...)
	if err != nil {
		return nil, err
	}
	fast, visible := string(tool.LaneFast), string(tool.LaneVisible)
	return []Figure{
		throughput("agent_loop_fast_16", busy[fast], busy[regularStep]).aimed(atLeast(4)),
		throughput("agent_loop_fast_1", alone[fast], alone[regularStep]),
		throughput("agent_loop_visible_16", busy[visible], busy[journaledStep]).aimed(atLeast(1.2)),
		throughput("agent_loop_visible_1", alone[visible], alone[journaledStep]),
		throughput("floor_two_commits_16", busy[journaledStep], busy[regularStep]),
		throughput("floor_two_commits_1", alone[journaledStep], alone[regularStep]),
	}, nil
}

// countingAgents publishes an agent for each lane that takes the given turns.
func (s *site) countingAgents(ctx context.Context, turns int) (map[tool.Lane]agent.Agent, error) {
	if err := s.publish(ctx, s.principal, advanceFunction); err != nil {
		return nil, err
	}
	return s.agents(ctx, advanceFunction, strconv.Itoa(turns), turns)
}

// agents publishes an agent for each lane, with one tool and the given model.
func (s *site) agents(ctx context.Context, fn, model string, turns int) (map[tool.Lane]agent.Agent, error) {
	agents := make(map[tool.Lane]agent.Agent, len(lanes))
	for _, lane := range lanes {
		var err error
		if agents[lane], err = s.agent(ctx, fn, model, turns, lane); err != nil {
			return nil, err
		}
	}
	return agents, nil
}

// agent publishes an agent with one tool, in a lane, and the given model.
func (s *site) agent(ctx context.Context, fn, model string, turns int, lane tool.Lane) (agent.Agent, error) {
	return s.publishAgent(ctx, toolName(fn, lane)+"-"+model, agent.Definition{
		Instructions: "Count.", Model: modelProvider + "/" + model, ToolMode: agent.ParallelSafe,
		Tools:  []tool.Ref{{Slug: toolName(fn, lane)}},
		Limits: agent.Limits{MaxTurns: turns + 1, MaxCalls: max(turns, fanWidth)},
	})
}

// runs is a round of agent runs.
func (s *site) runs(ctx context.Context, a agent.Agent, loops, atOnce int) (sample, error) {
	turns := s.lab.size.Turns
	return s.recorded(ctx, func() (sample, error) {
		return repeat(ctx, loops, atOnce, turns, func(ctx context.Context) error {
			_, err := s.run(ctx, a, turns, turns)
			return err
		})
	})
}

// handLoops is a round of hand-written loops, or chains where no model is asked.
func (s *site) handLoops(ctx context.Context, loops, atOnce int, model bool, kind string) (sample, error) {
	turns := s.lab.size.Turns
	before, err := s.journaled(ctx)
	if err != nil {
		return sample{}, err
	}
	got, err := repeat(ctx, loops, atOnce, turns, func(ctx context.Context) error {
		return s.hand(ctx, handLoop, loopInput{Turns: turns, Model: model, Step: kind}, turns)
	})
	if err != nil {
		return sample{}, err
	}
	after, err := s.journaled(ctx)
	want := 0
	if kind == journaledStep {
		want = 2 * got.calls
	}
	if err == nil && after-before != want {
		err = fmt.Errorf("the hand-written journal grew by %d rows, and should by %d", after-before, want)
	}
	return got, err
}

func (s *site) journaled(ctx context.Context) (int, error) {
	return s.count(ctx, "select count(*) from bench_journal")
}

// hand runs a hand-written workflow and checks its answer.
func (s *site) hand(ctx context.Context, name string, in any, want int) error {
	w, err := s.temporal.ExecuteWorkflow(ctx, s.options("hand/"+uuid.NewString()), name, in)
	if err != nil {
		return fmt.Errorf("starting %s: %w", name, err)
	}
	var got int
	if err := w.Get(ctx, &got); err != nil {
		return fmt.Errorf("running %s: %w", name, err)
	}
	if got != want {
		return fmt.Errorf("%s answered %d instead of %d", name, got, want)
	}
	return nil
}
