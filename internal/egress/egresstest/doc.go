// Package egresstest proves that nothing inward is reached through a surface:
// anything of the platform that is given a URL and calls it.
//
// Each surface has one test, which needs no network:
//
//	func TestNothingInward(t *testing.T) {
//		egresstest.Surface(t, "web_fetch", func(ctx context.Context, cfg egress.Config, url string) error {
//			gate := egresstest.Gate(t, cfg) // Or give cfg to what makes a gate of its own.
//			_, err := fetch(ctx, gate, url)
//			return err // Where the surface says "no" by a result, make an error of it.
//		})
//	}
//
// The surface is called with every spelling of the corpus, with names that
// resolve inward, with one that changes its address between two calls, and
// with the address of a server that redirects to each of them. It must fail
// each time, and no canary may see a connection: they listen on loopback, on
// ports that the surface's policy allows, so that only the guard stands
// between.
package egresstest
