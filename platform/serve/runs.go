package serve

import (
	"cmp"
	"context"

	"go.temporal.io/sdk/client"

	"github.com/toolcrib/toolcrib/runs"
)

// Runs assembles the service that accepts runs and starts their workflows, as
// the API of cfg does. Share it with the API by [HandlerConfig.Runs].
func Runs(ctx context.Context, cfg HandlerConfig) (*runs.Service, error) {
	return runs.New(runs.Config{
		Store: cfg.Store, Temporal: cfg.Temporal, TaskQueue: cmp.Or(cfg.TaskQueue, DefaultTaskQueue),
		SearchAttributes: hasSearchAttributes(ctx, cfg.Temporal, cmp.Or(cfg.Namespace, client.DefaultNamespace)),
		MaxUnfinished:    cfg.MaxUnfinishedRuns, Logger: cfg.Logger,
	})
}
