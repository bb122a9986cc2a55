// Command host-worker is the worker of a team that runs Temporal already. It
// serves the team's own workflow, and by one plugin Toolcrib's too.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	sdklog "go.temporal.io/sdk/log"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/toolcrib/toolcrib/examples/host-worker/dispatch"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/worker"
)

const taskQueue = "warehouse"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "host-worker:", err)
		os.Exit(1) //nolint:forbidigo // This is main.
	}
}

func run(ctx context.Context, args []string, out io.Writer) (err error) {
	flags := flag.NewFlagSet("host-worker", flag.ContinueOnError)
	tenant := flags.String("tenant", os.Getenv("TOOLCRIB_TENANT"), "the `id` of the tenant whose tools are called")
	reach := flags.String("allow", os.Getenv("TOOLCRIB_ALLOW"),
		"the `host:port` that tools may reach beyond the public internet")
	parcel := flags.String("parcel", "", "dispatch a parcel of this `id`, print the booking, and stop")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *tenant == "" {
		return errors.New("the tenant is missing: give -tenant, or set TOOLCRIB_TENANT")
	}

	// One: make the plugin.
	plugin, err := worker.New(ctx, worker.Config{
		DatabaseURL: os.Getenv("TOOLCRIB_DATABASE_URL"),
		SecretsDir:  os.Getenv("TOOLCRIB_SECRETS_DIR"),
		Allow:       map[tool.TenantID]worker.Allowance{"": {Hosts: []string{*reach}}},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, plugin.Close()) }()

	// Two: give it to the client. Everything else is as before.
	options, err := envconfig.LoadDefaultClientOptions()
	if err != nil {
		return fmt.Errorf("reading the Temporal configuration: %w", err)
	}
	options.Plugins = []client.Plugin{plugin}
	options.Logger = sdklog.NewStructuredLogger(slog.New(slog.NewTextHandler(os.Stderr, nil)))
	c, err := client.DialContext(ctx, options)
	if err != nil {
		return fmt.Errorf("connecting to Temporal: %w", err)
	}
	defer c.Close()
	w := sdkworker.New(c, taskQueue, sdkworker.Options{})
	dispatch.Dispatcher{
		Principal: tool.Principal{Tenant: tool.TenantID(*tenant), Subject: "service:warehouse"},
	}.Register(w)
	if err := w.Start(); err != nil {
		return fmt.Errorf("starting the worker: %w", err)
	}
	defer w.Stop() // Lets a running tool finish.

	if *parcel == "" {
		<-ctx.Done()
		return nil
	}
	return send(ctx, c, *parcel, out)
}

// send dispatches one parcel and waits for its booking.
func send(ctx context.Context, c client.Client, id string, out io.Writer) error {
	run, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: "dispatch/" + id, TaskQueue: taskQueue},
		dispatch.Workflow, dispatch.Parcel{ID: id, Country: "DE", Items: []string{"TEAPOT-BLUE", "CUP-BLUE"}})
	if err != nil {
		return fmt.Errorf("starting the workflow: %w", err)
	}
	var booking dispatch.Booking
	if err := run.Get(ctx, &booking); err != nil {
		return fmt.Errorf("dispatching %s: %w", id, err)
	}
	_, err = fmt.Fprintf(out, "%s goes by %s: %d g, %.2f EUR, %d days\n", booking.ParcelID, booking.Service,
		booking.WeightGrams, float64(booking.PriceCents)/100, booking.Days)
	return err
}
