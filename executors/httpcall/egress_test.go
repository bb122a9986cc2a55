package httpcall_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors/httpcall"
	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/egress/egresstest"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

// visit makes a call of a tool with a configuration, whose credential may go
// anywhere that its URLs lead.
func visit(ctx context.Context, gate *egress.Gate, config any, hosts ...string) error {
	raw, err := json.Marshal(config)
	if err != nil {
		return err
	}
	secrets := secret.ResolverFunc(func(context.Context, tool.TenantID, string) (secret.Value, error) {
		return secret.NewValue("crib:s3cr3t-client", hosts...), nil
	})
	res, err := httpcall.New(gate, secrets).Execute(ctx, &tool.Call{
		CallIdentity: tool.CallIdentity{Principal: tool.Principal{Tenant: "t1"}},
		Egress:       tool.EgressWrite,
		Arguments:    json.RawMessage(`{}`),
		Version: &tool.Version{
			Snapshot: tool.Snapshot{Definition: tool.Definition{Implementation: tool.HTTP, Config: raw}},
		},
	})
	if err == nil && res.IsError {
		return fmt.Errorf("answered no: %s", res.Content[0].Text)
	}
	return err
}

// TestNothingInward proves that a tool's URL reaches nothing inside.
func TestNothingInward(t *testing.T) {
	t.Parallel()

	for name, config := range map[string]httpcall.Config{"get": {}, "form": {Method: "POST", BodyType: "form"}} {
		egresstest.Surface(t, name, func(ctx context.Context, cfg egress.Config, target string) error {
			gate := egresstest.Gate(t, cfg)
			config := config
			config.URL = target
			return visit(ctx, gate, config)
		})
	}
}

// TestNoTokenFromInside proves that a token endpoint reaches nothing inside,
// not even one that the credential is bound to.
func TestNoTokenFromInside(t *testing.T) {
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
		hosts := []string{"api.example.com"}
		if u, err := url.Parse(target); err == nil {
			hosts = append(hosts, u.Hostname())
		}
		for _, clientAuth := range []string{"basic", "body"} {
			require.Error(t, visit(t.Context(), gate, httpcall.Config{URL: "https://api.example.com/", Auth: &httpcall.Auth{
				Type: "oauth2_client_credentials", CredentialsRef: "client", TokenURL: target, ClientAuth: clientAuth,
			}}, hosts...), target)
		}
	}
	for _, c := range canaries {
		require.Zero(t, c.Calls(), "an internal address was reached")
	}
}
