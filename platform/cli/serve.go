package cli

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/platform/serve"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

const defaultListen = "127.0.0.1:8080"

func (a *app) serveCommand() *cobra.Command {
	var database, address, queue string
	var verbose bool
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the HTTP API",
		Long: `Serves the HTTP API until it is interrupted; then the requests under way finish.

The database role must own nothing and not bypass row level security. Temporal
is found as its own tools do it: TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, …`,
		Example: `  toolcrib serve --database-url postgres://app@db/toolcrib --listen :8080`,
		Args:    operands(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			url, err := a.databaseURL(database)
			if err != nil {
				return err
			}
			return a.serve(cmd.Context(), serveSettings{
				database: url, queue: cmp.Or(queue, a.env.Getenv(QueueVariable)),
				address: cmp.Or(address, a.env.Getenv(ListenVariable), defaultListen), log: a.processLogger(verbose),
			})
		},
	}
	cmd.Flags().StringVar(&address, "listen", "", "address to listen on (default "+defaultListen+"; "+ListenVariable+")")
	cmd.Flags().StringVar(&queue, "task-queue", "", "where the workers listen (default "+serve.DefaultTaskQueue+"; "+QueueVariable+")")
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "log more")
	databaseFlag(cmd, &database)
	return cmd
}

type serveSettings struct {
	database, address, queue string
	log                      *slog.Logger
}

func (a *app) serve(ctx context.Context, settings serveSettings) error {
	s, err := store.Open(ctx, settings.database, store.Options{Logger: settings.log})
	if err != nil {
		return err
	}
	defer s.Close()
	opts, err := serve.TemporalOptions(environ(a.env.Environ), settings.log)
	if err != nil {
		return err
	}
	temporal, err := serve.DialTemporal(ctx, opts)
	if err != nil {
		return err
	}
	defer temporal.Close()
	handler, err := serve.Handler(ctx, serve.HandlerConfig{
		Store: s, Temporal: temporal, Namespace: opts.Namespace, TaskQueue: settings.queue, Version: a.env.Version, Logger: settings.log,
	})
	if err != nil {
		return err
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", settings.address)
	if err != nil {
		return &tool.Error{Kind: tool.Unavailable, Msg: fmt.Sprintf("cannot listen on %s: %v", settings.address, err), Err: err}
	}
	settings.log.InfoContext(ctx, "serving", slog.String("url", "http://"+listener.Addr().String()))
	return serve.HTTP(ctx, listener, handler, settings.log)
}

// processLogger returns the log of a process: text on the error stream, or
// JSON with --json.
func (a *app) processLogger(verbose bool) *slog.Logger {
	opts := &slog.HandlerOptions{Level: slog.LevelInfo}
	if verbose {
		opts.Level = slog.LevelDebug
	}
	if a.flags.json {
		return slog.New(slog.NewJSONHandler(a.env.Err, opts))
	}
	return slog.New(slog.NewTextHandler(a.env.Err, opts))
}
