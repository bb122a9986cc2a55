// Command custom-tool is the worker of a team that brings a way to run tools
// of its own.
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

	"github.com/toolcrib/toolcrib/examples/custom-tool/prices"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/worker"
)

const taskQueue = "prices"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "custom-tool:", err)
		os.Exit(1) //nolint:forbidigo // This is main.
	}
}

func run(ctx context.Context, args []string, out io.Writer) (err error) {
	flags := flag.NewFlagSet("custom-tool", flag.ContinueOnError)
	sku := flags.String("sku", "", "ask what this product costs, print the answer, and stop")
	if err := flags.Parse(args); err != nil {
		return err
	}
	plugin, err := worker.New(ctx, worker.Config{
		DatabaseURL: os.Getenv("TOOLCRIB_DATABASE_URL"),
		Custom:      map[string]tool.Executor{"priceList": prices.Default},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, plugin.Close()) }()
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
	prices.Register(w)
	if err := w.Start(); err != nil {
		return fmt.Errorf("starting the worker: %w", err)
	}
	defer w.Stop()
	if *sku == "" {
		<-ctx.Done()
		return nil
	}
	return ask(ctx, c, *sku, out)
}

// ask runs the workflow once.
func ask(ctx context.Context, c client.Client, sku string, out io.Writer) error {
	run, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{TaskQueue: taskQueue}, prices.Workflow, prices.Question{
		Principal: tool.Principal{Tenant: tool.TenantID(os.Getenv("TOOLCRIB_TENANT")), Subject: "service:prices"}, SKU: sku,
	})
	if err != nil {
		return fmt.Errorf("starting the workflow: %w", err)
	}
	var answer string
	if err := run.Get(ctx, &answer); err != nil {
		return fmt.Errorf("asking: %w", err)
	}
	_, err = fmt.Fprintln(out, answer)
	return err
}
