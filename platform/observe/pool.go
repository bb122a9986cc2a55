package observe

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/toolcrib/toolcrib/store"
)

// Pool shows how a store's connections are used.
func Pool(s *store.Store) prometheus.Collector { return pool{stats: s.PoolStats} }

type pool struct{ stats func() store.PoolStats }

var (
	poolConnections = prometheus.NewDesc("toolcrib_database_connections", "Connections to the database.",
		[]string{"state"}, nil)
	poolMax = prometheus.NewDesc("toolcrib_database_connections_max",
		"How many connections to the database there may be.", nil, nil)
	poolAcquires  = prometheus.NewDesc("toolcrib_database_acquires_total", "Times a connection was asked for.", nil, nil)
	poolCancelled = prometheus.NewDesc("toolcrib_database_acquires_cancelled_total",
		"Times who asked for a connection left without one.", nil, nil)
	poolWaits  = prometheus.NewDesc("toolcrib_database_acquire_waits_total", "Times no connection was idle.", nil, nil)
	poolWaited = prometheus.NewDesc("toolcrib_database_acquire_seconds_total", "Time spent acquiring connections.", nil,
		nil)
)

// Describe implements [prometheus.Collector].
func (p pool) Describe(into chan<- *prometheus.Desc) { prometheus.DescribeByCollect(p, into) }

// Collect implements [prometheus.Collector].
func (p pool) Collect(into chan<- prometheus.Metric) {
	s := p.stats()
	gauge := func(d *prometheus.Desc, v int, labels ...string) {
		into <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(v), labels...)
	}
	counter := func(d *prometheus.Desc, v float64) {
		into <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v)
	}
	gauge(poolConnections, s.InUse, "in_use")
	gauge(poolConnections, s.Idle, "idle")
	gauge(poolConnections, max(0, s.Total-s.InUse-s.Idle), "connecting")
	gauge(poolMax, s.Max)
	counter(poolAcquires, float64(s.Acquires))
	counter(poolCancelled, float64(s.Cancelled))
	counter(poolWaits, float64(s.Waits))
	counter(poolWaited, s.Waited.Seconds())
}
