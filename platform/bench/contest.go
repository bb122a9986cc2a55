package bench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
)

// sample is what one contestant did in one round.
type sample struct {
	calls int             // Tool calls, or whatever is counted.
	took  time.Duration   // All of them together.
	each  []time.Duration // Of each loop, chain or call.
	cpu   usage
	trips int64 // Round trips to the database, as the store makes them.
}

func (s sample) perSecond() float64 { return float64(s.calls) / s.took.Seconds() }

// contestant does the same work as the others of its contest.
type contestant struct {
	name string
	// work does one round of it and checks that it was done.
	work func(ctx context.Context) (sample, error)
}

// record is what a contestant did in all rounds.
type record []sample

// contest lets contestants take turns for the given rounds, after one that does
// not count. Another one begins each round, so that none always follows the
// same other.
func (l *lab) contest(ctx context.Context, rounds int, all ...contestant) (map[string]record, error) {
	records := make(map[string]record, len(all))
	for round := range rounds + 1 {
		for i := range all {
			c := all[(round+i)%len(all)]
			l.progress("round %d of %d: %s", round, rounds, c.name)
			before, trips := l.usage(), l.trips.Load()
			s, err := c.work(ctx)
			if err != nil {
				return nil, fmt.Errorf("%s, round %d: %w", c.name, round, err)
			}
			s.cpu, s.trips = s.cpu.plus(l.usage().minus(before)), l.trips.Load()-trips
			if round > 0 {
				records[c.name] = append(records[c.name], s)
			}
		}
	}
	return records, nil
}

// repeat runs n pieces of work, atOnce of them at a time, each of which makes
// the given number of calls.
func repeat(ctx context.Context, n, atOnce, calls int, work func(ctx context.Context) error) (sample, error) {
	each := make([]time.Duration, n)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	began := time.Now()
	for i := range n {
		group.Go(func() error {
			began := time.Now()
			err := work(ctx)
			each[i] = time.Since(began)
			return err
		})
	}
	err := group.Wait()
	return sample{calls: n * calls, took: time.Since(began), each: each}, err
}

// median of what of returns for each round.
func (r record) median(of func(sample) float64) float64 {
	values := make([]float64, len(r))
	for i, s := range r {
		values[i] = of(s)
	}
	slices.Sort(values)
	return percentile(values, 0.5)
}

// against is the median of the rounds' own ratios, so that a round in which the
// machine was busy with something else weighs no more than another.
func (r record) against(floor record, of func(sample) float64) float64 {
	ratios := make([]float64, len(r))
	for i := range r {
		ratios[i] = of(r[i]) / of(floor[i])
	}
	slices.Sort(ratios)
	return percentile(ratios, 0.5)
}

// times are those of all rounds, sorted.
func (r record) times() []time.Duration {
	var all []time.Duration
	for _, s := range r {
		all = append(all, s.each...)
	}
	slices.Sort(all)
	return all
}

func medianTime(s sample) float64 {
	sorted := slices.Sorted(slices.Values(s.each))
	return ms(percentile(sorted, 0.5))
}

func cpuPerCall(s sample) float64 { return ms(s.cpu.own+s.cpu.postgres+s.cpu.peer) / float64(s.calls) }

// cost says where the processor's time of a call went.
func (r record) cost() string {
	per := func(of func(sample) time.Duration) float64 {
		return r.median(func(s sample) float64 { return ms(of(s)) / float64(s.calls) })
	}
	text := fmt.Sprintf("cpu %.2f ms in this process, %.2f ms in PostgreSQL",
		per(func(s sample) time.Duration { return s.cpu.own }),
		per(func(s sample) time.Duration { return s.cpu.postgres }))
	if trips := r.median(func(s sample) float64 { return float64(s.trips) / float64(s.calls) }); trips > 0 {
		text += fmt.Sprintf(", %.2f round trips", trips)
	}
	return text
}

// throughput is the figure of calls a second.
func throughput(name string, ours, floor record) Figure {
	times := ours.times()
	return Figure{
		Name: name, Unit: "calls/s", Ratio: ours.against(floor, sample.perSecond),
		Ours: ours.median(sample.perSecond), Floor: floor.median(sample.perSecond),
		P50: ms(percentile(times, 0.5)), P99: ms(percentile(times, 0.99)), N: len(times),
		CPU: ours.median(cpuPerCall), FloorCPU: floor.median(cpuPerCall), Note: "per call: " + ours.cost(),
	}
}
