package store

import (
	"context"
	"sync"
	"time"
)

// Names of the sweeps that are no class of records.
const (
	SweepRequestKeys  = "idempotency_keys"
	SweepExpiredFiles = "expired_files"
	SweepMCPSessions  = "mcp_sessions"
	SweepPartitions   = "partitions"
	SweepRateBuckets  = "rate_buckets"
)

// SweepNames returns the name of every sweep of a store: the classes of records, and those
// of records that expire by themselves.
func SweepNames() []string {
	names := []string{SweepRequestKeys, SweepExpiredFiles, SweepMCPSessions, SweepPartitions, SweepRateBuckets}
	for _, class := range RetentionClasses() {
		names = append(names, string(class))
	}
	return names
}

// SweepStat is what a sweep of this process has done since the store was opened.
type SweepStat struct {
	Name      string
	Removed   int64     // Rows.
	Failures  int64     // Sweeps that failed.
	Succeeded time.Time // The last success; zero for none.
	Oldest    time.Time // When the oldest row was made that is kept; zero if unknown.
}

// sweeps are the statistics of a store's sweeps.
type sweeps struct {
	mu sync.Mutex
	of map[string]SweepStat
}

func (s *sweeps) change(name string, change func(*SweepStat)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil {
		s.of = map[string]SweepStat{}
	}
	stat := s.of[name]
	change(&stat)
	s.of[name] = stat
}

// note records a sweep.
func (s *sweeps) note(name string, removed int, err error) {
	s.change(name, func(stat *SweepStat) {
		stat.Removed += int64(removed)
		if err != nil {
			stat.Failures++
		} else {
			stat.Succeeded = time.Now()
		}
	})
}

// SweepStats returns the statistics of every sweep.
func (s *Store) SweepStats() []SweepStat {
	s.sweeps.mu.Lock()
	defer s.sweeps.mu.Unlock()
	out := make([]SweepStat, 0, len(SweepNames()))
	for _, name := range SweepNames() {
		stat := s.sweeps.of[name]
		stat.Name = name
		out = append(out, stat)
	}
	return out
}

// MeasureRetention records when the oldest kept row of each class was made, for
// [Store.SweepStats].
func (s *Store) MeasureRetention(ctx context.Context) error {
	states, err := s.retentionState(ctx, "", false)
	for _, state := range states {
		s.sweeps.change(string(state.Class), func(stat *SweepStat) {
			stat.Oldest = time.Time{}
			if state.Oldest != nil {
				stat.Oldest = *state.Oldest
			}
		})
	}
	return err
}
