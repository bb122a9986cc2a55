package commands

import (
	"context"
	"time"

	"github.com/toolcrib/toolcrib/platform/client"
)

// waitsPause is between two looks at what a run waits for.
const waitsPause = 3 * time.Second

// reportWaits prints on the error stream why a run without events does not
// progress, until stop is called. Errors of its requests are ignored: the
// follower of the run finds them.
func (a *app) reportWaits(ctx context.Context, c *client.Client, id string) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		warn := a.warner()
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(waitsPause):
			}
			run, err := c.Run(ctx, id)
			if err == nil {
				err = warn(run)
			}
			if err == nil && run.Status.Final() {
				return
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}
