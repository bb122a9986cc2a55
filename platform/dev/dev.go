package dev

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"

	"github.com/toolcrib/toolcrib/internal/payload"
	"github.com/toolcrib/toolcrib/internal/vault"
	"github.com/toolcrib/toolcrib/platform/api"
	"github.com/toolcrib/toolcrib/platform/dev/embedded"
	"github.com/toolcrib/toolcrib/platform/dev/folder"
	"github.com/toolcrib/toolcrib/platform/dev/ports"
	"github.com/toolcrib/toolcrib/platform/observe"
	"github.com/toolcrib/toolcrib/platform/serve"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// Dev is the running platform. Its methods may be called concurrently.
type Dev struct {
	cfg    Config
	stack  *embedded.Stack
	store  *store.Store
	worker *serve.Worker
	record *serve.Reconciler
	tenant store.Tenant
	keys   *vault.Keyring
	// payloads are the payload keys; nil for none.
	payloads *payload.Keyring
	key      string

	approverKey string
	consoleKey  string // Of browsers: another than who starts runs on the command line, whose calls they may approve.
	signIn      *oneTime
	url         string

	hangUp context.CancelFunc // Stops the HTTP server.
	served chan error         // Receives the error that the HTTP server ended with.

	stop sync.Once
	err  error
}

// Start starts everything and returns when it answers. If a part fails the
// others are stopped. ctx limits the start only: the platform runs until it is
// stopped.
func Start(ctx context.Context, cfg Config) (*Dev, error) {
	d := &Dev{cfg: cfg.withDefaults()}
	if err := d.start(ctx); err != nil {
		return nil, errors.Join(err, d.Stop(context.WithoutCancel(ctx)))
	}
	return d, nil
}

func (d *Dev) start(ctx context.Context) (err error) {
	if d.cfg.ListenFixed { // Starting the rest takes long.
		listener, err := d.listen(ctx)
		if err != nil {
			return err
		}
		_ = listener.Close()
	}
	if d.stack, err = embedded.Start(ctx, d.cfg.Stack); err != nil {
		return err
	}
	if _, err := serve.Migrate(ctx, d.stack.DatabaseURL(), d.cfg.Logger); err != nil {
		return fmt.Errorf("preparing the database: %w", d.otherBuild(err))
	}
	// The cluster's login is a superuser; switching the role keeps tenants apart.
	d.store, err = store.Open(ctx, d.stack.DatabaseURL(), store.Options{Logger: d.cfg.Logger, SetRole: store.AppRole})
	if err != nil {
		return fmt.Errorf("opening the database: %w", err)
	}
	if err := d.ensureKey(ctx); err != nil {
		return err
	}
	if err := d.ensureEncryption(); err != nil {
		return err
	}
	if err := d.startWorker(ctx); err != nil {
		return err
	}
	if err := d.startReconciler(ctx); err != nil {
		return err
	}
	return d.startAPI(ctx)
}

func (d *Dev) startReconciler(ctx context.Context) (err error) {
	d.record, err = serve.NewReconciler(ctx, serve.ReconcileConfig{
		Store: d.store, Temporal: d.worker.Client(), Namespace: d.stack.Namespace(), MaintenanceURL: d.stack.DatabaseURL(),
		// Both are in one folder.
		SetRole: store.MaintenanceRole, Adopt: true, Observer: d.cfg.Observer, Logger: d.cfg.Logger,
	})
	if err != nil {
		return fmt.Errorf("opening the maintenance connection: %w", err)
	}
	d.record.Start(ctx)
	return nil
}

// otherBuild says what to do about a database that another build of the
// platform made.
func (d *Dev) otherBuild(err error) error {
	e := tool.AsError(err)
	if e.Kind != tool.Conflict {
		return err
	}
	return &tool.Error{
		Kind: e.Kind, Op: e.Op, Err: err,
		Msg: fmt.Sprintf("%s; another build made the data folder %s: use that one, or remove the folder to begin anew", e.Msg,
			d.stack.DataDir()),
	}
}

