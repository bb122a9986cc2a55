package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"go.temporal.io/sdk/client"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// checkTimeout bounds a readiness check.
const checkTimeout = 3 * time.Second

type healthOutput struct {
	Status int
	Body   v1.Health
}

// registerHealth adds the endpoints that orchestrators ask, without a key.
func (s *server) registerHealth() {
	huma.Register(s.api, huma.Operation{
		OperationID: "healthz", Method: http.MethodGet, Path: "/healthz", Tags: []string{"health"},
		Summary: "Whether the server runs",
	}, func(context.Context, *struct{}) (*healthOutput, error) {
		return &healthOutput{Status: http.StatusOK, Body: v1.Health{Status: "ok"}}, nil
	})
	huma.Register(s.api, huma.Operation{
		OperationID: "readyz", Method: http.MethodGet, Path: "/readyz", Tags: []string{"health"},
		Summary:     "Whether the server can do its work",
		Description: "Looks at the database and at Temporal. Answers 503 when either is missing.",
	}, func(ctx context.Context, _ *struct{}) (*healthOutput, error) {
		return s.ready(ctx), nil
	})
}

func (s *server) ready(ctx context.Context) *healthOutput {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	out := &healthOutput{Status: http.StatusOK, Body: v1.Health{Status: "ok", Checks: map[string]string{}}}
	check := func(name string, err error) {
		out.Body.Checks[name] = "ok"
		if err != nil {
			out.Body.Checks[name] = "not answering"
			out.Body.Status, out.Status = "unavailable", http.StatusServiceUnavailable
		}
	}
	check("database", s.cfg.Store.Ping(ctx))
	_, err := s.cfg.Temporal.CheckHealth(ctx, &client.CheckHealthRequest{})
	check("temporal", err)
	return out
}
