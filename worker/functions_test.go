package worker_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/worker"
)

type greeting struct {
	Name string `json:"name"`
}

func greet(_ context.Context, in greeting) (string, error) { return "Hello, " + in.Name, nil }

// start starts a worker as its SDK does, without a server: a worker that was
// started tells so by its error.
func start(t *testing.T, p *worker.Plugin) error {
	t.Helper()
	c, err := client.NewLazyClient(client.Options{HostPort: "127.0.0.1:1"})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return p.StartWorker(t.Context(), sdkworker.PluginStartWorkerOptions{
		WorkerRegistry: sdkworker.New(c, "queue", sdkworker.Options{}),
	},
		func(context.Context, sdkworker.PluginStartWorkerOptions) error { return nil })
}

// Functions are opened once, before the first worker takes a call, and closed
// with the plugin. A worker does not start without them, and may try again.
func TestWorkersOpenFunctions(t *testing.T) {
	t.Parallel()

	db := storetest.NewDatabase(t)
	opened, closed, broken := 0, 0, true
	functions := function.NewRegistry()
	require.NoError(t, function.Define(functions, "greet", "", greet, function.Lifecycle(function.Hooks{
		Open: func(context.Context) error {
			opened++
			if broken {
				return errors.New("no key")
			}
			return nil
		},
		Close: func() error { closed++; return errors.New("stuck") },
	})))
	plugin, err := worker.New(t.Context(), worker.Config{Store: db.Store, Functions: functions})
	require.NoError(t, err)
	require.Zero(t, opened)
	require.ErrorContains(t, start(t, plugin), `opening function "greet": no key`)
	broken = false
	require.NoError(t, start(t, plugin))
	require.NoError(t, start(t, plugin))
	require.Equal(t, 2, opened)
	require.Zero(t, closed)
	require.ErrorContains(t, plugin.Close(), "stuck")
	require.Equal(t, 1, closed)
	require.NoError(t, plugin.Close())

	unused, err := worker.New(t.Context(), worker.Config{Store: db.Store, Functions: functions})
	require.NoError(t, err)
	require.NoError(t, unused.Close(), "what was not opened is not closed")
	require.Equal(t, 1, closed)
}

// What a host's code publishes is there when its worker has started, for the
// tenants that it is for and no others.
func TestWorkersPublishFunctions(t *testing.T) {
	t.Parallel()

	db := storetest.NewDatabase(t)
	acme, globex, third := db.Tenant(t), db.Tenant(t), db.Tenant(t)
	functions := function.NewRegistry()
	require.NoError(t, errors.Join(
		function.Define(functions, "greetPeople", "Greets.", greet, function.Publish("1.2.0"), function.Pure(),
			function.Aliases("hello")),
		function.Define(
			functions,
			"greetGuests",
			"Greets.",
			greet,
			function.Publish("1.0.0"),
			function.Tenants(acme, third),
			function.ForUsers(),
		),
		function.Define(functions, "greetNobody", "Is no tool.", greet),
	))
	cfg := worker.Config{Store: db.Store, Functions: functions, PublishTo: []string{string(acme), slugOf(t, db, globex)}}
	plugin, err := worker.New(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, plugin.Close()) })
	resolve := resolver.New(db.Store, resolver.Options{})
	resolved := func(tenant tool.TenantID, name string) (*resolver.Resolved, error) {
		return resolve.Resolve(t.Context(), resolver.Request{
			Principal: tool.Principal{Tenant: tenant}, Ref: tool.Ref{Slug: name},
		})
	}
	_, err = resolved(acme, "greetPeople")
	require.Equal(t, tool.NotFound, tool.KindOf(err), "no worker has started")
	require.NoError(t, start(t, plugin))
	require.NoError(t, start(t, plugin))

	for _, name := range []string{"greetPeople", "hello"} {
		got, err := resolved(acme, name)
		require.NoError(t, err)
		require.Equal(t, "greetPeople@1.2.0", got.Version.String())
		require.Equal(t, acme, got.Tool.Tenant, "a row of the tenant's own")
		require.True(t, got.Version.Snapshot.Execution.Pure)
	}
	got, err := resolved(acme, "greetGuests")
	require.NoError(t, err)
	require.False(t, got.Version.Snapshot.Interaction.ForModels())
	_, err = resolved(globex, "greetPeople")
	require.NoError(t, err)
	for _, absent := range []struct {
		tenant tool.TenantID
		name   string
	}{{globex, "greetGuests"}, {third, "greetPeople"}, {third, "greetGuests"}, {acme, "greetNobody"}} {
		_, err = resolved(absent.tenant, absent.name)
		require.Equal(t, tool.NotFound, tool.KindOf(err), "%s of %s", absent.name, absent.tenant)
	}
	items, _, err := resolve.List(t.Context(), tool.Principal{Tenant: acme}, tool.Production,
		resolver.Filter{Implementation: tool.Function}, resolver.Page{})
	require.NoError(t, err)
	require.Len(t, items, 2, "they are listed like any tool")

	// Another program has it otherwise under the same version.
	changed := function.NewRegistry()
	require.NoError(
		t, function.Define(changed, "greetPeople", "Greets warmly.", greet, function.Publish("1.2.0"), function.Pure()),
	)
	cfg.Functions = changed
	other, err := worker.New(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, other.Close()) })
	require.ErrorContains(t, start(t, other), "version 1.2.0 was published with other content")

	// The tenant has the last word.
	reg := registry.New(db.Store, registry.Options{})
	_, err = reg.Disable(t.Context(), tool.Principal{
		Tenant: acme, Permissions: []string{"*"},
	}, tool.Ref{Slug: "greetPeople"})
	require.NoError(t, err)
	again, err := worker.New(t.Context(), worker.Config{
		Store: db.Store, Functions: functions, PublishTo: []string{string(acme)},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, again.Close()) })
	require.NoError(t, start(t, again))
	_, err = resolved(acme, "greetPeople")
	require.Equal(t, tool.Conflict, tool.KindOf(err))
}

func TestNewRefusesBadFunctions(t *testing.T) {
	t.Parallel()

	for text, cfg := range map[string]worker.Config{
		"Config.PublishTo": {PublishTo: []string{"no tenant"}},
		`Config.NamedMiddleware["a b"]`: {
			NamedMiddleware: map[string]tool.Middleware{"a b": func(e tool.Executor) tool.Executor { return e }},
		},
		`Config.NamedMiddleware["none"]`: {NamedMiddleware: map[string]tool.Middleware{"none": nil}},
	} {
		cfg.DatabaseURL = "postgres://127.0.0.1:1/x"
		_, err := worker.New(t.Context(), cfg)
		require.ErrorContains(t, err, text)
	}
}

func slugOf(t *testing.T, db *storetest.Database, tenant tool.TenantID) string {
	t.Helper()
	found, err := db.Store.FindTenant(t.Context(), tenant)
	require.NoError(t, err)
	return found.Slug
}

// A worker does not start with functions for a tenant that does not exist.
func TestPublishToAnUnknownTenant(t *testing.T) {
	t.Parallel()

	db := storetest.NewDatabase(t)
	functions := function.NewRegistry()
	require.NoError(t, function.Define(functions, "greetPeople", "Greets.", greet, function.Publish("1.0.0")))
	plugin, err := worker.New(
		t.Context(),
		worker.Config{Store: db.Store, Functions: functions, PublishTo: []string{"nowhere"}},
	)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, plugin.Close()) })
	require.ErrorContains(
		t,
		start(t, plugin),
		`Config.PublishTo: store.TenantOfSlug: not_found: tenant "nowhere" not found`,
	)
}
