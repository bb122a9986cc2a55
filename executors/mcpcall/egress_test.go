package mcpcall_test

import (
	"context"
	"testing"

	"github.com/toolcrib/toolcrib/executors/mcpcall"
	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/egress/egresstest"
	"github.com/toolcrib/toolcrib/internal/remote"
	"github.com/toolcrib/toolcrib/tool"
)

// TestNothingInward gives the executor every spelling of what leads inward as
// its server's address, over both ways to speak HTTP.
func TestNothingInward(t *testing.T) {
	t.Parallel()

	for _, transport := range []remote.Transport{remote.StreamableHTTP, remote.SSE} {
		egresstest.Surface(t, "mcp over "+string(transport),
			func(ctx context.Context, cfg egress.Config, target string) error {
				c := mcpcall.NewClient(mcpcall.Options{Gate: egresstest.Gate(t, cfg)})
				defer func() { _ = c.Close() }()
				res, err := mcpcall.New(c).Execute(ctx, callOf(config(target, "order", transport), ""))
				if err == nil && res.IsError {
					return &tool.Error{Kind: tool.Unavailable, Msg: textOf(res)}
				}
				return err
			})
	}
}
