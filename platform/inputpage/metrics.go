package inputpage

import (
	"context"
	"fmt"
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/toolcrib/toolcrib/internal/telemetry"
)

// outcomes name what became of requests, by the status of the answer; others were refused for
// their form.
var outcomes = map[int]string{
	0: "gone", http.StatusOK: "shown", http.StatusSeeOther: "answered", http.StatusUnprocessableEntity: "incomplete",
	http.StatusConflict: "repeated", http.StatusGone: "over", http.StatusNotFound: "unknown",
	http.StatusTooManyRequests: "busy", http.StatusServiceUnavailable: "failed", http.StatusInternalServerError: "failed",
}

const malformed = "malformed"

func newCounter(provider metric.MeterProvider) (metric.Int64Counter, error) {
	if provider == nil {
		provider = noop.NewMeterProvider()
	}
	counter, err := provider.Meter(telemetry.Scope).Int64Counter("toolcrib.input.page.requests",
		metric.WithDescription("Requests for the pages on which people answer, by outcome."))
	if err != nil {
		return nil, fmt.Errorf("making metrics: %w", err)
	}
	return counter, nil
}

func (h *Handler) count(ctx context.Context, status int) {
	outcome, ok := outcomes[status]
	if !ok {
		outcome = malformed
	}
	h.requests.Add(ctx, 1, metric.WithAttributes(attribute.String("outcome", outcome)))
}

// counted remembers the status of an answer.
type counted struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements [http.ResponseWriter].
func (c *counted) WriteHeader(status int) {
	if c.status == 0 {
		c.status = status
	}
	c.ResponseWriter.WriteHeader(status)
}

// Unwrap is for [http.ResponseController].
func (c *counted) Unwrap() http.ResponseWriter { return c.ResponseWriter }
