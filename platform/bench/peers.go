package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/toolcrib/toolcrib/platform/bench/peers"
	"github.com/toolcrib/toolcrib/tool"
)

// peersLane is the lane of ours that the peers are compared with.
const peersLane = tool.LaneFast

// engine is a peer that runs.
type engine struct {
	peers.Peer
	versions string
	process  *peers.Process
}

// besidePeers runs the agent loop and the fan-out of an agent, of hand-written
// workflows, and of other durable engines, on the same PostgreSQL.
func besidePeers(ctx context.Context, l *lab) ([]Figure, error) {
	engines, err := l.startEngines(ctx)
	if err != nil || len(engines) == 0 {
		return nil, err
	}
	s, err := l.newSite(ctx, "bench-peers")
	if err != nil {
		return nil, err
	}
	loops, err := s.loopsBesidePeers(ctx, engines)
	if err != nil {
		return nil, err
	}
	fans, err := s.fansBesidePeers(ctx, engines)
	if err != nil {
		return nil, err
	}
	for _, e := range engines { // They do not run beside the benchmarks that follow.
		if err := e.process.Close(); err != nil {
			return nil, err
		}
	}
	return append(loops, fans...), nil
}

// startEngines starts the peers that run on this machine, and says which do not
// and why.
func (l *lab) startEngines(ctx context.Context) ([]engine, error) {
	dir := filepath.Join(l.dir, "peers")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making a folder for the peers: %w", err)
	}
	if l.cfg.Node != "" {
		l.progress("installing the peers' npm packages")
	}
	installed, err := peers.Install(ctx, l.cfg.Node, dir)
	if l.leftOut(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var engines []engine
	for _, p := range peers.All() {
		e, err := l.startEngine(ctx, installed, p)
		if l.leftOut(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		l.progress("%s runs: %s; %s", p.Title, e.versions, p.Settings)
		engines = append(engines, e)
	}
	return engines, nil
}

// leftOut reports whether err says that a peer can't run here, and prints why.
func (l *lab) leftOut(err error) bool {
	unavailable, ok := errors.AsType[*peers.UnavailableError](err)
	if ok {
		l.progress("left out: %s", unavailable.Reason)
	}
	return ok
}

func (l *lab) startEngine(ctx context.Context, installed *peers.Installation, p peers.Peer) (engine, error) {
	versions, err := p.Versions()
	if err != nil {
		return engine{}, err
	}
	address, err := l.createDatabase(ctx, "bench-peer-"+p.Name)
	if err != nil {
		return engine{}, err
	}
	data := filepath.Join(l.dir, "peer-"+p.Name)
	if err := os.Mkdir(data, 0o700); err != nil {
		return engine{}, fmt.Errorf("making a folder for %s: %w", p.Title, err)
	}
	process, err := installed.Start(ctx, p, address, data)
	if err != nil {
		return engine{}, err
	}
	l.later(func(context.Context) error { return process.Close() })
	return engine{p, versions, process}, nil
}

// do is a round of a peer's work, of which each piece makes the given calls.
func (e engine) do(ctx context.Context, c peers.Command, calls int) (sample, error) {
	before := treeTime(e.process.PID())
	got, err := e.process.Do(ctx, c)
	return sample{
		calls: c.Count * calls, took: got.Took, each: got.Each,
		cpu: usage{peer: treeTime(e.process.PID()) - before},
	}, err
}

// note describes the peer and its times beside ours.
func (e engine) note(r record) string {
	times := r.times()
	return fmt.Sprintf("the floor is %s (%s; %s), p50 %.1f, p99 %.1f ms", e.Title, e.versions, e.Settings,
		ms(percentile(times, 0.5)), ms(percentile(times, 0.99)))
}

func (s *site) loopsBesidePeers(ctx context.Context, engines []engine) ([]Figure, error) {
	size := s.lab.size
	if err := s.publish(ctx, s.principal, advanceFunction); err != nil {
		return nil, err
	}
	a, err := s.agent(ctx, advanceFunction, strconv.Itoa(size.Turns), size.Turns, peersLane)
	if err != nil {
		return nil, err
	}
	var figures []Figure
	for _, round := range []struct {
		name          string
		loops, atOnce int
	}{{"16", size.Loops, size.AtOnce}, {"1", size.Alone, 1}} {
		all := []contestant{
			{string(peersLane), func(ctx context.Context) (sample, error) { return s.runs(ctx, a, round.loops, round.atOnce) }},
			{regularStep, func(ctx context.Context) (sample, error) {
				return s.handLoops(ctx, round.loops, round.atOnce, true, regularStep)
			}},
		}
		for _, e := range engines {
			all = append(all, contestant{e.Name, func(ctx context.Context) (sample, error) {
				return e.do(ctx, peers.Command{
					Work: peers.Loop, Count: round.loops, AtOnce: round.atOnce, Turns: size.Turns,
				}, size.Turns)
			}})
		}
		records, err := s.lab.contest(ctx, size.Rounds, all...)
		if err != nil {
			return nil, err
		}
		ours := records[string(peersLane)]
		figures = append(figures, throughput("peers_loop_"+round.name+"_temporal", ours, records[regularStep]))
		for _, e := range engines {
			f := throughput("peers_loop_"+round.name+"_"+e.Name, ours, records[e.Name])
			f.Note = e.note(records[e.Name])
			figures = append(figures, f)
		}
	}
	return figures, nil
}

func (s *site) fansBesidePeers(ctx context.Context, engines []engine) ([]Figure, error) {
	if err := s.publish(ctx, s.principal, napFunction); err != nil {
		return nil, err
	}
	a, err := s.agent(ctx, napFunction, fmt.Sprintf("1x%d", fanWidth), 1, peersLane)
	if err != nil {
		return nil, err
	}
	all := []contestant{
		{string(peersLane), func(ctx context.Context) (sample, error) { return s.fans(ctx, a, peersLane) }},
		{regularStep, func(ctx context.Context) (sample, error) { return s.handFans(ctx, regularStep) }},
	}
	for _, e := range engines {
		all = append(all, contestant{e.Name, func(ctx context.Context) (sample, error) {
			got, err := e.do(ctx, peers.Command{
				Work: peers.Fan, Count: s.lab.size.Fans, AtOnce: fanAtOnce, Width: fanWidth,
				NapMS: napTime.Milliseconds(),
			}, fanWidth)
			return got, errors.Join(err, got.checkFans())
		}})
	}
	records, err := s.lab.contest(ctx, s.lab.size.Rounds, all...)
	if err != nil {
		return nil, err
	}
	ours := records[string(peersLane)]
	figure := func(name string, floor record, note string) Figure {
		times := ours.times()
		return Figure{
			Name: "peers_fan_out_" + name, Unit: "ms", Ratio: ours.against(floor, medianTime),
			Ours: ours.median(medianTime), Floor: floor.median(medianTime),
			P50: ms(percentile(times, 0.5)), P99: ms(percentile(times, 0.99)), N: len(times),
			CPU: ours.median(cpuPerCall), FloorCPU: floor.median(cpuPerCall),
			Note: fmt.Sprintf("less is better, the ideal is %d ms; %s", fanIdeal.Milliseconds(), note),
		}
	}
	figures := []Figure{figure("temporal", records[regularStep], "the floor is hand-written, regular activities")}
	for _, e := range engines {
		figures = append(figures, figure(e.Name, records[e.Name], e.note(records[e.Name])))
	}
	return figures, nil
}
