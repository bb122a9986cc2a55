package commands

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/webhook"
)

// deliveryInterval is how often a delivery that is awaited is looked at.
const deliveryInterval = 300 * time.Millisecond

func (a *app) webhookPingCommand() *cobra.Command {
	var wait time.Duration
	cmd := cli.Describe(&cobra.Command{
		Use: "ping WEBHOOK", Short: "Send a test to a webhook, and say what it answered", Args: cli.Operands("webhook id"),
		ValidArgsFunction: a.completeWebhooks,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			made, err := c.PingWebhook(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			ended, err := awaitDelivery(cmd.Context(), c, made, wait)
			if err != nil {
				return err
			}
			return a.showPing(ended)
		}),
	}, `Sends an event of type webhook.ping once, also to a webhook that is off or disabled,
and waits for the answer. It fails unless the receiver answers with a status of 2xx.`,
		`  toolcrib webhook ping 01987a3c-0000-7000-8000-000000000003`)
	cmd.Flags().DurationVar(&wait, "wait", 30*time.Second, "how long to wait for the answer")
	return cmd
}

// awaitDelivery returns a delivery once it has ended, or the time is over.
func awaitDelivery(ctx context.Context, c *client.Client, d v1.Delivery, wait time.Duration) (v1.Delivery, error) {
	until := time.Now().Add(wait)
	for d.Status == webhook.Pending && time.Now().Before(until) {
		select {
		case <-ctx.Done():
			return d, ctx.Err()
		case <-time.After(deliveryInterval):
		}
		var err error
		if d, err = c.Delivery(ctx, d.WebhookID, d.ID); err != nil {
			return d, err
		}
	}
	return d, nil
}

func (a *app) showPing(d v1.Delivery) error {
	err := a.Printer.ShowLine(d, "%s %s%s", d.ID, d.Status, answered(d))
	switch {
	case err != nil || d.Status == webhook.Delivered:
		return err
	case d.Status == webhook.Pending:
		return &tool.Error{Kind: tool.Timeout, Op: "ping", Msg: "the ping was not sent yet: does a server run? " +
			"toolcrib webhook deliveries " + d.WebhookID + " shows what became of it"}
	default:
		return &tool.Error{Kind: tool.Unavailable, Op: "ping", Msg: "the ping failed: " + terminal.Clean(d.LastError)}
	}
}

func answered(d v1.Delivery) string {
	if d.LastStatus == 0 {
		return ""
	}
	return fmt.Sprintf(", answered %d in %d ms", d.LastStatus, d.LastMS)
}

func (a *app) webhookDeliveriesCommand() *cobra.Command {
	var q client.DeliveryQuery
	var p paging
	cmd := cli.Describe(&cobra.Command{
		Use: "deliveries WEBHOOK", Short: "List deliveries of a webhook, newest first", Args: cli.Operands("webhook id"),
		ValidArgsFunction: a.completeWebhooks,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			found, err := collect(p, func(page client.Page) (v1.Page[v1.Delivery], error) {
				q.Page = page
				return c.ListDeliveries(cmd.Context(), args[0], q)
			})
			if err != nil {
				return err
			}
			return showPage(a, filtered(cmd), found, listing[v1.Delivery]{
				header: "DELIVERY EVENT STATUS ATTEMPTS ANSWER AT NEXT ERROR~",
				row: func(d v1.Delivery) []string {
					code := ""
					if d.LastStatus != 0 {
						code = strconv.Itoa(d.LastStatus)
					}
					return []string{
						d.ID, string(d.Type), string(d.Status), strconv.Itoa(d.Attempts), code, terminal.Since(d.At),
						terminal.SinceOf(d.NextAttemptAt), d.LastError,
					}
				},
				empty: "nothing was sent yet: toolcrib webhook ping WEBHOOK sends a test",
			})
		}),
	}, `Lists what was sent to a webhook in the last 30 days, and how that went. --json has
the beginning of the last answer too.`,
		`  toolcrib webhook deliveries 01987a3c-0000-7000-8000-000000000003
  toolcrib webhook deliveries 01987a3c-0000-7000-8000-000000000003 --status failed --json`)
	p.register(cmd)
	cmd.Flags().StringVar(&q.Status, "status", "", "only those that are pending, delivered or failed")
	cmd.Flags().StringVar(&q.Type, "event", "", "only those of this type of event")
	return cmd
}

func (a *app) webhookReplayCommand() *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: "replay WEBHOOK DELIVERY", Short: "Send a delivery once more", Args: cli.Operands("webhook id", "delivery id"),
		ValidArgsFunction: a.completeWebhooks,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			made, err := c.ReplayDelivery(cmd.Context(), args[0], args[1])
			if err != nil {
				return err
			}
			return a.Printer.ShowLine(made, "%s is sent again", made.ID)
		}),
	}, `Sends a delivery that has ended once more, with the same webhook-id and body, and all
attempts anew.`,
		`  toolcrib webhook replay 01987a3c-0000-7000-8000-000000000003 01987a3c-0000-7000-8000-000000000004`)
}
