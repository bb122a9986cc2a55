package egress_test

import (
	"net/http"
	"net/netip"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/egress/egresstest"
	"github.com/toolcrib/toolcrib/tool"
)

// What an operator denies is not reached, whatever allows it, by a redirect
// neither.
func TestDeniedHostsAndBlocks(t *testing.T) {
	t.Parallel()

	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if to := r.URL.Query().Get("to"); to != "" {
			http.Redirect(w, r, to, http.StatusFound)
		}
	})
	u, err := url.Parse(srv.URL)
	require.NoError(t, err)
	get := func(change func(*egress.Policy), address string) error {
		t.Helper()
		policy := allowing(srv.URL)("t1")
		policy.AllowHosts = append(policy.AllowHosts, "localhost:"+u.Port())
		change(&policy)
		require.NoError(t, policy.Check())
		g := egresstest.Gate(t, egress.Config{Policy: func(tool.TenantID) egress.Policy { return policy }})
		_, err := g.Do(t.Context(), egress.Access{Tenant: "t1", Class: tool.EgressReadOnly},
			&egress.Request{Method: "GET", URL: address})
		return err
	}
	local := "http://localhost:" + u.Port()
	require.NoError(t, get(func(*egress.Policy) {}, srv.URL+"?to="+local))
	for name, deny := range map[string]func(*egress.Policy){
		"Host":     func(p *egress.Policy) { p.DenyHosts = []string{"localhost"} },
		"HostPort": func(p *egress.Policy) { p.DenyHosts = []string{"localhost:" + u.Port()} },
	} {
		requireRefused(t, get(deny, local))
		requireRefused(t, get(deny, srv.URL+"?to="+local))
		require.NoError(t, get(deny, srv.URL), name)
	}
	other := func(p *egress.Policy) {
		p.DenyHosts, p.DenyCIDRs = []string{
			"localhost:1", "*.localhost",
		}, []netip.Prefix{netip.MustParsePrefix("198.51.100.0/24")}
	}
	require.NoError(t, get(other, local))
	block := func(p *egress.Policy) { p.DenyCIDRs = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} }
	requireRefused(t, get(block, srv.URL))

	for _, bad := range []egress.Policy{{DenyHosts: []string{"a b"}}, {DenyCIDRs: []netip.Prefix{{}}}} {
		require.Equal(t, tool.Invalid, tool.KindOf(bad.Check()))
	}
}
