package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/observe/probe"
)

type healthOutput struct {
	Status     int
	RetryAfter string `header:"Retry-After" doc:"When to check again, in seconds, if a check failed"`
	Body       v1.Health
}

// registerHealth adds the probes of orchestrators, which need no key.
func (s *server) registerHealth() {
	prober := probe.New(append(probe.Database(s.cfg.Store), probe.Temporal(s.cfg.Temporal))...)
	huma.Register(s.api, huma.Operation{
		OperationID: "healthz", Method: http.MethodGet, Path: "/healthz", Tags: []string{"health"},
		Summary: "Whether the server runs", Description: "Checks no dependency. Without a key.",
		Responses: map[string]*huma.Response{"default": s.problemResponse()},
	}, func(context.Context, *struct{}) (*healthOutput, error) {
		return &healthOutput{Status: http.StatusOK, Body: probe.Alive()}, nil
	})
	ready := huma.Operation{
		OperationID: "readyz", Method: http.MethodGet, Path: "/readyz", Tags: []string{"health"},
		Summary: "Whether the server is ready",
		Description: "Checks the database, its schema, whether it accepts writes, and Temporal, and reports the state of " +
			"each and for how long it has lasted. Answers 503 if one fails. Without a key.",
		Responses: map[string]*huma.Response{"default": s.problemResponse()},
	}
	huma.Register(s.api, ready, func(ctx context.Context, _ *struct{}) (*healthOutput, error) {
		health := prober.Ready(ctx)
		return &healthOutput{Status: probe.StatusOf(health), RetryAfter: probe.RetryAfter(health), Body: health}, nil
	})
	describeLike(ready, http.StatusServiceUnavailable, "A check failed")
}
