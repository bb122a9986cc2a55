package serve

import (
	"cmp"
	"context"
	"slices"

	"go.temporal.io/sdk/client"

	"github.com/toolcrib/toolcrib/file"
	"github.com/toolcrib/toolcrib/internal/payload"
	"github.com/toolcrib/toolcrib/platform/observe"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/runs/reconcile"
	"github.com/toolcrib/toolcrib/runs/scheduler"
)

// Runs assembles the service for runs that the API of cfg uses. Share it with
// the API by [HandlerConfig.Runs].
func Runs(ctx context.Context, cfg HandlerConfig) (*runs.Service, error) {
	if cfg.Store == nil || cfg.Temporal == nil {
		return nil, errIncomplete
	}
	namespace := cmp.Or(cfg.Namespace, client.DefaultNamespace)
	config := reconcile.Config{Store: cfg.Store, Temporal: cfg.Temporal, Namespace: namespace, Logger: cfg.Logger}
	if cfg.Observer != nil {
		config.MeterProvider = cfg.Observer.MeterProvider()
	}
	reconciler, err := reconcile.New(config)
	if err != nil {
		return nil, err
	}
	files := cfg.Files
	if files == nil {
		if files, err = Files(cfg); err != nil {
			return nil, err
		}
	}
	data, _ := payload.Wrap(nil, nil, cfg.PayloadKeys)
	service, err := runs.New(runs.Config{
		Files: files, DataConverter: data,
		Store: cfg.Store, Resolver: cfg.resolver(), Reconciler: reconciler, Temporal: cfg.Temporal,
		TaskQueue:     cmp.Or(cfg.TaskQueue, DefaultTaskQueue),
		Attributes:    searchAttributes(ctx, cfg.Temporal, namespace),
		MaxUnfinished: cfg.MaxUnfinishedRuns, MaxQueued: cfg.MaxQueuedRuns, MaxTenantQueued: cfg.MaxTenantQueuedRuns,
		MaxQueueAge: cfg.MaxQueueAge, Logger: cfg.Logger,
	})
	if err == nil && cfg.Observer != nil {
		cfg.Observer.Collect(observe.Overdue(service))
		cfg.Observer.Collect(observe.Queues(service))
	}
	return service, err
}

// Files assembles the service for files that the API of cfg uses. Share it with [Runs] and the API
// by [HandlerConfig.Files], and run it.
func Files(cfg HandlerConfig) (*file.Service, error) {
	if cfg.Store == nil {
		return nil, errIncomplete
	}
	config := cfg.FileConfig
	config.Store, config.Logger = cfg.Store, cfg.Logger
	config.Contents = append(slices.Clone(config.Contents), cfg.Store.FileContents())
	return file.New(config)
}

// Schedules assembles the service for schedules that the API of cfg uses. Share it with the API
// by [HandlerConfig.Schedules], and run it.
func Schedules(ctx context.Context, cfg HandlerConfig) (*scheduler.Service, error) {
	if cfg.Store == nil || cfg.Temporal == nil {
		return nil, errIncomplete
	}
	namespace := cmp.Or(cfg.Namespace, client.DefaultNamespace)
	return scheduler.New(scheduler.Config{
		Store: cfg.Store, Temporal: cfg.Temporal, Namespace: namespace,
		TaskQueue:     cmp.Or(cfg.TaskQueue, DefaultTaskQueue),
		Attributes:    searchAttributes(ctx, cfg.Temporal, namespace),
		MaxUnfinished: cfg.MaxUnfinishedRuns, Logger: cfg.Logger,
	})
}

// Resolver assembles the resolver that the API of cfg uses. Share it between
// [Runs] and [Handler] by [HandlerConfig.Resolver]: it caches versions.
func Resolver(cfg HandlerConfig) *resolver.Resolver {
	return resolver.New(cfg.Store, resolver.Options{Types: cfg.types().Names()})
}
