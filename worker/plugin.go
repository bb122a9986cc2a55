// Package worker makes a Temporal worker run Toolcrib: it assembles store,
// resolver, executors and activities into a plugin.
//
//	plugin, err := worker.New(ctx, worker.Config{DatabaseURL: url})
//	…
//	c, err := client.Dial(client.Options{Plugins: []client.Plugin{plugin}})
//	w := sdkworker.New(c, "my-queue", sdkworker.Options{})
//
// Every worker made from that client then runs Toolcrib's workflows and
// activities beside its own. Do not list the plugin in the worker's options
// too.
package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/toolcrib/toolcrib/activities"
	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/builtins"
	"github.com/toolcrib/toolcrib/executors"
	"github.com/toolcrib/toolcrib/executors/custom"
	"github.com/toolcrib/toolcrib/executors/mcpcall"
	"github.com/toolcrib/toolcrib/internal/analytics"
	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/payload"
	"github.com/toolcrib/toolcrib/internal/telemetry"
	"github.com/toolcrib/toolcrib/internal/temporaltrace"
	"github.com/toolcrib/toolcrib/internal/vault"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/retrieval/ingest"
	"github.com/toolcrib/toolcrib/runs/scheduler"
	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/workflows"
)

type (
	clientBase = client.PluginBase
	workerBase = sdkworker.PluginBase
)

// Plugin runs Toolcrib in Temporal workers. It is both a client plugin and a
// worker plugin, may serve several workers at once, and is safe for concurrent
// use. Close it when the workers have stopped.
type Plugin struct {
	clientBase
	workerBase

	cfg        Config
	store      *store.Store
	telemetry  *telemetry.Telemetry
	mux        *executors.Mux
	types      executors.Types
	builtins   *builtins.Catalog
	box        builtins.Sandbox // Nil without a command.
	vault      *vault.Vault
	gate       *egress.Gate
	sessions   *vault.Sessions // Nil without a key-encryption key.
	payloads   *PayloadKeys    // Nil without a payload key.
	mcp        *mcpcall.Client
	custom     *custom.Mux
	analytics  *analytics.Queue // Nil without a sink.
	models     map[string]agent.Model
	searcher   retrieval.Searcher
	ingester   *ingest.Ingester
	activities *activities.Activities
	control    *activities.Control

	starting sync.Mutex
	opened   bool // Whether the host's functions are open.
	started  bool // Whether the host's functions are open and published.

	tending     sync.Once
	closing     sync.Once
	workers     atomic.Int64 // That run.
	stopTimeout atomic.Int64 // Of the worker that was configured last.
	closers     []io.Closer  // In the order of creation.
}

var (
	_ client.Plugin    = (*Plugin)(nil)
	_ sdkworker.Plugin = (*Plugin)(nil)
)