func (d *Dev) startWorker(ctx context.Context) (err error) {
	plugin := d.cfg.Worker
	plugin.Store, plugin.KeyEncryption, plugin.PayloadKeys = d.store, d.keys.Keys(), d.payloads
	temporal := client.Options{
		HostPort: d.stack.TemporalAddress(), Namespace: d.stack.Namespace(), Logger: sdklog.NewStructuredLogger(d.cfg.Logger),
	}
	if o := d.cfg.Observer; o != nil {
		o.Collect(observe.Pool(d.store), observe.Sweeps(d.store), observe.Schema(d.store),
			observe.Audit(d.store))
		temporal = o.Metrics(temporal)
		plugin.TracerProvider, plugin.MeterProvider = o.TracerProvider(), o.MeterProvider()
	}
	d.worker, err = serve.StartWorker(ctx, serve.WorkerConfig{
		Plugin: plugin, TaskQueue: d.cfg.TaskQueue, Temporal: temporal,
	})
	return err
}

func (d *Dev) startAPI(ctx context.Context) error {
	listener, err := d.listen(ctx)
	if err != nil {
		return err
	}
	config := serve.HandlerConfig{
		Store: d.store, Temporal: d.worker.Client(), Namespace: d.stack.Namespace(), TaskQueue: d.cfg.TaskQueue,
		Types: d.worker.Types(), Keys: d.keys, Discoverer: d.worker.Discoverer(), Searcher: d.worker.Searcher(),
		Artifacts: d.worker.Artifacts(), ModelProviders: d.worker.ModelProviders(),
		Version: d.cfg.Version, Logger: d.cfg.Logger,
		Middleware: slices.Collect(maps.Keys(d.cfg.Worker.NamedMiddleware)), Observer: d.cfg.Observer,
		ShowMetrics: serve.Local(listener), PublicURL: "http://" + listener.Addr().String() + d.cfg.Prefix,
		CheckWebhook: d.worker.CheckWebhook, PayloadKeys: d.payloads, Apps: d.worker.Apps(),
		Browsers: api.BrowserConfig{PlainHTTP: serve.Local(listener)},
	}
	if ui := d.stack.UIURL(); ui != "" {
		config.TemporalUI = ui + "/namespaces/" + url.PathEscape(d.stack.Namespace())
	}
	if config.Browsers.PlainHTTP {
		d.signIn = newOneTime(d.consoleKey)
		config.Browsers.Redeem = d.signIn.redeem
	}
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
	handler = serve.Hosts{
		Names: d.cfg.PublicHosts, Own: []string{config.PublicURL}, Setting: "--public-host",
	}.Guard(listener, handler)
	webhooks, err := d.worker.Webhooks()
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	d.url = "http://" + listener.Addr().String()
	serving, hangUp := context.WithCancel(context.WithoutCancel(ctx))
	d.hangUp, d.served = hangUp, make(chan error, 1)
	var working sync.WaitGroup
	working.Go(func() { config.Runs.DispatchUntil(serving) })
	working.Go(func() { webhooks.Run(serving) })
	working.Go(func() { config.Files.Run(serving) })
	working.Go(func() { config.Schedules.Run(serving) })
	go func() {
		err := serve.HTTP(serving, listener, handler, d.cfg.Logger)
		hangUp() // Also where serving failed.
		working.Wait()
		d.served <- err
	}()
	err = errors.Join(d.write(ServerFile, d.url), d.write(TemporalFile, d.stack.TemporalAddress()))
	if d.stack.PostgresDone() != nil {
		err = errors.Join(err, d.write(DatabaseFile, d.stack.DatabaseURL()))
	}
	return err
}

