// Package egresstest tests that a surface, any part of the platform that calls a given
// URL, reaches no internal address.
//
// Each surface has one test, which needs no network:
//
//	func TestNothingInward(t *testing.T) {
//		egresstest.Surface(t, "web_fetch", func(ctx context.Context, cfg egress.Config, url string) error {
//			gate := egresstest.Gate(t, cfg) // Or pass cfg to the surface's own gate.
//			_, err := fetch(ctx, gate, url)
//			return err // Turn an error result into an error.
//		})
//	}
//
// The surface is called with every spelling of the corpus, with names that resolve to
// internal addresses, with one that changes its address between two calls, and with a
// server that redirects to each of them. It must fail each time, and no canary may see a
// connection: they listen on loopback, on ports that the surface's policy allows, so that
// only the guard protects them.
package egresstest
