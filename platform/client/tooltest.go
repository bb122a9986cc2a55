package client

import (
	"context"
	"time"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// TestTool tests a tool and waits at most that long for the end, up to a
// minute. With a zero wait it returns once the test has started; the events of
// its run report its progress.
func (c *Client) TestTool(
	ctx context.Context, name string, in v1.NewToolTest, wait time.Duration,
) (v1.ToolTest, error) {
	seconds := wait.Seconds()
	return post[v1.ToolTest](ctx, c, v1.NewToolTestWait{NewToolTest: in, WaitS: &seconds}, "tools", name, "test")
}

// ToolTest returns the state of the test of a tool, by its run.
func (c *Client) ToolTest(ctx context.Context, slug string, run v1.Run) (v1.ToolTest, error) {
	out := v1.ToolTest{RunID: run.ID, Tool: slug, Status: run.Status, ErrorKind: run.ErrorKind, Error: run.Error}
	if len(run.Tools) == 1 {
		out.Version, out.Digest = run.Tools[0].Version, run.Tools[0].Digest
	}
	made, err := c.ListInvocations(ctx, InvocationQuery{Run: run.ID, Page: Page{Limit: 1}})
	if err != nil || len(made.Items) == 0 {
		return out, err
	}
	invocation, err := c.Invocation(ctx, made.Items[0].ID)
	if err != nil {
		return out, err
	}
	out.Invocation = &invocation
	return out, nil
}
