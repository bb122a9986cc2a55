package observe

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/toolcrib/toolcrib/store"
)

// Pool collects metrics of a store's connections.
func Pool(s *store.Store) prometheus.Collector { return pool{stats: s.PoolStats} }

type pool struct{ stats func() store.PoolStats }

var (
	poolConnections = prometheus.NewDesc("toolcrib_database_connections", "Connections to the database.",
		[]string{"state"}, nil)
	poolMax = prometheus.NewDesc("toolcrib_database_connections_max",
		"Limit of connections to the database.", nil, nil)
	poolAcquires  = prometheus.NewDesc("toolcrib_database_acquires_total", "Number of acquired connections.", nil, nil)
	poolCancelled = prometheus.NewDesc("toolcrib_database_acquires_cancelled_total",
		"Number of acquires that were cancelled while waiting.", nil, nil)
	poolWaits = prometheus.NewDesc("toolcrib_database_acquire_waits_total",
		"Number of acquires that waited because no connection was idle.", nil, nil)
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