// New checks the configuration, opens the resources that it names, and returns
// the plugin. It fails where the database's role could bypass row-level
// security, or its schema is not the one this version needs.
func New(ctx context.Context, cfg Config) (*Plugin, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	p := &Plugin{cfg: cfg.withDefaults()}
	if err := p.assemble(ctx); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

func (p *Plugin) assemble(ctx context.Context) error {
	p.store = p.cfg.Store
	if p.store == nil {
		opened, err := store.Open(ctx, p.cfg.DatabaseURL, p.cfg.StoreOptions())
		if err != nil {
			return fmt.Errorf("worker: opening the database: %w", err)
		}
		p.store = opened
		p.closers = append(p.closers, closer(opened.Close))
	}
	var err error
	if p.payloads, err = p.cfg.payloadKeys(); err != nil {
		return fmt.Errorf("worker: Config.PayloadKeys: %w", err)
	}
	types := Types(Known{}).With(p.cfg.Types...).Names()
	if p.telemetry, err = telemetry.New(p.cfg.MeterProvider, //nolint:contextcheck // Counters are begun for the process.
		p.cfg.Logger, types); err != nil {
		return fmt.Errorf("worker: %w", err)
	}
	if p.custom, err = custom.New(p.cfg.Custom); err != nil {
		return fmt.Errorf("worker: Config.Custom: %w", err)
	}
	p.models = p.telemetry.Models(p.cfg.Models)
	schemas := schema.New(0)
	resolve := resolver.New(p.store, resolver.Options{Types: types})
	if p.mux, err = p.executors(schemas, resolve); err != nil {
		return err
	}
	p.control = activities.NewControl(p.store, p.cfg.Logger)
	p.activities, err = activities.New(activities.Config{
		Ledger: p.telemetry.Ledger(p.store), Runs: p.telemetry.Runs(p.store), Journal: p.telemetry.Journal(p.store),
		Agents: p.store, Policies: p.store,
		Resolver: resolve, Schemas: schemas, Types: p.types.All(),
		Outputs: p.store, Executor: p.mux, NestedResultMiddleware: nestedResults(schemas), Models: p.models,
		Hooks:    p.cfg.Hooks,
		Ingester: p.ingester, Control: p.control, Approvals: p.store, Targets: p.types, Grants: p.store, Calls: p.store,
		Spaces: p.store, States: p.store, Graphs: p.store,
		Slots: p.store, Scheduled: scheduler.NewStarter(p.store, p.store, resolve),
	})
	p.closers = append(p.closers, closerFunc(p.closeFunctions)) // Closed first: functions may need the rest.
	return err
}

// Close closes what New opened. Call it after the workers have stopped.
func (p *Plugin) Close() error {
	var err error
	p.closing.Do(func() {
		for _, c := range slices.Backward(p.closers) {
			err = errors.Join(err, c.Close())
		}
	})
	return err
}

// Name implements the plugin interfaces.
func (p *Plugin) Name() string { return "github.com/toolcrib/toolcrib" }

// ConfigureClient configures the client, and the workers made from it, to
// encrypt and decrypt payloads, and to propagate traces.
func (p *Plugin) ConfigureClient(_ context.Context, o client.PluginConfigureClientOptions) error {
	payload.Configure(o.ClientOptions, p.payloads)
	if p.cfg.TracerProvider != nil {
		o.ClientOptions.Interceptors = append(o.ClientOptions.Interceptors, temporaltrace.New(p.cfg.TracerProvider))
	}
	return nil
}

// ConfigureWorkflowReplayer configures a replayer to decrypt the payloads of histories.
func (p *Plugin) ConfigureWorkflowReplayer(
	_ context.Context, o sdkworker.PluginConfigureWorkflowReplayerOptions,
) error {
	options := o.WorkflowReplayerOptions
	options.DataConverter, options.FailureConverter = payload.Wrap(
		options.DataConverter, options.FailureConverter, p.payloads)
	return nil
}

// heartbeatInterval is the longest time between two heartbeats of a running
// call, and so how soon the call learns that it was cancelled.
const heartbeatInterval = 2 * time.Second

// ConfigureWorker configures the worker so that running calls finish when it
// stops, and learn soon of their cancellation. Options that the host has set
// are left unchanged.
func (p *Plugin) ConfigureWorker(_ context.Context, o sdkworker.PluginConfigureWorkerOptions) error {
	if o.WorkerOptions.WorkerStopTimeout == 0 {
		o.WorkerOptions.WorkerStopTimeout = p.cfg.StopTimeout
	}
	if o.WorkerOptions.MaxHeartbeatThrottleInterval == 0 {
		o.WorkerOptions.MaxHeartbeatThrottleInterval = heartbeatInterval
	}
	p.activities.LimitInline(inlineRuns(o.WorkerOptions))
	p.stopTimeout.Store(int64(o.WorkerOptions.WorkerStopTimeout))
	return nil
}

// inlineRuns is how many runs may be advanced as part of their workflows' own tasks: no more
// than activities, and so few that the host's workflows and local activities have their own
// tasks. A Tuner does not say how many that is.
func inlineRuns(o *sdkworker.Options) int {
	if o.Tuner != nil {
		return 0
	}
	runs := activities.DefaultInlineRuns
	if n := o.MaxConcurrentActivityExecutionSize; n > 0 {
		runs = min(runs, n)
	}
	for _, n := range []int{o.MaxConcurrentWorkflowTaskExecutionSize, o.MaxConcurrentLocalActivityExecutionSize} {
		if n > 0 {
			runs = min(runs, n/2)
		}
	}
	return runs
}

// StopWorker stops a worker. What the last one still advances in workflow tasks, near the end
// of the time that it has to stop, is interrupted: an activity of another worker continues it.
func (p *Plugin) StopWorker(
	ctx context.Context,
	o sdkworker.PluginStopWorkerOptions,
	next func(context.Context, sdkworker.PluginStopWorkerOptions),
) {
	p.workers.Add(-1)
	wait := time.Duration(p.stopTimeout.Load())
	timer := time.AfterFunc(wait-min(wait/4, 2*time.Second), func() {
		if p.workers.Load() <= 0 {
			p.activities.InterruptInline()
		}
	})
	defer timer.Stop()
	next(ctx, o)
}

// StartWorker opens and publishes the host's functions, and registers workflows
// and activities with the worker that starts.
func (p *Plugin) StartWorker(
	ctx context.Context,
	o sdkworker.PluginStartWorkerOptions,
	next func(context.Context, sdkworker.PluginStartWorkerOptions) error,
) error {
	if err := p.start(ctx); err != nil {
		return err
	}
	p.tending.Do(p.tend)
	workflows.Register(o.WorkerRegistry)
	p.activities.Register(o.WorkerRegistry)
	p.workers.Add(1)
	return next(ctx, o)
}

// PayloadKeys returns the keys by which what goes through Temporal is encrypted; nil for none.
func (p *Plugin) PayloadKeys() *PayloadKeys { return p.payloads }

// closer makes a Close without an error an [io.Closer].
type closer func()

func (c closer) Close() error {
	c()
	return nil
}

// closerFunc makes a function an [io.Closer].
type closerFunc func() error

func (c closerFunc) Close() error { return c() }

// Builtins returns the built-in tools that calls of this worker can reach, for
// the registry to bring its global tools up to date.
func (p *Plugin) Builtins() []builtins.Spec { return p.builtins.Specs() }

// LostAnalytics returns how many events for [Config.Analytics] were lost so far.
func (p *Plugin) LostAnalytics() int64 {
	if p.analytics == nil {
		return 0
	}
	return p.analytics.Dropped()
}
