package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/toolcrib/toolcrib/executors"
	"github.com/toolcrib/toolcrib/executors/artifact"
	"github.com/toolcrib/toolcrib/internal/payload"
	"github.com/toolcrib/toolcrib/platform/models"
	"github.com/toolcrib/toolcrib/platform/readable"
	"github.com/toolcrib/toolcrib/registry/mcpserver"
	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/webhook/deliver"
	"github.com/toolcrib/toolcrib/worker"
)

// WorkerConfig holds the dependencies and settings of a worker.
type WorkerConfig struct {
	// Plugin configures workflows and activities. The model providers of the
	// environment are added to its Models.
	Plugin worker.Config
	// Environ lists the variables that configure model providers, as
	// "name=value"; see package models. Defaults to the process's.
	Environ []string
	// Temporal holds the options of the Temporal client.
	Temporal client.Options
	// TaskQueue is the worker's task queue. Defaults to [DefaultTaskQueue].
	TaskQueue string
	// Options of the Temporal worker.
	Options sdkworker.Options
	// CachedWorkflows bounds the workflows that the process keeps in memory, over all
	// its workers; one that is not there is replayed from its history when something
	// happens to it. Defaults to [DefaultCachedWorkflows].
	CachedWorkflows int
}

// DefaultCachedWorkflows is the default of [WorkerConfig.CachedWorkflows]. A workflow that
// waits takes some 100 KB of memory.
const DefaultCachedWorkflows = 500

// Worker runs Toolcrib's workflows and activities.
type Worker struct {
	models *models.Set
	plugin *worker.Plugin
	client client.Client
	worker sdkworker.Worker
	rest   func() // Ends what runs beside the worker.
}

// StartWorker starts a worker, which runs until it is stopped.
func StartWorker(ctx context.Context, cfg WorkerConfig) (*Worker, error) {
	if cfg.TaskQueue == "" {
		cfg.TaskQueue = DefaultTaskQueue
	}
	providers, err := models.Open(models.Config{Environ: cfg.Environ, SecretsDir: cfg.Plugin.SecretsDir})
	if err != nil {
		return nil, err
	}
	cfg.Plugin.Models = providers.Models(cfg.Plugin.Models)
	if cfg.Plugin.Reader == nil {
		cfg.Plugin.Reader = readable.New()
	}
	plugin, err := worker.New(ctx, cfg.Plugin)
	if err != nil {
		return nil, errors.Join(err, providers.Close())
	}
	w := &Worker{models: providers, plugin: plugin, rest: func() {}}
	cfg.Temporal.Plugins = append(cfg.Temporal.Plugins, plugin)
	if w.client, err = DialTemporal(ctx, cfg.Temporal); err != nil {
		w.Stop()
		return nil, err
	}
	if err := checkPayloadKeys(ctx, w.client, cfg, plugin.PayloadKeys()); err != nil {
		w.Stop()
		return nil, err
	}
	sdkworker.SetStickyWorkflowCacheSize(cmp.Or(cfg.CachedWorkflows, DefaultCachedWorkflows))
	started := sdkworker.New(w.client, cfg.TaskQueue, cfg.Options)
	if err := started.Start(); err != nil {
		w.Stop()
		return nil, fmt.Errorf("starting the worker: %w", err)
	}
	w.worker = started
	log := cmp.Or(cfg.Plugin.Logger, slog.New(slog.DiscardHandler))
	counting, stop := context.WithCancel(context.WithoutCancel(ctx))
	var counter sync.WaitGroup
	counter.Go(func() { countPeers(counting, w.client, cfg.TaskQueue, log, providers.Share) })
	w.rest = func() {
		stop()
		counter.Wait()
	}
	return w, nil
}

// checkPayloadKeys refuses to start a worker that lacks a payload key of open workflows.
func checkPayloadKeys(ctx context.Context, c client.Client, cfg WorkerConfig, keys *payload.Keyring) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	err := payload.CheckOpen(ctx, c, cmp.Or(cfg.Temporal.Namespace, client.DefaultNamespace), cfg.TaskQueue, keys)
	if _, lacking := errors.AsType[*tool.Error](err); lacking || err == nil {
		return err
	}
	log := cmp.Or(cfg.Plugin.Logger, slog.New(slog.DiscardHandler))
	log.WarnContext(ctx, "the payload keys of open workflows are not known", slog.Any("error", err))
	return nil
}

// Client returns the worker's Temporal client.
func (w *Worker) Client() client.Client { return w.client }

// Discoverer lists the tools of MCP servers, with the worker's configuration.
func (w *Worker) Discoverer() mcpserver.Discoverer { return w.plugin.Discoverer() }

// Apps reads the apps of tools of MCP servers, with the worker's configuration.
func (w *Worker) Apps() worker.Apps { return w.plugin.Apps() }

// CheckWebhook refuses URLs that webhooks may not be sent to, by the worker's
// configuration.
func (w *Worker) CheckWebhook(tenant tool.TenantID, url string) error {
	return w.plugin.CheckWebhook(tenant, url)
}

// Webhooks returns what sends the deliveries of webhooks, with the worker's
// configuration. The caller runs it, and stops it before the worker.
func (w *Worker) Webhooks() (*deliver.Deliverer, error) { return w.plugin.Webhooks() }

// Searcher searches pipelines, with the worker's configuration.
func (w *Worker) Searcher() retrieval.Searcher { return w.plugin.Searcher() }

// Artifacts decides whether artifact tools may be published and programs
// uploaded, by the worker's limits, and compiles them in its sandbox if there
// is one.
func (w *Worker) Artifacts() artifact.Judge { return w.plugin.Artifacts() }

// Types are the implementation types that the worker's calls can have.
func (w *Worker) Types() executors.Types { return w.plugin.Types() }

// ModelProviders returns the names of the worker's model providers.
func (w *Worker) ModelProviders() []string { return w.plugin.ModelProviders() }

// Stop stops polling, lets running calls finish for as long as the plugin's
// configuration allows, and closes what the worker opened.
func (w *Worker) Stop() {
	if w.worker != nil {
		w.worker.Stop()
	}
	w.rest()
	if w.client != nil {
		w.client.Close()
	}
	_ = w.plugin.Close() // Only closes connections.
	_ = w.models.Close()
}