// listen takes the address, or another port of its host when that is taken and
// another will do.
func (d *Dev) listen(ctx context.Context) (net.Listener, error) {
	var config net.ListenConfig
	address := d.cfg.Listen
	listener, err := config.Listen(ctx, "tcp", address)
	if err == nil {
		return listener, nil
	}
	host, _, splitErr := net.SplitHostPort(address)
	if splitErr != nil {
		return nil, &tool.Error{
			Kind: tool.Invalid, Op: "dev.Start", Msg: fmt.Sprintf("the address %q is not host:port", address), Err: err,
		}
	}
	refused := &tool.Error{
		Kind: tool.Unavailable, Op: "dev.Start", Msg: "the API: " + ports.Refusal(ctx, address, err), Err: err,
	}
	if d.cfg.ListenFixed {
		return nil, refused
	}
	if listener, err = config.Listen(ctx, "tcp", net.JoinHostPort(host, "0")); err != nil {
		return nil, refused
	}
	d.cfg.Logger.WarnContext(ctx, "the usual port is taken, and another is used", slog.String("service", "the API"),
		slog.String("reason", refused.Msg), slog.String("used", listener.Addr().String()))
	return listener, nil
}

// write keeps a line in a file of the data folder, for this user alone.
func (d *Dev) write(name, line string) error {
	if err := os.WriteFile(filepath.Join(d.stack.DataDir(), name), []byte(line+"\n"), 0o600); err != nil {
		return folder.Explain(d.stack.DataDir(), fmt.Errorf("writing to the data folder: %w", err))
	}
	return nil
}

// Wait returns when the platform can't go on, or ctx ends. It does not stop
// what still runs.
func (d *Dev) Wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-d.served:
		d.served <- err // For Stop.
		return err
	case <-d.stack.PostgresDone():
		return errors.New("PostgreSQL has ended; the log says why")
	}
}

// Stop stops everything, the API first, and lets running work finish as far as
// ctx allows. Only the first call does anything; the others return its outcome.
func (d *Dev) Stop(ctx context.Context) error {
	d.stop.Do(func() {
		var errs []error
		if d.hangUp != nil {
			d.hangUp()
			errs = append(errs, <-d.served)
			for _, name := range []string{ServerFile, TemporalFile, DatabaseFile} {
				errs = append(errs, ignoreMissing(os.Remove(filepath.Join(d.stack.DataDir(), name))))
			}
		}
		if d.record != nil {
			d.record.Stop()
		}
		if d.worker != nil {
			d.worker.Stop()
		}
		if d.store != nil {
			d.store.Close()
		}
		if d.stack != nil {
			errs = append(errs, d.stack.Stop(ctx))
		}
		d.err = errors.Join(errs...)
		d.cfg.Logger.InfoContext(ctx, "the platform has stopped", slog.Bool("clean", d.err == nil))
	})
	return d.err
}

func ignoreMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// URL returns the address of the API.
func (d *Dev) URL() string { return d.url }

// SignInURL returns where a browser of this machine signs in to the console, once. It is empty where others
// reach the API.
func (d *Dev) SignInURL() string {
	if d.signIn == nil {
		return ""
	}
	return d.url + "/login#k=" + d.signIn.code
}

// Key returns the API key of the tenant.
func (d *Dev) Key() string { return d.key }

// ApproverKey returns the API key that approves calls.
func (d *Dev) ApproverKey() string { return d.approverKey }

// ApproverKeyFile returns the file that holds the key that approves calls.
func (d *Dev) ApproverKeyFile() string { return filepath.Join(d.stack.DataDir(), ApproverKeyFile) }

// KeyFile returns the file that holds the key.
func (d *Dev) KeyFile() string { return filepath.Join(d.stack.DataDir(), KeyFile) }

// Tenant returns the tenant that the key is for.
func (d *Dev) Tenant() store.Tenant { return d.tenant }

// Store returns the platform's store.
func (d *Dev) Store() *store.Store { return d.store }

// Temporal returns a client of the stack's Temporal.
func (d *Dev) Temporal() client.Client { return d.worker.Client() }

// Stack returns the services that the platform runs on.
func (d *Dev) Stack() *embedded.Stack { return d.stack }
