package resolver_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/registry/registrytest"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
)

// What a run has pinned is found without touching the source or the heap.
//
//nolint:paralleltest // Allocations are counted for the whole process.
func TestVersionCachedWithoutAllocation(t *testing.T) {
	b := setup(t)
	head := b.add(t, b.acme, "findOrder", nil, "1.0.0")
	digest := mustDigest(t, b, head)
	ctx := context.Background()
	find := func() {
		if _, err := b.resolver.Version(ctx, b.acme, head.ID, digest); err != nil {
			t.Fatal(err)
		}
	}
	find()
	require.Zero(t, testing.AllocsPerRun(1000, find))
}

func BenchmarkVersionCached(b *testing.B) {
	store := registrytest.NewStore()
	tenant := store.AddTenant("acme")
	head, err := store.CreateTool(b.Context(), tool.Tool{
		Tenant: tenant, Slug: "findOrder", Definition: tool.Definition{Implementation: tool.Internal},
	})
	require.NoError(b, err)
	digest, err := tool.Snapshot{Definition: head.Definition}.Digest()
	require.NoError(b, err)
	_, _, err = store.AddVersion(b.Context(), head, tool.Version{
		Number: "1.0.0", Digest: digest, Snapshot: tool.Snapshot{Definition: head.Definition},
	})
	require.NoError(b, err)
	r := resolver.New(store, resolver.Options{})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Version(b.Context(), tenant, head.ID, digest); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSelect(b *testing.B) {
	e := resolver.Entry{Tool: tool.Tool{
		ID: "a", Tenant: "t", Slug: "findOrder", Status: tool.Published, Active: true,
		Definition: tool.Definition{Implementation: tool.Internal},
	}}
	for i := range 20 {
		e.Versions = append(e.Versions, resolver.VersionInfo{Number: fmt.Sprintf("1.%d.0", i), Published: true})
	}
	c := resolver.Candidates{TenantActive: true, Entries: []resolver.Entry{e}}
	req := resolver.Request{Principal: tool.Principal{Tenant: "t"}, Ref: tool.Ref{Slug: "findOrder", Constraint: "^1.2"}}
	b.ReportAllocs()
	for b.Loop() {
		if s := resolver.Select(c, req); s.Err != nil {
			b.Fatal(s.Err)
		}
	}
}
