package observe

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/toolcrib/toolcrib/runs"
)

// Overdue collects metrics of what a service of runs makes up for, in this process.
func Overdue(s *runs.Service) prometheus.Collector { return overdue{s} }

type overdue struct{ runs *runs.Service }

var (
	overdueLabel = []string{"subject"}
	overdueFound = prometheus.NewDesc("toolcrib_overdue_found_total",
		"Starts, expiries, deliveries and wakes that were overdue, each time they were found.", overdueLabel, nil)
	overdueClosed = prometheus.NewDesc("toolcrib_overdue_closed_total", "Those of them that were made.",
		overdueLabel, nil)
	overdueFailures = prometheus.NewDesc("toolcrib_overdue_failures_total", "Rounds over them that failed.",
		overdueLabel, nil)
	startsWaiting = prometheus.NewDesc("toolcrib_starts_waiting",
		"Recorded runs whose workflows Temporal has not confirmed, of all tenants.", nil, nil)
	startsAge = prometheus.NewDesc("toolcrib_starts_waiting_age_seconds", "Age of the oldest of them.", nil, nil)
)

// Describe implements [prometheus.Collector].
func (o overdue) Describe(into chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{overdueFound, overdueClosed, overdueFailures, startsWaiting, startsAge} {
		into <- d
	}
}

// Collect implements [prometheus.Collector].
func (o overdue) Collect(into chan<- prometheus.Metric) {
	counter := func(d *prometheus.Desc, n int64, subject string) {
		into <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), subject)
	}
	for _, stat := range o.runs.OverdueStats() {
		counter(overdueFound, stat.Found, stat.Subject)
		counter(overdueClosed, stat.Closed, stat.Subject)
		counter(overdueFailures, stat.Failures, stat.Subject)
	}
	backlog := o.runs.Backlog()
	into <- prometheus.MustNewConstMetric(startsWaiting, prometheus.GaugeValue, float64(backlog.Count))
	into <- prometheus.MustNewConstMetric(startsAge, prometheus.GaugeValue, backlog.OldestS)
}
