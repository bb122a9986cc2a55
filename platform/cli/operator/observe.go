package operator

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/toolcrib/toolcrib/platform/observe"
	"github.com/toolcrib/toolcrib/platform/observe/probe"
	"github.com/toolcrib/toolcrib/platform/serve"
)

// MetricsVariable names the address that metrics and health checks are served
// at.
const MetricsVariable = "TOOLCRIB_METRICS_ADDRESS"

// exportTimeout bounds how long a stopping process waits for its last spans to
// be taken.
const exportTimeout = 5 * time.Second

func metricsFlag(cmd *cobra.Command, into *string, otherwise string) {
	cmd.Flags().StringVar(into, "metrics-address", "",
		"address to serve /metrics, /healthz and /readyz at, without a key ("+otherwise+"; "+MetricsVariable+")")
}

// observer returns an observer of a process, and a function that stops it.
func (a *app) observer(ctx context.Context, service string, log *slog.Logger) (*observe.Observer, func(), error) {
	o, err := observe.New(ctx, observe.Config{Service: service, Version: a.Env.Version, Getenv: a.Env.Getenv, Logger: log})
	if err != nil {
		return nil, nil, err
	}
	return o, func() {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), exportTimeout)
		defer cancel()
		if err := o.Stop(ending); err != nil {
			log.WarnContext(ending, "the last spans were lost", slog.Any("error", err))
		}
	}, nil
}

// together runs what a process is for, and beside it serves metrics at the
// address the user named, if any, until ctx ends or one of them fails.
func (a *app) together(
	ctx context.Context, metrics string, o *observe.Observer, p *probe.Prober, log *slog.Logger,
	run func(context.Context) error,
) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return run(ctx) })
	if address := a.metricsAddress(metrics); address != "" {
		group.Go(func() error {
			listener, err := serve.Listen(ctx, address)
			if err != nil {
				return err
			}
			log.InfoContext(ctx, "serving metrics", slog.String("url", "http://"+listener.Addr().String()+"/metrics"))
			return serve.HTTP(ctx, listener, serve.MetricsHandler(o, p), log)
		})
	}
	return group.Wait()
}

func (a *app) metricsAddress(flag string) string { return cmp.Or(flag, a.Env.Getenv(MetricsVariable)) }

// showMetrics reports whether the API's own listener may show metrics: when
// they have none of their own, and only this machine can ask.
func (a *app) showMetrics(flag string, api net.Listener) bool {
	return a.metricsAddress(flag) == "" && serve.Local(api)
}
