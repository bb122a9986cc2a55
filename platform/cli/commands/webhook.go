package commands

import (
	"context"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/webhook"
)

func (a *app) webhookCommand() *cobra.Command {
	return cli.Describe(cli.Group("webhook", "Send events to URLs of your own",
		a.webhookListCommand(), a.webhookCreateCommand(), a.webhookShowCommand(), a.webhookUpdateCommand(),
		a.webhookDeleteCommand(), a.webhookRotateCommand(), a.webhookPingCommand(), a.webhookDeliveriesCommand(),
		a.webhookReplayCommand()),
		`A webhook sends events to a URL: approvals, calls that wait, tools that were stopped,
ends of runs. Requests are signed with the webhook's secret, as in Standard Webhooks,
and repeated for about a day until the receiver takes them.

Events:
`+webhookEvents(),
		`  toolcrib webhook create https://example.com/hooks --event run.failed --event tool.needs_approval
  toolcrib webhook ping 01987a3c-0000-7000-8000-000000000003
  toolcrib webhook deliveries 01987a3c-0000-7000-8000-000000000003 --status failed`)
}

// webhookEvents lists the types of events, one a line.
func webhookEvents() string {
	var out strings.Builder
	_ = terminal.Pairs(&out, webhookEventPairs()...) // A builder never fails.
	return "  " + strings.ReplaceAll(strings.TrimSpace(out.String()), "\n", "\n  ")
}

func webhookEventPairs() []string {
	var pairs []string
	for _, e := range webhook.Events() {
		pairs = append(pairs, string(e.Type), e.Meaning)
	}
	return pairs
}

// webhookFlags are what a webhook is given by.
type webhookFlags struct{ events []string }

func (f *webhookFlags) register(a *app, cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&f.events, "event", nil, "type of event to send; may be repeated")
	a.CompleteFlag(cmd, "event", cli.Words(strings.Join(webhook.EventTypes(), " ")))
}

func (f *webhookFlags) types() []tool.EventType {
	return each(f.events, func(t string) tool.EventType { return tool.EventType(t) })
}

func (a *app) webhookCreateCommand() *cobra.Command {
	var in v1.NewWebhook
	var f webhookFlags
	var inactive bool
	cmd := cli.Describe(&cobra.Command{
		Use: "create URL", Short: "Make a webhook, and print its secret this once", Args: cli.Operands("URL"),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			if len(f.events) == 0 {
				return cli.Usagef("a webhook needs at least one --event, such as run.failed: see toolcrib webhook --help")
			}
			active := !inactive
			in.URL, in.Types, in.Active = args[0], f.types(), &active
			made, err := c.CreateWebhook(cmd.Context(), in)
			if err != nil {
				return err
			}
			return a.showWebhookSecret(made)
		}),
	}, `Makes a webhook for events from now on. Its secret verifies the requests; it cannot be
shown again, but rotated.

The URL is https, or http for a host that the operator of the server allows
(--allow-host).`,
		`  toolcrib webhook create https://example.com/hooks --event run.failed --event run.completed
  toolcrib webhook create https://example.com/hooks --event tool.needs_approval --agent supportDesk --json`)
	f.register(a, cmd)
	flags := cmd.Flags()
	flags.StringVar(&in.Agent, "agent", "", "slug: only events of runs of this agent")
	flags.StringVar(&in.Tool, "tool", "", "slug: only events of this tool")
	flags.StringVar(&in.Description, "description", "", "what it is for")
	flags.BoolVar(&inactive, "inactive", false, "send nothing yet but pings")
	return cmd
}

func (a *app) showWebhookSecret(made v1.WebhookSecret) error {
	return a.Printer.Show(made, func(w io.Writer) error {
		return terminal.Pairs(w, "webhook", made.ID, "secret", terminal.Clean(made.Secret),
			"old secret signs until", terminal.StampSinceOf(made.OldSecretUntil))
	})
}

func (a *app) webhookListCommand() *cobra.Command {
	return cli.Describe(listCommand(a, "List webhooks, newest first", (*client.Client).ListWebhooks, listing[v1.Webhook]{
		header: "WEBHOOK STATE URL~ EVENTS~ DELIVERED FAILING",
		row: func(w v1.Webhook) []string {
			return []string{
				w.ID, webhookState(w), w.URL, eventNames(w.Types), terminal.SinceOf(w.DeliveredAt),
				terminal.SinceOf(w.FailingSince),
			}
		},
		empty: "no webhooks: make one with toolcrib webhook create URL --event EVENT",
	}), `Lists webhooks: where they send what, when something was delivered last, and since
when attempts fail.`, `  toolcrib webhook list
  toolcrib webhook list --json`)
}

func webhookState(w v1.Webhook) string {
	switch {
	case w.DisabledAt != nil:
		return "disabled"
	case !w.Active:
		return "inactive"
	case w.FailingSince != nil:
		return "failing"
	default:
		return "active"
	}
}

func eventNames(types []tool.EventType) string {
	return strings.Join(each(types, func(t tool.EventType) string { return string(t) }), " ")
}

