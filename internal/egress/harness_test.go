package egress_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// allowing returns a policy that lets every tenant reach hosts.
func allowing(hosts ...string) func(tool.TenantID) egress.Policy {
	for i, h := range hosts {
		hosts[i] = strings.TrimPrefix(strings.TrimPrefix(h, "http://"), "https://")
	}
	return func(tool.TenantID) egress.Policy { return egress.Policy{AllowHosts: hosts} }
}

var writer = egress.Access{Tenant: "t1", Class: tool.EgressWrite}

func get(url string) *egress.Request { return &egress.Request{Method: http.MethodGet, URL: url} }

func requireRefused(t *testing.T, err error) {
	t.Helper()
	var e *tool.Error
	require.ErrorAs(t, err, &e)
	require.Contains(t, []tool.Kind{tool.Denied, tool.Invalid}, e.Kind, "%v", err)
}
