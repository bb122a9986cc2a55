package egress_test

import (
	"context"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/egress/egresstest"
)

// TestNothingInwardIsReached counts the connections that canaries see of the
// whole corpus: none, and nothing is sent.
func TestNothingInwardIsReached(t *testing.T) {
	t.Parallel()

	egresstest.Surface(t, "Do", func(ctx context.Context, cfg egress.Config, url string) error {
		_, err := egresstest.Gate(t, cfg).Do(ctx, writer, get(url))
		return err
	})
	egresstest.Surface(t, "Client", func(ctx context.Context, cfg egress.Config, url string) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, nil)
		if err != nil {
			return err
		}
		resp, err := egresstest.Gate(t, cfg).Client(writer).Do(req)
		if err != nil {
			return err
		}
		return resp.Body.Close()
	})
}

// TestPublicIsAllowed judges addresses and names without calling them.
func TestPublicIsAllowed(t *testing.T) {
	t.Parallel()

	g := egresstest.Gate(t, egress.Config{})
	for _, host := range egresstest.Outward() {
		require.NoError(t, g.Check(writer, "GET", "https://"+host+"/"), host)
		addr := netip.MustParseAddr(strings.Trim(host, "[]"))
		require.True(t, egress.Public(addr), host)
	}
	for _, host := range egresstest.OutwardNames() {
		require.NoError(t, g.Check(writer, "GET", "https://"+host+":443/a?b=c"), host)
	}
}

func TestInwardAddressesAreNotPublic(t *testing.T) {
	t.Parallel()

	judged := 0
	for _, host := range egresstest.Inward() {
		if addr, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
			require.False(t, egress.Public(addr), host)
			judged++
		}
	}
	require.Greater(t, judged, 100)
	require.False(t, egress.Public(netip.Addr{}))
	require.False(t, egress.Public(netip.MustParseAddr("2001:4860:4860::8888%eth0")))
}

// FuzzCheckURL looks for panics, and for a host that is an address in disguise.
func FuzzCheckURL(f *testing.F) {
	for _, host := range egresstest.Inward() {
		f.Add("http://" + host + "/")
	}
	for _, host := range egresstest.Foreign() {
		f.Add("https://" + host + "/")
	}
	for _, u := range egresstest.Spelled() {
		f.Add(u)
	}
	for _, host := range append(append([]string(nil), egresstest.Outward()...), egresstest.OutwardNames()...) {
		f.Add("https://" + host + ":443/")
	}
	g, err := egress.New(egress.Config{})
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := url.Parse(raw)
		if err != nil || egress.CheckURL(u) != nil || g.Check(writer, "GET", raw) != nil {
			return
		}
		if strings.ContainsFunc(u.Hostname(), func(r rune) bool { return r > '~' }) {
			t.Errorf("%q is let through, and is not ASCII", raw)
		}
		if addr, err := netip.ParseAddr(u.Hostname()); err == nil && !egress.Public(addr) {
			t.Errorf("%q is let through", raw)
		}
		if last := u.Hostname()[strings.LastIndexByte(u.Hostname(), '.')+1:]; last != "" &&
			strings.Trim(last, "0123456789") == "" {
			if _, err := netip.ParseAddr(u.Hostname()); err != nil {
				t.Errorf("%q ends in a number and is no address", raw)
			}
		}
	})
}
