package serve

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"go.opentelemetry.io/otel/metric"
	"go.temporal.io/sdk/client"

	"github.com/toolcrib/toolcrib/platform/observe"
	"github.com/toolcrib/toolcrib/runs/reconcile"
	"github.com/toolcrib/toolcrib/store"
)

// ReconcileConfig holds the dependencies and settings of a reconciler.
type ReconcileConfig struct {
	Store    *store.Store  // Required. The caller closes it.
	Temporal client.Client // Required. The caller closes it.
	// Namespace is the client's. Defaults to [client.DefaultNamespace].
	Namespace string
	// MaintenanceURL is the URL of the database, with a login that has
	// [store.MaintenanceRole]. Required.
	MaintenanceURL string
	// SetRole is the role that the login switches to; empty to keep its own. For
	// development, where one login may take any role.
	SetRole string
	// Adopt binds the database to the namespace, even if it is bound to another.
	Adopt bool
	// Observer counts reconciled records. Defaults to none.
	Observer *observe.Observer
	Logger   *slog.Logger // Defaults to [slog.Default].
}

// Reconciler is a reconciler with its database connection.
type Reconciler struct {
	*reconcile.Reconciler
	maintenance *store.Maintenance
	stop        context.CancelFunc
	leading     sync.WaitGroup
}

// NewReconciler connects a reconciler. It fails as [store.OpenMaintenance] does.
// The caller stops it.
func NewReconciler(ctx context.Context, cfg ReconcileConfig) (*Reconciler, error) {
	if cfg.Store == nil || cfg.Temporal == nil || cfg.MaintenanceURL == "" {
		return nil, errors.New("serve: ReconcileConfig.Store, Temporal and MaintenanceURL are required")
	}
	m, err := store.OpenMaintenance(ctx, cfg.MaintenanceURL, store.Options{
		Logger: cfg.Logger, MaxConns: 2, SetRole: cfg.SetRole,
	})
	if err != nil {
		return nil, err
	}
	var meters metric.MeterProvider
	if cfg.Observer != nil {
		meters = cfg.Observer.MeterProvider()
	}
	r, err := reconcile.New(reconcile.Config{
		Store: cfg.Store, Temporal: cfg.Temporal, Namespace: cfg.Namespace, Maintenance: m, Adopt: cfg.Adopt,
		MeterProvider: meters, Logger: cfg.Logger,
	})
	if err != nil {
		m.Close()
		return nil, err
	}
	return &Reconciler{Reconciler: r, maintenance: m, stop: func() {}}, nil
}

// Start runs the reconciler, once it is the leader, until it is stopped. It is
// called once.
func (r *Reconciler) Start(ctx context.Context) {
	leading, stop := context.WithCancel(context.WithoutCancel(ctx))
	r.stop = stop
	r.leading.Go(func() { r.Lead(leading) })
}

// Stop stops the reconciler, so that another process can lead, and closes the
// connection.
func (r *Reconciler) Stop() {
	r.stop()
	r.leading.Wait()
	r.maintenance.Close()
}