func (a *app) webhookShowCommand() *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: "show WEBHOOK", Short: "Show a webhook, never its secret", Args: cli.Operands("webhook id"),
		ValidArgsFunction: a.completeWebhooks,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			w, err := c.Webhook(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.showWebhook(w)
		}),
	}, `Shows a webhook, and why it was disabled, if it was.`,
		`  toolcrib webhook show 01987a3c-0000-7000-8000-000000000003`)
}

func (a *app) showWebhook(w v1.Webhook) error {
	return a.Printer.Show(w, func(out io.Writer) error {
		return terminal.Pairs(out, "webhook", w.ID, "state", webhookState(w), "url", terminal.Clean(w.URL),
			"events", eventNames(w.Types), "agent", w.Agent, "tool", w.Tool, "description", terminal.Clean(w.Description),
			"disabled", terminal.StampSinceOf(w.DisabledAt), "because", terminal.Clean(w.DisabledReason),
			"failing since", terminal.StampSinceOf(w.FailingSince), "delivered", terminal.StampSinceOf(w.DeliveredAt),
			"secret version", strconv.Itoa(w.SecretVersion), "old secret signs until", terminal.StampSinceOf(w.OldSecretUntil))
	})
}

func (a *app) webhookUpdateCommand() *cobra.Command {
	var in v1.WebhookChange
	var f webhookFlags
	var url, agentSlug, toolSlug, description string
	var active bool
	cmd := cli.Describe(&cobra.Command{
		Use: "update WEBHOOK", Short: "Change a webhook, or switch it on or off", Args: cli.Operands("webhook id"),
		ValidArgsFunction: a.completeWebhooks,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			for name, field := range map[string]struct {
				from *string
				to   **string
			}{
				"url": {&url, &in.URL}, "agent": {&agentSlug, &in.Agent}, "tool": {&toolSlug, &in.Tool},
				"description": {&description, &in.Description},
			} {
				if cmd.Flags().Changed(name) {
					*field.to = field.from
				}
			}
			if cmd.Flags().Changed("active") {
				in.Active = &active
			}
			if len(f.events) > 0 {
				in.Types = f.types()
			}
			w, err := c.ChangeWebhook(cmd.Context(), args[0], in)
			if err != nil {
				return err
			}
			return a.showWebhook(w)
		}),
	}, `Changes what the flags name. A webhook that was off or disabled gets the events from
then on, and the deliveries that were pending.`,
		`  toolcrib webhook update 01987a3c-0000-7000-8000-000000000003 --active
  toolcrib webhook update 01987a3c-0000-7000-8000-000000000003 --active=false
  toolcrib webhook update 01987a3c-0000-7000-8000-000000000003 --url https://example.com/new --event run.failed`)
	f.register(a, cmd)
	flags := cmd.Flags()
	flags.StringVar(&url, "url", "", "where to send")
	flags.StringVar(&agentSlug, "agent", "", "slug: only events of runs of this agent; empty for every agent")
	flags.StringVar(&toolSlug, "tool", "", "slug: only events of this tool; empty for every tool")
	flags.StringVar(&description, "description", "", "what it is for")
	flags.BoolVar(&active, "active", true, "whether events are sent")
	return cmd
}

func (a *app) webhookDeleteCommand() *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: "delete WEBHOOK", Short: "Delete a webhook, with its deliveries", Args: cli.Operands("webhook id"),
		ValidArgsFunction: a.completeWebhooks,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			gone, err := c.DeleteWebhook(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.Printer.ShowLine(gone, "deleted %s", gone.ID)
		}),
	}, `Deletes a webhook with the record of its deliveries. To pause it, switch it off:
toolcrib webhook update WEBHOOK --active=false`,
		`  toolcrib webhook delete 01987a3c-0000-7000-8000-000000000003`)
}

func (a *app) webhookRotateCommand() *cobra.Command {
	var overlap time.Duration
	cmd := cli.Describe(&cobra.Command{
		Use: "rotate WEBHOOK", Short: "Replace the secret of a webhook", Args: cli.Operands("webhook id"),
		ValidArgsFunction: a.completeWebhooks,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			seconds := int(overlap.Seconds())
			made, err := c.RotateWebhook(cmd.Context(), args[0], v1.WebhookRotation{OverlapS: &seconds})
			if err != nil {
				return err
			}
			return a.showWebhookSecret(made)
		}),
	}, `Makes a new secret and prints it this once. The old one signs too for the overlap, so
that receivers can change theirs meanwhile; with --overlap 0 it stops at once.`,
		`  toolcrib webhook rotate 01987a3c-0000-7000-8000-000000000003
  toolcrib webhook rotate 01987a3c-0000-7000-8000-000000000003 --overlap 0`)
	cmd.Flags().DurationVar(&overlap, "overlap", webhook.DefaultOverlap, "how long the old secret signs too, up to 168h")
	return cmd
}

// completeWebhooks completes ids of webhooks.
func (a *app) completeWebhooks(
	cmd *cobra.Command, args []string, typed string,
) ([]string, cobra.ShellCompDirective) {
	return cli.FirstOnly(func(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return a.ask(cmd, typed, func(ctx context.Context, c *client.Client) ([]string, error) {
			page, err := c.ListWebhooks(ctx, client.Page{Limit: completionNames})
			return each(page.Items, func(w v1.Webhook) string { return w.ID + "\t" + terminal.Shorten(w.URL, 60) }), err
		})
	})(cmd, args, typed)
}
