package commands

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

func (a *app) approvalWatchCommand() *cobra.Command {
	var q client.ApprovalQuery
	cmd := cli.Describe(&cobra.Command{
		Use: "watch", Short: "Print requests as they come, until interrupted", Args: cli.Operands(),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, _ []string) error {
			return a.watchApprovals(cmd.Context(), c, q)
		}),
	}, `Prints each call that waits for a person, now and as they come, with the command that
approves it. With --json it prints one request in a line.`, `  toolcrib approvals watch
  toolcrib approvals watch --tool refundOrder --json`)
	cmd.Flags().StringVar(&q.Run, "run", "", "id of the run, or of its outermost run")
	cmd.Flags().StringVar(&q.Tool, "tool", "", "slug of the tool")
	return cmd
}

// watchInterval is how often pending requests are looked for.
const watchInterval = time.Second

func (a *app) watchApprovals(ctx context.Context, c *client.Client, q client.ApprovalQuery) error {
	q.Status = wait.Pending
	seen := map[string]int{} // Rounds of the requests that were printed.
	lost := false
	for {
		now, err := collect(paging{all: true}, func(p client.Page) (v1.Page[v1.Approval], error) {
			q.Page = p
			return c.ListApprovals(ctx, q)
		})
		switch {
		case ctx.Err() != nil:
			return nil // It was interrupted.
		case err != nil && !tool.KindOf(err).Retryable():
			return err
		case err != nil && !lost:
			_, _ = fmt.Fprintf(a.Env.Err, "toolcrib: still trying: %s\n", terminal.Clean(tool.AsError(err).Msg))
		}
		lost = err != nil
		fresh := map[string][]v1.Approval{}            // By batch.
		for _, v := range slices.Backward(now.Items) { // The oldest first.
			if seen[v.ID] < v.Round {
				fresh[v.Batch] = append(fresh[v.Batch], v)
			}
		}
		for _, v := range slices.Backward(now.Items) {
			batch := fresh[v.Batch]
			delete(fresh, v.Batch)
			for _, v := range batch {
				seen[v.ID] = v.Round
				if err := a.printRequest(v); err != nil {
					return err
				}
			}
			if err := a.printBatch(batch); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(watchInterval):
		}
	}
}

// printBatch says how to decide requests that came together as one.
func (a *app) printBatch(of []v1.Approval) error {
	if len(of) < 2 || a.Printer.JSON {
		return nil
	}
	_, err := fmt.Fprintf(a.Printer.Out,
		"these %d calls of one turn together:\n  toolcrib approvals approve --batch %s%s\n",
		len(of), terminal.Clean(of[0].Batch), terminal.Clean(a.ApproverFlags()))
	return err
}

func (a *app) printRequest(v v1.Approval) error {
	if a.Printer.JSON {
		enc := json.NewEncoder(a.Printer.Out)
		enc.SetEscapeHTML(false)
		return enc.Encode(v)
	}
	_, err := fmt.Fprintf(a.Printer.Out, "%s\n  %s\n  toolcrib approvals approve %s%s\n", terminal.Clean(v.Message),
		terminal.Shorten(string(v.Arguments), 200), terminal.Clean(v.ID), terminal.Clean(a.ApproverFlags()))
	return err
}
