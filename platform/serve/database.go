package serve

import (
	"context"
	"log/slog"

	"github.com/toolcrib/toolcrib/builtins"
	"github.com/toolcrib/toolcrib/executors/mcpcall"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/worker"
)

// Migrated reports what [Migrate] did.
type Migrated struct {
	Steps    []store.Migration
	Builtins []definition.Change // Those that are new or changed.
}

// Migrate migrates a database: its schema, and the platform's own tools. The URL
// is that of the owner, as for [store.Migrate].
func Migrate(ctx context.Context, url string, log *slog.Logger) (Migrated, error) {
	var done Migrated
	var err error
	if done.Steps, err = store.Migrate(ctx, url); err != nil {
		return done, err
	}
	platform, err := store.OpenPlatform(ctx, url, store.Options{Logger: log, MaxConns: 2})
	if err != nil {
		return done, err
	}
	defer platform.Close()
	changes, err := registry.New(platform.Registry(), registry.Options{}).SyncBuiltins(ctx, builtinSpecs())
	for _, c := range changes {
		if c.Action != definition.Unchanged {
			done.Builtins = append(done.Builtins, c)
		}
	}
	return done, err
}

// described are the descriptions of the built-ins, also of those that no worker
// can run.
var described = builtins.Described(mcpcall.CheckConfig)

// builtinSpecs lists the built-ins as definitions for the registry.
func builtinSpecs() []registry.BuiltinSpec {
	var specs []registry.BuiltinSpec
	for _, s := range described.Specs() {
		specs = append(specs, registry.BuiltinSpec{
			Key: s.Key, Version: s.Version, Definition: s.Definition, Policy: s.Policy, OptIn: s.OptIn,
		})
	}
	return specs
}

// GlobalTools returns the registry of the tools of the platform, for operators. The implementation types that
// it checks are those of the workers; what workers alone know, such as their functions, is for them to refuse.
func GlobalTools(p *store.Platform) *registry.Registry {
	return registry.New(p.Registry(), registry.Options{
		Types: worker.Types(worker.Known{}), Builtins: described.Complete,
	}).ForPlatform()
}
