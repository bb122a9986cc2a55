package operator

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/url"
	"regexp"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"

	"github.com/toolcrib/toolcrib/internal/payload"
	"github.com/toolcrib/toolcrib/internal/vault"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/observe"
	"github.com/toolcrib/toolcrib/platform/observe/probe"
	"github.com/toolcrib/toolcrib/platform/serve"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/worker"
)

const defaultListen = "127.0.0.1:8080"

func (a *app) serveCommand() *cobra.Command {
	var database, address, metrics, queue, kek, public, content, ui, payloads string
	var hosts []string
	var connections int
	var verbose, plain bool
	var reach WorkerFlags
	var limits limitFlags
	var files fileFlags
	var identities identityFlags
	var temporal temporalFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the HTTP API",
		Long: `Serves the HTTP API until it is interrupted; then the requests under way finish.

The database role must own nothing and not bypass row level security. Temporal
is found as its own tools do it: TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, …

It calls out for two things only, within what the flags allow, as workers do with
theirs: to ask the MCP servers that tenants attach what they offer, and to send the
events that tenants' webhooks want. Several servers share that work. With --oidc-issuers
it also gets the keys of the issuers whose tokens it accepts.

With --maintenance-database-url it also reconciles: runs whose workflows were
terminated or lost, and what else has ended without saying so, are closed within
a minute. Of several servers one does it at a time.

Metrics are at /metrics of an API that only this machine can reach, or else at
--metrics-address. Traces go where OTEL_EXPORTER_OTLP_ENDPOINT says.`,
		Example: `  toolcrib serve --database-url postgres://app@db/toolcrib --listen :8080`,
		Args:    cli.Operands(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			databaseURL, err := a.DatabaseURL(database)
			if err != nil {
				return err
			}
			conns, err := a.connections(connections)
			if err != nil {
				return err
			}
			keys, err := a.Keyring(kek)
			if err != nil {
				return err
			}
			payloadKeys, err := a.PayloadKeys(payloads)
			if err != nil {
				return err
			}
			log := a.processLogger(verbose)
			plugin, err := reach.Config(log, a.Env.Getenv)
			if err != nil {
				return err
			}
			plugin.KeyEncryption, plugin.PayloadKeys, plugin.SandboxCommand = keys.Keys(), payloadKeys, a.Env.Sandbox
			settings := serveSettings{
				plugin: plugin, keys: keys, database: databaseURL, connections: conns, metrics: metrics,
				queue:   cmp.Or(queue, a.Env.Getenv(cli.QueueVariable)),
				address: cmp.Or(address, a.Env.Getenv(cli.ListenVariable), defaultListen), log: log,
			}
			if err := limits.apply(&settings.handler, a.Env.Getenv); err != nil {
				return err
			}
			closeIssuers, err := identities.apply(&settings.handler)
			if err != nil {
				return err
			}
			defer closeIssuers()
			if settings.handler.PublicURL, err = publicURL(cmp.Or(public, a.Env.Getenv(publicVariable))); err != nil {
				return err
			}
			content = cmp.Or(content, a.Env.Getenv(contentVariable))
			if settings.handler.ContentOrigin, err = contentOrigin(content, settings.handler.PublicURL); err != nil {
				return err
			}
			if settings.handler.TemporalUI, err = temporalUI(cmp.Or(ui, a.Env.Getenv(temporalUIVariable))); err != nil {
				return err
			}
			settings.handler.Browsers.PlainHTTP = plain
			if settings.hosts, err = ReadPublicHosts(hosts, a.Env.Getenv); err != nil {
				return err
			}
			if err := files.read(a.Env.Getenv); err != nil {
				return err
			}
			if settings.temporal, err = temporal.options(a.Env.Environ, log); err != nil {
				return err
			}
			if at := &settings.handler.TemporalUI; *at != "" {
				*at += "/namespaces/" + url.PathEscape(cmp.Or(settings.temporal.Namespace, client.DefaultNamespace))
			}
			payload.Configure(&settings.temporal, payloadKeys)
			settings.handler.PayloadKeys = payloadKeys
			var closeFiles func()
			if settings.handler.FileConfig, closeFiles, err = files.open(cmd.Context(), a.Env.Getenv); err != nil {
				return err
			}
			defer closeFiles()
			return a.serve(cmd.Context(), settings)
		},
	}
	cmd.Flags().StringVar(&address, "listen", "",
		"address to listen on (default "+defaultListen+"; "+cli.ListenVariable+")")
	cmd.Flags().StringVar(&public, "public-url", "",
		"where people reach this server, such as https://tools.example.com or https://example.com/tools, for links to "+
			"pages ("+publicVariable+")")
	cmd.Flags().StringVar(&content, "content-origin", "",
		"another origin that leads to this server, such as https://content.example.com, for the page in which the console "+
			"shows apps of tools ("+contentVariable+")")
	PublicHosts(cmd, &hosts)
	cmd.Flags().StringVar(&ui, "temporal-ui", "",
		"where people reach the Temporal UI, such as https://temporal.example.com: the console links runs to it ("+
			temporalUIVariable+")")
	cmd.Flags().BoolVar(&plain, "plain-http", false,
		"let browsers of this machine sign in to the console without TLS; refused on an address that others reach")
	metricsFlag(cmd, &metrics, "default: at /metrics of the API, if that is on loopback")
	cmd.Flags().StringVar(
		&queue, "task-queue", "", "where the workers listen (default "+serve.DefaultTaskQueue+"; "+cli.QueueVariable+")",
	)
	reach.registerReach(cmd)
	limits.register(cmd)
	files.register(cmd)
	identities.register(cmd)
	maintenanceFlag(cmd, &a.maintenance)
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "log more")
	cli.DatabaseFlag(cmd, &database)
	connectionsFlag(cmd, &connections)
	cli.KEKFlag(cmd, &kek)
	cli.PayloadKeysFlag(cmd, &payloads)
	temporal.register(cmd)
	return cmd
}

