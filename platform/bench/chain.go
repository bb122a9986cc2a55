package bench

import (
	"context"

	"github.com/toolcrib/toolcrib/tool"
)

// chain runs ten calls in a row from a host's workflow, and beside it ten
// hand-written activities.
func chain(ctx context.Context, l *lab) ([]Figure, error) {
	s, err := l.newSite(ctx, "bench-chain")
	if err != nil {
		return nil, err
	}
	if err := s.publish(ctx, s.principal, advanceFunction); err != nil {
		return nil, err
	}
	if err := s.publishComposed(ctx); err != nil {
		return nil, err
	}
	contestants := func(loops, atOnce int) []contestant {
		var all []contestant
		for _, kind := range []string{regularStep, localStep} {
			all = append(all, contestant{
				kind, func(ctx context.Context) (sample, error) { return s.handLoops(ctx, loops, atOnce, false, kind) },
			})
		}
		for _, lane := range lanes {
			all = append(all, contestant{string(lane), func(ctx context.Context) (sample, error) {
				return s.chains(ctx, hostedInput{Tool: toolName(advanceFunction, lane), Planned: true}, loops, atOnce)
			}})
		}
		all = append(all, contestant{sequence, func(ctx context.Context) (sample, error) {
			in := hostedInput{Tool: toolName(advanceFunction, tool.LaneFast), Planned: true, Sequence: true}
			return s.chains(ctx, in, loops, atOnce)
		}})
		all = append(all, contestant{
			composedTool, func(ctx context.Context) (sample, error) { return s.composed(ctx, loops, atOnce) },
		})
		return append(all, contestant{unplanned, func(ctx context.Context) (sample, error) {
			return s.chains(ctx, hostedInput{Tool: toolName(advanceFunction, tool.LaneFast)}, loops, atOnce)
		}})
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
		throughput("chain_fast_16", busy[fast], busy[regularStep]).aimed(atLeast(4)),
		throughput("chain_fast_1", alone[fast], alone[regularStep]).aimed(bound{
			of: "p50", value: p50Of, most: true, limit: 30, unit: "ms",
		}),
		throughput("chain_sequence_16", busy[sequence], busy[regularStep]).aimed(atLeast(4)),
		throughput("chain_sequence_1", alone[sequence], alone[regularStep]).aimed(bound{
			of: "p50", value: p50Of, most: true, limit: 16, unit: "ms",
		}),
		throughput("chain_visible_16", busy[visible], busy[regularStep]),
		throughput("chain_visible_1", alone[visible], alone[regularStep]),
		throughput("chain_composed_16", busy[composedTool], busy[regularStep]),
		throughput("chain_composed_1", alone[composedTool], alone[regularStep]),
		throughput("chain_unplanned_16", busy[unplanned], busy[regularStep]),
		throughput("floor_local_chain_16", busy[localStep], busy[regularStep]),
		throughput("floor_local_chain_1", alone[localStep], alone[regularStep]),
	}, nil
}

// sequence is the chain whose calls are asked for at once.
const sequence = "sequence"

// unplanned is the chain whose every call resolves its tool anew.
const unplanned = "unplanned"

// chains is a round of a host's workflows.
func (s *site) chains(ctx context.Context, in hostedInput, loops, atOnce int) (sample, error) {
	calls := s.lab.size.Turns
	in.Principal, in.Calls = s.principal, calls
	return s.recorded(ctx, func() (sample, error) {
		return repeat(ctx, loops, atOnce, calls, func(ctx context.Context) error {
			return s.hand(ctx, hostedChain, in, calls)
		})
	})
}
