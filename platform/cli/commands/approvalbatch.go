package commands

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// batchOf returns the requests of a batch, the oldest first: all of them, or those of a status.
func batchOf(ctx context.Context, c *client.Client, batch string, status wait.Status) (v1.Page[v1.Approval], error) {
	found, err := collect(paging{all: true}, func(p client.Page) (v1.Page[v1.Approval], error) {
		return c.ListApprovals(ctx, client.ApprovalQuery{Batch: batch, Status: status, Page: p})
	})
	slices.Reverse(found.Items)
	return found, err
}

// showBatch shows the requests of a batch as one.
func (a *app) showBatch(ctx context.Context, c *client.Client, batch string) error {
	found, err := batchOf(ctx, c, batch, "")
	if err != nil {
		return err
	}
	if len(found.Items) == 0 {
		return &tool.Error{
			Kind: tool.NotFound, Op: "cli.showBatch", Msg: "no call of " + terminal.Clean(batch) + " has needed an approval",
		}
	}
	return a.Printer.Show(found, func(w io.Writer) error { return writeBatch(w, found.Items) })
}

func writeBatch(w io.Writer, of []v1.Approval) error {
	first := of[0]
	waiting := 0
	for _, v := range of {
		if v.Status == wait.Pending {
			waiting++
		}
	}
	err := terminal.Pairs(w,
		"batch", first.Batch, "run", first.RunID, "outermost run", otherwise(first.RootRunID, first.RunID),
		"turn", strconv.Itoa(first.Turn), "agent", first.Agent, "requester", first.Requester,
		"waiting", fmt.Sprintf("%d of %d", waiting, len(of)))
	if err != nil {
		return err
	}
	if err := gap(w); err != nil {
		return err
	}
	rows := each(of, func(v v1.Approval) []string {
		return []string{
			v.ID, versioned(v.Tool, v.Version), string(v.Status), v.Host, terminal.Shorten(string(v.Arguments), 60),
			terminal.Shorten(v.Message, 60),
		}
	})
	return terminal.Table(w, "APPROVAL TOOL~ STATUS HOST~ ARGUMENTS~ ASKS~", rows)
}

// decideBatch decides the requests of a batch that are pending, each for what it asks for now.
func (a *app) decideBatch(ctx context.Context, c *client.Client, batch string, as v1.DecideOne) error {
	found, err := batchOf(ctx, c, batch, wait.Pending)
	if err != nil {
		return err
	}
	if len(found.Items) == 0 {
		return &tool.Error{
			Kind: tool.NotFound, Op: "cli.decideBatch", Msg: "no call of " + terminal.Clean(batch) + " waits for an approval",
		}
	}
	var items []v1.Decided
	for part := range slices.Chunk(found.Items, maxDecisions) {
		decided, err := c.Decide(ctx, v1.Decide{Decisions: each(part, func(v v1.Approval) v1.DecideOne {
			as.ID, as.Seen = v.ID, v.Binding
			return as
		})})
		if err != nil {
			return err
		}
		items = append(items, decided...)
	}
	return a.showDecided(items)
}

// maxDecisions is how many decisions one request makes at most.
const maxDecisions = 100
