package observe

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/toolcrib/toolcrib/store"
)

const schemaTimeout = 2 * time.Second

// Schema collects metrics of the difference between a database's schema and this binary. They
// are missing while the database does not answer.
func Schema(s *store.Store) prometheus.Collector { return schema{gap: s.SchemaGap} }

type schema struct {
	gap func(ctx context.Context) (missing, unknown int, err error)
}

var (
	schemaMissing = prometheus.NewDesc("toolcrib_schema_migrations_missing",
		"Number of migrations of this binary that the database lacks.", nil, nil)
	schemaUnknown = prometheus.NewDesc("toolcrib_schema_migrations_unknown",
		"Number of migrations of the database that this binary does not know.", nil, nil)
)

// Describe implements [prometheus.Collector].
func (s schema) Describe(into chan<- *prometheus.Desc) {
	into <- schemaMissing
	into <- schemaUnknown
}

// Collect implements [prometheus.Collector].
func (s schema) Collect(into chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), schemaTimeout)
	defer cancel()
	missing, unknown, err := s.gap(ctx)
	if err != nil {
		return
	}
	into <- prometheus.MustNewConstMetric(schemaMissing, prometheus.GaugeValue, float64(missing))
	into <- prometheus.MustNewConstMetric(schemaUnknown, prometheus.GaugeValue, float64(unknown))
}
