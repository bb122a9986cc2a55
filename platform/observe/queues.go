package observe

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/runs"
)

// Queues collects metrics of what waits and runs of the tenants, and of what a service of runs
// refused. Only the tenants with the deepest queues have series of their own.
func Queues(s *runs.Service) prometheus.Collector { return queues{s} }

type queues struct{ runs *runs.Service }

const (
	// tenantSeries is how many tenants have series of their own.
	tenantSeries = 20
	// otherTenants is the label of the sum of the others. No slug has its form.
	otherTenants = "_other"
)

var (
	tenantLabel   = []string{"tenant"}
	tenantPending = prometheus.NewDesc("toolcrib_tenant_runs_pending", "Accepted runs that have not begun.",
		tenantLabel, nil)
	tenantRunning = prometheus.NewDesc("toolcrib_tenant_runs_running", "Runs that have begun and not ended.",
		tenantLabel, nil)
	tenantWaiting = prometheus.NewDesc("toolcrib_tenant_calls_waiting", "Calls that wait for somebody.",
		tenantLabel, nil)
	pendingAge = prometheus.NewDesc("toolcrib_runs_pending_age_seconds", "Age of the oldest run that has not begun.",
		nil, nil)
	admissionsLost = prometheus.NewDesc("toolcrib_admission_refusals_total", "Requests for runs that were refused.",
		[]string{"reason"}, nil)
)

// Describe implements [prometheus.Collector].
func (q queues) Describe(into chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{tenantPending, tenantRunning, tenantWaiting, pendingAge, admissionsLost} {
		into <- d
	}
}

// Collect implements [prometheus.Collector].
func (q queues) Collect(into chan<- prometheus.Metric) {
	for reason, n := range q.runs.Refusals() {
		into <- prometheus.MustNewConstMetric(admissionsLost, prometheus.CounterValue, float64(n), reason)
	}
	depths, at := q.runs.Queues()
	if at.IsZero() {
		return
	}
	show := func(tenant string, d agent.QueueDepth) {
		into <- prometheus.MustNewConstMetric(tenantPending, prometheus.GaugeValue, float64(d.Pending), tenant)
		into <- prometheus.MustNewConstMetric(tenantRunning, prometheus.GaugeValue, float64(d.Running), tenant)
		into <- prometheus.MustNewConstMetric(tenantWaiting, prometheus.GaugeValue, float64(d.Waiting), tenant)
	}
	rest := depths.QueueDepth
	for _, t := range depths.Tenants[:min(tenantSeries, len(depths.Tenants))] {
		show(t.Slug, t.QueueDepth)
		rest.Pending, rest.Running, rest.Waiting = rest.Pending-t.Pending, rest.Running-t.Running, rest.Waiting-t.Waiting
	}
	show(otherTenants, rest)
	into <- prometheus.MustNewConstMetric(pendingAge, prometheus.GaugeValue, depths.OldestS)
}
