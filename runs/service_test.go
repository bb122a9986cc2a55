package runs_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/registry/registrytest"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/tool"
)

// bench is a service over fakes, with a tenant that has a published tool "say".
type bench struct {
	*runs.Service
	store     *fakeStore
	temporal  *fakeTemporal
	principal tool.Principal
	closes    agent.RunStatus // If set, the reconciler closes every run with it.
}

func setup(t *testing.T) *bench {
	t.Helper()
	b := &bench{
		store: &fakeStore{
			Store: registrytest.NewStore(), first: map[string]*agent.Message{}, starts: map[agent.StartKey]agent.Start{},
			ends: map[string]agent.CallEnd{},
		},
		temporal: &fakeTemporal{workflows: map[string]workflow{}},
	}
	b.principal = tool.Principal{Tenant: b.store.AddTenant("acme"), Subject: "user:ada"}
	var err error
	b.Service, err = runs.New(runs.Config{
		Store: b.store, Resolver: resolver.New(b.store.Store, resolver.Options{}), Reconciler: reconciler{b},
		Temporal: b.temporal, TaskQueue: "queue",
	})
	require.NoError(t, err)
	b.publish(t, "say", nil)
	return b
}

// reconciler is the reconciler of a bench.
type reconciler struct{ *bench }

func (r reconciler) Run(ctx context.Context, tenant tool.TenantID, runID string) (agent.Run, error) {
	if r.closes != "" {
		r.store.change(runID, func(run *agent.Run) { run.Status = r.closes })
	}
	return r.store.FindRun(ctx, tenant, runID)
}

func (b *bench) publish(t *testing.T, slug string, edit func(*tool.Tool)) {
	t.Helper()
	head := tool.Tool{
		Tenant: b.principal.Tenant, Slug: slug, Status: tool.Published, Active: true, Version: "1.0.0",
		Definition: tool.Definition{Name: slug, Implementation: tool.Internal},
		Policy:     tool.Policy{EgressClass: tool.EgressNone, PermissionPolicy: tool.PermissionAuto},
	}
	if edit != nil {
		edit(&head)
	}
	head, err := b.store.CreateTool(t.Context(), head)
	require.NoError(t, err)
	snapshot := tool.Snapshot{Definition: head.Definition}
	digest, err := snapshot.Digest()
	require.NoError(t, err)
	_, _, err = b.store.AddVersion(t.Context(), head, tool.Version{
		Number: "1.0.0", Digest: digest, Published: true, Snapshot: snapshot,
	})
	require.NoError(t, err)
}

func (b *bench) publishAgent(t *testing.T, slug string, d agent.Definition) {
	t.Helper()
	head, err := b.store.CreateAgent(t.Context(), agent.Agent{
		Tenant: b.principal.Tenant, Slug: slug, Status: tool.Published, Version: "1.0.0", Definition: d,
	})
	require.NoError(t, err)
	digest, err := d.Digest()
	require.NoError(t, err)
	_, _, err = b.store.AddAgentVersion(t.Context(), head, agent.Version{
		Number: "1.0.0", Digest: digest, Published: true, Snapshot: d,
	})
	require.NoError(t, err)
}

// requireKind checks the kind of an error, and part of its message.
func requireKind(t *testing.T, err error, kind tool.Kind, text string) {
	t.Helper()
	require.Error(t, err)
	require.Equal(t, kind, tool.KindOf(err), err)
	require.Contains(t, tool.AsError(err).Msg, text)
}
