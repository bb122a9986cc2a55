package builtins_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/builtins"
	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/egress/egresstest"
	"github.com/toolcrib/toolcrib/tool"
)

// fetch calls a built-in with a URL among its arguments or its configuration.
func fetch(ctx context.Context, gate *egress.Gate, key string, class tool.Egress, args, config map[string]any) error {
	run, _ := builtins.New(builtins.Config{Gate: gate, Reader: reader{}}).Lookup(key)
	raw, err := json.Marshal(args)
	if err != nil {
		return fmt.Errorf("encoding arguments: %w", err)
	}
	v := &tool.Version{}
	if config != nil {
		v.Tenant = "t1"
		if v.Snapshot.Config, err = json.Marshal(config); err != nil {
			return fmt.Errorf("encoding a configuration: %w", err)
		}
	}
	res, err := run.Execute(
		ctx,
		&tool.Call{
			CallIdentity: tool.CallIdentity{Principal: tool.Principal{Tenant: "t1"}},
			Egress:       class,
			Arguments:    raw,
			Version:      v,
		},
	)
	if err == nil && res.IsError {
		return errors.New(res.Content[0].Text)
	}
	return err
}

// Whatever URL a model gives a built-in, it reaches nothing inward.
func TestNothingInward(t *testing.T) {
	t.Parallel()

	for name, call := range map[string]egresstest.Call{
		"web_fetch": func(ctx context.Context, cfg egress.Config, url string) error {
			return fetch(ctx, egresstest.Gate(t, cfg), "web_fetch", tool.EgressReadOnly, map[string]any{"url": url}, nil)
		},
		"http_request": func(ctx context.Context, cfg egress.Config, url string) error {
			return fetch(ctx, egresstest.Gate(t, cfg), "http_request", tool.EgressReadOnly, map[string]any{"url": url}, nil)
		},
		"http_request that writes": func(ctx context.Context, cfg egress.Config, url string) error {
			return fetch(ctx, egresstest.Gate(t, cfg), "http_request", tool.EgressWrite,
				map[string]any{"url": url, "method": "POST", "body": "x"}, map[string]any{"builtin": "http_request"})
		},
	} {
		egresstest.Surface(t, name, call)
	}
}

// Nor does web_search, whatever endpoint a configuration gives it. Its key
// leaves over https alone, so most of them are refused for two reasons.
func TestNoEndpointInward(t *testing.T) {
	t.Parallel()

	canaries := []*egresstest.Canary{
		egresstest.NewCanary(t, "tcp4", "127.0.0.1:0"),
		egresstest.NewCanary(t, "tcp", ":0"),
	}
	resolver, _ := egresstest.NewResolver(egresstest.Names())
	ports := []uint16{canaries[0].Port(), canaries[1].Port()}
	gate := egresstest.Gate(t, egress.Config{
		Resolver: resolver, Policy: func(tool.TenantID) egress.Policy { return egress.Policy{AllowPorts: ports} },
	})
	for _, target := range egresstest.URLs(ports...) {
		endpoint, _, _ := strings.Cut(target, "?") // Those with a query are none.
		err := fetch(t.Context(), gate, "web_search", tool.EgressReadOnly, map[string]any{"query": "x"},
			map[string]any{"builtin": "web_search", "api_key": "s3cr3t-k3y", "endpoint": endpoint})
		require.Error(t, err, target)
		require.NotContains(t, err.Error(), "s3cr3t-k3y")
	}
	for _, c := range canaries {
		require.Zero(t, c.Calls())
	}
}
