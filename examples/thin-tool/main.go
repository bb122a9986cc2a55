// Command thin-tool is the worker of a team whose tool answers at once, while a graph does the work.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	sdklog "go.temporal.io/sdk/log"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/examples/thin-tool/summary"
	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/worker"
)

const taskQueue = "consulting"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "thin-tool:", err)
		os.Exit(1) //nolint:forbidigo // This is main.
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("thin-tool", flag.ContinueOnError)
	tenant := flags.String("tenant", os.Getenv("TOOLCRIB_TENANT"), "the `id` of the tenant that has the bundle")
	records := flags.String("records", ".", "the `folder` with the application's records")
	listen := flags.String("listen", "127.0.0.1:8790", "the `address` at which summaries are read")
	engagement := flags.String("generate", "", "have the running worker call the tool for this `engagement`, and stop")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *tenant == "" {
		return errors.New("the tenant is missing: give -tenant, or set TOOLCRIB_TENANT")
	}
	options, err := envconfig.LoadDefaultClientOptions()
	if err != nil {
		return fmt.Errorf("reading the Temporal configuration: %w", err)
	}
	options.Logger = sdklog.NewStructuredLogger(slog.New(slog.NewTextHandler(os.Stderr, nil)))
	if *engagement != "" {
		return generate(ctx, options, tool.TenantID(*tenant), *engagement, out)
	}
	kept, err := summary.Open(*records, tool.TenantID(*tenant))
	if err != nil {
		return err
	}
	return work(ctx, options, tool.TenantID(*tenant), *listen, kept, out)
}

// work runs the worker and the site until ctx ends.
func work(
	ctx context.Context, options client.Options, tenant tool.TenantID, listen string, records *summary.Records,
	out io.Writer,
) (err error) {
	app := &summary.App{Records: records, Site: "http://" + listen}
	functions := function.NewRegistry()
	if err := app.Define(functions, tenant); err != nil {
		return err
	}
	plugin, err := worker.New(ctx, worker.Config{
		DatabaseURL: os.Getenv("TOOLCRIB_DATABASE_URL"),
		Functions:   functions, PublishTo: []string{string(tenant)},
		Models: map[string]agent.Model{"local": summary.Composer{}}, // Yours would be a provider's.
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, plugin.Close()) }()
	options.Plugins = []client.Plugin{plugin}
	c, err := client.DialContext(ctx, options)
	if err != nil {
		return fmt.Errorf("connecting to Temporal: %w", err)
	}
	defer c.Close()
	app.Fill = summary.FillWith(c, taskQueue)
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", listen)
	if err != nil {
		return fmt.Errorf("serving summaries: %w", err)
	}
	w := sdkworker.New(c, taskQueue, sdkworker.Options{})
	summary.Register(w)
	if err := w.Start(); err != nil {
		return errors.Join(fmt.Errorf("starting the worker: %w", err), listener.Close())
	}
	defer w.Stop()
	mux := http.NewServeMux()
	mux.Handle("GET /summaries/{id}", app)
	site := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go func() {
		<-ctx.Done()
		_ = site.Close()
	}()
	if _, err := fmt.Fprintln(out, "working; summaries are read at", app.Site); err != nil {
		return errors.Join(err, listener.Close())
	}
	if err := site.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving summaries: %w", err)
	}
	return nil
}

// generate has the worker call the tool, and says how long its call took.
func generate(
	ctx context.Context, options client.Options, tenant tool.TenantID, engagement string, out io.Writer,
) error {
	c, err := client.DialContext(ctx, options)
	if err != nil {
		return fmt.Errorf("connecting to Temporal: %w", err)
	}
	defer c.Close()
	began := time.Now()
	call, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{TaskQueue: taskQueue}, summary.GenerateWorkflow,
		summary.GenerateInput{
			Principal: tool.Principal{Tenant: tenant, Subject: "service:consulting"},
			Input:     summary.Input{EngagementID: engagement},
		})
	if err != nil {
		return fmt.Errorf("starting the workflow: %w", err)
	}
	var a summary.Answer
	if err := call.Get(ctx, &a); err != nil {
		return fmt.Errorf("calling the tool: %w", err)
	}
	if a.Error != nil {
		return fmt.Errorf("%s: %s", a.Error.Code, a.Error.Message)
	}
	_, err = fmt.Fprintf(out, "%s from %d sources, answered in %d ms\n", a.BriefURL, a.SourceCount,
		time.Since(began).Milliseconds())
	return err
}
