// Command function-tool is the worker of a team that brings tools of its own,
// as Go functions.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	sdklog "go.temporal.io/sdk/log"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/toolcrib/toolcrib/examples/function-tool/kitchen"
	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/worker"
)

const taskQueue = "kitchen"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "function-tool:", err)
		os.Exit(1) //nolint:forbidigo // This is main.
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("function-tool", flag.ContinueOnError)
	definitions := flags.Bool("definitions", false, "print the definitions of the tools, and stop")
	unit := flags.String("unit", "", "shop for pancakes in this unit, print the list, and stop")
	if err := flags.Parse(args); err != nil {
		return err
	}
	functions := function.NewRegistry()
	if err := kitchen.Define(functions); err != nil {
		return err
	}
	if *definitions {
		return printDefinitions(functions, out)
	}
	return work(ctx, functions, *unit, out)
}

// printDefinitions writes a tool for each function, as toolcrib apply reads
// them.
func printDefinitions(functions *function.Registry, out io.Writer) error {
	for _, name := range functions.Names() {
		t, _ := functions.Tool(name)
		t.Definition.Execution.TimeoutSeconds = 5
		raw, err := json.MarshalIndent(definition.ToolSpec{
			Slug: name, Definition: t.Definition, Policy: t.Policy, Version: "1.0.0", Publish: true,
		}, "", "  ")
		if err != nil {
			return fmt.Errorf("writing the definition of %s: %w", name, err)
		}
		if _, err := fmt.Fprintf(out, "---\n%s\n", raw); err != nil {
			return err
		}
	}
	return nil
}

// work runs the worker until ctx ends, or until one list is made.
func work(ctx context.Context, functions *function.Registry, unit string, out io.Writer) (err error) {
	plugin, err := worker.New(ctx, worker.Config{
		DatabaseURL: os.Getenv("TOOLCRIB_DATABASE_URL"),
		Functions:   functions,
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
	kitchen.Register(w)
	if err := w.Start(); err != nil {
		return fmt.Errorf("starting the worker: %w", err)
	}
	defer w.Stop()
	if unit == "" {
		<-ctx.Done()
		return nil
	}
	return shop(ctx, c, unit, out)
}

// shop runs the workflow once.
func shop(ctx context.Context, c client.Client, unit string, out io.Writer) error {
	run, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{TaskQueue: taskQueue}, kitchen.Workflow, kitchen.Order{
		Principal: tool.Principal{Tenant: tool.TenantID(os.Getenv("TOOLCRIB_TENANT")), Subject: "service:kitchen"},
		Recipe: kitchen.Recipe{Factor: 3, Ingredients: []kitchen.Ingredient{
			{Name: "flour", Grams: 250}, {Name: "butter", Grams: 40},
		}},
		Unit: unit,
	})
	if err != nil {
		return fmt.Errorf("starting the workflow: %w", err)
	}
	var list []string
	if err := run.Get(ctx, &list); err != nil {
		return fmt.Errorf("shopping: %w", err)
	}
	_, err = fmt.Fprintln(out, strings.Join(list, "\n"))
	return err
}