// publicVariable is the environment variable of --public-url.
const publicVariable = "TOOLCRIB_PUBLIC_URL"

// mountable are the paths that a server may be under.
var mountable = regexp.MustCompile(`^(/[A-Za-z0-9_-]+)*$`)

// publicURL checks the address that links begin with; empty for none.
func publicURL(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil ||
		u.RawQuery != "" || u.Fragment != "" || !mountable.MatchString(strings.TrimRight(u.EscapedPath(), "/")) {
		return "", cli.Usagef("--public-url %q: expected an address such as https://tools.example.com, or one with a "+
			"path of letters, digits, - and _, such as https://example.com/tools", text)
	}
	return u.Scheme + "://" + u.Host + strings.TrimRight(u.Path, "/"), nil
}

// contentVariable is the environment variable of --content-origin.
const contentVariable = "TOOLCRIB_CONTENT_ORIGIN"

// contentOrigin checks the origin of the page of apps; empty for the console's own.
func contentOrigin(text, public string) (string, error) {
	if text == "" {
		return "", nil
	}
	origin, err := publicURL(text)
	if err != nil || strings.Count(origin, "/") > 2 {
		return "", cli.Usagef("--content-origin %q: expected an origin such as https://content.example.com", text)
	}
	if public == "" || strings.HasPrefix(strings.ToLower(public)+"/", strings.ToLower(origin)+"/") {
		return "", cli.Usagef("--content-origin %q: it takes --public-url, of another host", text)
	}
	return origin, nil
}

// temporalUIVariable is the environment variable of --temporal-ui.
const temporalUIVariable = "TOOLCRIB_TEMPORAL_UI"

// temporalUI checks the address of the Temporal UI; empty for none. It may have a path.
func temporalUI(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil ||
		u.RawQuery != "" || u.Fragment != "" {
		return "", cli.Usagef("--temporal-ui %q: expected an address such as https://temporal.example.com", text)
	}
	return strings.TrimRight(u.String(), "/"), nil
}

type serveSettings struct {
	plugin                            worker.Config // What may be reached, and with which credentials.
	keys                              *vault.Keyring
	database, address, metrics, queue string
	connections                       int
	hosts                             []string            // Names by which the server is reached.
	handler                           serve.HandlerConfig // Its limits.
	temporal                          client.Options
	log                               *slog.Logger
}

