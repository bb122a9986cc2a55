package remote

import (
	"context"
	"net/http"
	"testing"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/egress/egresstest"
)

// TestNothingInwardIsReached holds model endpoints to the corpus of what leads
// inward, where no operator named it.
func TestNothingInwardIsReached(t *testing.T) {
	t.Parallel()

	egresstest.Surface(t, "models", func(ctx context.Context, cfg egress.Config, url string) error {
		e, err := open(
			Config{Provider: "acme", Keys: Keys{Optional: true, Lookup: func(string) (string, bool) { return "", false }}}, url,
			Auth{}, cfg,
		)
		if err != nil {
			return err
		}
		defer func() { _ = e.Close() }()
		ctx, x, err := e.Begin(ctx, &agent.ModelRequest{Tenant: "t1", Model: "small"})
		if err != nil {
			return err
		}
		defer x.End()
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, http.NoBody)
		if err != nil {
			return err
		}
		resp, err := x.Do(req)
		if err != nil {
			return err
		}
		return resp.Body.Close()
	})
}
