package observe

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/toolcrib/toolcrib/store"
)

// Sweeps collects metrics of the deletions of a store's expired records, by this process.
func Sweeps(s *store.Store) prometheus.Collector { return sweeps{stats: s.SweepStats} }

type sweeps struct{ stats func() []store.SweepStat }

var (
	sweepLabel   = []string{"sweep"}
	sweepRemoved = prometheus.NewDesc("toolcrib_sweep_removed_total", "Number of rows that sweeps deleted.",
		sweepLabel, nil)
	sweepFailures = prometheus.NewDesc("toolcrib_sweep_failures_total", "Number of sweeps that failed.", sweepLabel, nil)
	sweepAge      = prometheus.NewDesc("toolcrib_sweep_age_seconds", "Time since the last sweep that succeeded.",
		sweepLabel, nil)
	sweepOldest = prometheus.NewDesc("toolcrib_retention_oldest_age_seconds", "Age of the oldest row that is kept.",
		[]string{"class"}, nil)
)

// Describe implements [prometheus.Collector].
func (s sweeps) Describe(into chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{sweepRemoved, sweepFailures, sweepAge, sweepOldest} {
		into <- d
	}
}

// Collect implements [prometheus.Collector].
func (s sweeps) Collect(into chan<- prometheus.Metric) {
	for _, stat := range s.stats() {
		into <- prometheus.MustNewConstMetric(sweepRemoved, prometheus.CounterValue, float64(stat.Removed), stat.Name)
		into <- prometheus.MustNewConstMetric(sweepFailures, prometheus.CounterValue, float64(stat.Failures), stat.Name)
		if !stat.Succeeded.IsZero() {
			into <- prometheus.MustNewConstMetric(sweepAge, prometheus.GaugeValue, time.Since(stat.Succeeded).Seconds(),
				stat.Name)
		}
		if !stat.Oldest.IsZero() {
			into <- prometheus.MustNewConstMetric(sweepOldest, prometheus.GaugeValue, time.Since(stat.Oldest).Seconds(),
				stat.Name)
		}
	}
}