func (a *app) serve(ctx context.Context, settings serveSettings) error {
	o, stop, err := a.observer(ctx, "toolcrib-api", settings.log)
	if err != nil {
		return err
	}
	defer stop()
	s, err := store.Open(ctx, settings.database, store.Options{Logger: settings.log, MaxConns: settings.connections})
	if err != nil {
		return err
	}
	defer s.Close()
	o.Collect(observe.Pool(s), observe.Sweeps(s), observe.Schema(s), observe.Audit(s))
	opts := settings.temporal
	temporal, err := serve.DialTemporal(ctx, o.Client(opts))
	if err != nil {
		return err
	}
	defer temporal.Close()
	settings.plugin.Store = s
	plugin, err := worker.New(ctx, settings.plugin) // It starts no worker.
	if err != nil {
		return err
	}
	defer func() { _ = plugin.Close() }() // Connections that were to end anyway.
	listener, err := serve.Listen(ctx, settings.address)
	if err != nil {
		return err
	}
	if settings.handler.Browsers.PlainHTTP && !serve.Local(listener) {
		return errors.Join(cli.Usagef("--plain-http with --listen %s: others could read what browsers sign in with; "+
			"listen on 127.0.0.1, or leave it out and put TLS in front", settings.address), listener.Close())
	}
	config := settings.handler
	config.Store, config.Temporal, config.Namespace, config.TaskQueue = s, temporal, opts.Namespace, settings.queue
	config.Version, config.Logger, config.Keys = a.Env.Version, settings.log, settings.keys
	config.Discoverer, config.Searcher, config.Artifacts = plugin.Discoverer(), plugin.Searcher(), plugin.Artifacts()
	config.CheckWebhook, config.Apps = plugin.CheckWebhook, plugin.Apps()
	config.Observer, config.ShowMetrics = o, a.showMetrics(settings.metrics, listener)
	config.Resolver = serve.Resolver(config)
	if config.Files, err = serve.Files(config); err != nil {
		return errors.Join(err, listener.Close())
	}
	if config.Runs, err = serve.Runs(ctx, config); err != nil {
		return errors.Join(err, listener.Close())
	}
	if config.Schedules, err = serve.Schedules(ctx, config); err != nil {
		return errors.Join(err, listener.Close())
	}
	handler, err := serve.Handler(ctx, config)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	webhooks, err := plugin.Webhooks()
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	stopReconciler, err := a.startReconciler(ctx, serve.ReconcileConfig{
		Store: s, Temporal: temporal, Namespace: opts.Namespace, Observer: o, Logger: settings.log,
	})
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer stopReconciler()
	handler = serve.Hosts{
		Names: settings.hosts, Own: []string{config.PublicURL, config.ContentOrigin},
		Setting: "--public-url or --public-host",
	}.Guard(listener, handler)
	settings.log.InfoContext(ctx, "serving", slog.String("url", "http://"+listener.Addr().String()))
	return a.together(ctx, settings.metrics, o, probe.New(append(probe.Database(s), probe.Temporal(temporal))...),
		settings.log,
		func(ctx context.Context) error {
			var dispatching sync.WaitGroup
			defer dispatching.Wait()
			dispatching.Go(func() { config.Runs.DispatchUntil(ctx) })
			dispatching.Go(func() { webhooks.Run(ctx) })
			dispatching.Go(func() { config.Schedules.Run(ctx) })
			dispatching.Go(func() { config.Files.Run(ctx) })
			return serve.HTTP(ctx, listener, handler, settings.log)
		})
}

// processLogger returns the log of a process: text on the error stream, or
// JSON with --json.
func (a *app) processLogger(verbose bool) *slog.Logger {
	opts := &slog.HandlerOptions{Level: slog.LevelInfo}
	if verbose {
		opts.Level = slog.LevelDebug
	}
	if a.Printer.JSON {
		return slog.New(slog.NewJSONHandler(a.Env.Err, opts))
	}
	return slog.New(slog.NewTextHandler(a.Env.Err, opts))
}
