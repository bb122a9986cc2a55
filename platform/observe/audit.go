package observe

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/toolcrib/toolcrib/store"
)

// auditPatience is how long a scrape waits for the age of the audit log's tail.
const auditPatience = 2 * time.Second

// Audit collects the age of the oldest row of the audit log that is not chained yet, of all
// tenants. A database that does not answer has no value.
func Audit(s *store.Store) prometheus.Collector { return auditTail{s.AuditUnsealedAge} }

type auditTail struct {
	age func(context.Context) (float64, error)
}

var auditAge = prometheus.NewDesc("toolcrib_audit_unsealed_age_seconds",
	"Age of the oldest row of the audit log that is not part of its chain, of all tenants.", nil, nil)

// Describe implements [prometheus.Collector].
func (auditTail) Describe(into chan<- *prometheus.Desc) { into <- auditAge }

// Collect implements [prometheus.Collector].
func (a auditTail) Collect(into chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), auditPatience)
	defer cancel()
	if age, err := a.age(ctx); err == nil {
		into <- prometheus.MustNewConstMetric(auditAge, prometheus.GaugeValue, age)
	}
}
