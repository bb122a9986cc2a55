package operator

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"

	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/offboard"
	"github.com/toolcrib/toolcrib/platform/serve"
	"github.com/toolcrib/toolcrib/store"
)

// tenantCommand has the commands of a tenant that leaves. The group has further commands in package
// commands.
func (a *app) tenantCommand() *cobra.Command {
	return cli.Group("tenant", "Export and erase tenants", a.tenantExportCommand(), a.tenantEraseCommand())
}

// leaveFlags are the flags of exports and erasures.
type leaveFlags struct {
	database, payloads string
	temporal           temporalFlags
	files              fileFlags
}

func (f *leaveFlags) register(cmd *cobra.Command) {
	cli.DatabaseFlag(cmd, &f.database)
	f.temporal.register(cmd)
	f.files.registerObjects(cmd)
}

// open connects to the database as its owner, to the store of objects, and to Temporal if it is asked
// for.
func (a *app) openOffboard(
	ctx context.Context, f *leaveFlags, temporal bool,
) (cfg offboard.Config, closeAll func(), err error) {
	var closers []func()
	closeAll = func() {
		for _, fn := range slices.Backward(closers) {
			fn()
		}
	}
	defer func() {
		if err != nil {
			closeAll()
		}
	}()
	url, err := a.DatabaseURL(f.database)
	if err != nil {
		return cfg, closeAll, err
	}
	cfg.Version = a.Env.Version
	if cfg.Keys, err = a.PayloadKeys(f.payloads); err != nil {
		return cfg, closeAll, err
	}
	if err := f.files.read(a.Env.Getenv); err != nil {
		return cfg, closeAll, err
	}
	cfg.Store, err = store.OpenPlatform(ctx, url, store.Options{
		Logger: a.Logger(), MaxConns: 1,
		Timeouts: store.Timeouts{Operation: time.Minute, Long: time.Hour, Lock: 10 * time.Second},
	})
	if err != nil {
		return cfg, closeAll, err
	}
	closers = append(closers, cfg.Store.Close)
	config, closeFiles, err := f.files.open(ctx, a.Env.Getenv)
	if err != nil {
		return cfg, closeAll, err
	}
	closers = append(closers, closeFiles)
	cfg.Contents = config.Contents
	if !temporal {
		return cfg, closeAll, nil
	}
	opts, err := f.temporal.options(a.Env.Environ, a.Logger())
	if err != nil {
		return cfg, closeAll, err
	}
	cfg.Namespace = cmp.Or(opts.Namespace, client.DefaultNamespace)
	if cfg.Temporal, err = serve.DialTemporal(ctx, opts); err != nil {
		return cfg, closeAll, err
	}
	closers = append(closers, cfg.Temporal.Close)
	return cfg, closeAll, nil
}
