package serve

import (
	"context"
	"errors"
	"fmt"

	"go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/toolcrib/toolcrib/executors"
	"github.com/toolcrib/toolcrib/executors/artifact"
	"github.com/toolcrib/toolcrib/platform/models"
	"github.com/toolcrib/toolcrib/platform/readable"
	"github.com/toolcrib/toolcrib/registry/mcpserver"
	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/worker"
)

// WorkerConfig is what a worker is assembled from.
type WorkerConfig struct {
	// Plugin configures what runs. The model providers of the environment are
	// offered beside its Models.
	Plugin worker.Config
	// Environ lists the variables that configure model providers, as
	// "name=value"; see package models. Defaults to the process's.
	Environ []string
	// Temporal says how Temporal is reached.
	Temporal client.Options
	// TaskQueue is where the worker listens. Defaults to [DefaultTaskQueue].
	TaskQueue string
	// Options of the Temporal worker.
	Options sdkworker.Options
}

// Worker runs Toolcrib's workflows and activities.
type Worker struct {
	models *models.Set
	plugin *worker.Plugin
	client client.Client
	worker sdkworker.Worker
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
	w := &Worker{models: providers, plugin: plugin}
	cfg.Temporal.Plugins = append(cfg.Temporal.Plugins, plugin)
	if w.client, err = DialTemporal(ctx, cfg.Temporal); err != nil {
		w.Stop()
		return nil, err
	}
	started := sdkworker.New(w.client, cfg.TaskQueue, cfg.Options)
	if err := started.Start(); err != nil {
		w.Stop()
		return nil, fmt.Errorf("starting the worker: %w", err)
	}
	w.worker = started
	return w, nil
}

// Client returns the worker's Temporal client.
func (w *Worker) Client() client.Client { return w.client }

// Discoverer talks to MCP servers as the worker's calls do.
func (w *Worker) Discoverer() mcpserver.Discoverer { return w.plugin.Discoverer() }

// Searcher searches pipelines as the worker's calls do.
func (w *Worker) Searcher() retrieval.Searcher { return w.plugin.Searcher() }

// Artifacts decides whether artifact tools may be published and programs
// uploaded, by the worker's limits, and compiles them in its sandbox if there
// is one.
func (w *Worker) Artifacts() artifact.Judge { return w.plugin.Artifacts() }

// Types are the implementation types that the worker's calls can have.
func (w *Worker) Types() executors.Types { return w.plugin.Types() }

// ModelProviders returns the names of the model providers that the worker's
// calls can ask.
func (w *Worker) ModelProviders() []string { return w.plugin.ModelProviders() }

// Stop takes no more work, lets running calls finish for as long as the
// plugin's configuration says, and closes what the worker opened.
func (w *Worker) Stop() {
	if w.worker != nil {
		w.worker.Stop()
	}
	if w.client != nil {
		w.client.Close()
	}
	_ = w.plugin.Close() // Connections that were to end anyway.
	_ = w.models.Close()
}
