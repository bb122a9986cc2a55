package artifact_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/registry/artifact"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/registrytest"
	"github.com/toolcrib/toolcrib/registry/release"
	"github.com/toolcrib/toolcrib/tool"
)

// bench is a registry of artifacts over a store with two tenants.
type bench struct {
	store     *registrytest.Store
	artifacts *artifact.Registry
	ada       tool.Principal // May write.
	bob       tool.Principal // Of another tenant; may write there.
}

func setup() bench {
	store := registrytest.NewStore()
	writer := []string{registry.ToolsWrite}
	return bench{
		store: store, artifacts: artifact.New(store, artifact.Rules{}),
		ada: tool.Principal{Tenant: store.AddTenant("acme"), Subject: "user:ada", Permissions: writer},
		bob: tool.Principal{Tenant: store.AddTenant("other"), Subject: "user:bob", Permissions: writer},
	}
}

func digestOf(program string) string {
	sum := sha256.Sum256([]byte(program))
	return hex.EncodeToString(sum[:])
}

func upload(version, source string, inputs ...tool.ArtifactInput) definition.ArtifactUpload {
	return definition.ArtifactUpload{Version: version, Source: source, Inputs: inputs}
}

var lines = tool.ArtifactInput{Name: "lines", Type: "array", Required: true}

// makeArtifact makes the artifact "quote" with version 1.0.0, which declares lines.
func makeArtifact(t *testing.T, b bench) artifact.Artifact {
	t.Helper()
	a, v, err := b.artifacts.Create(t.Context(), b.ada, definition.ArtifactSpec{
		Slug: "quote", Language: "javascript", ArtifactUpload: upload("", "first", lines),
	})
	require.NoError(t, err)
	require.Equal(t, release.First, v.Number)
	require.Equal(t, digestOf("first"), v.Digest)
	require.Equal(t, "user:ada", v.CreatedBy)
	return a
}

// Numbers grow, and what stands under one never changes.
func TestUploads(t *testing.T) {
	t.Parallel()

	b, ctx := setup(), t.Context()
	a := makeArtifact(t, b)
	for _, u := range []definition.ArtifactUpload{upload("", "first", lines), upload("1.0.0", "first", lines)} {
		_, v, added, err := b.artifacts.Upload(ctx, b.ada, "quote", u)
		require.NoError(t, err)
		require.False(t, added)
		require.Equal(t, "1.0.0", v.Number)
	}
	_, v, added, err := b.artifacts.Upload(ctx, b.ada, a.ID, upload("", "second"))
	require.NoError(t, err)
	require.True(t, added)
	require.Equal(t, "1.0.1", v.Number)

	tests := []struct {
		name   string
		upload definition.ArtifactUpload
		kind   tool.Kind
		path   string
		says   string
	}{
		{"other content", upload("1.0.0", "other", lines), tool.Conflict, "/version", "at least 1.0.2"},
		{"other inputs", upload("1.0.0", "first"), tool.Conflict, "/version", "other content"},
		{"less", upload("0.9.0", "other"), tool.Conflict, "/version", "expected more than the last, 1.0.1"},
		{"no version", upload("one", "other"), tool.Invalid, "/version", "semantic version"},
		{"nothing", upload("", ""), tool.Invalid, "/source", "expected the program"},
		{"both", definition.ArtifactUpload{Source: "a", Content: []byte("a")}, tool.Invalid, "/content_base64", "one of them"},
		{"name", upload("", "x", tool.ArtifactInput{Name: "a b"}), tool.Invalid, "/inputs/0/name", "a b"},
		{"twice", upload("", "x", lines, lines), tool.Invalid, "/inputs/1/name", "twice"},
		{"type", upload("", "x", tool.ArtifactInput{Name: "a", Type: "date"}), tool.Invalid, "/inputs/0/type", "date"},
	}
	for _, tt := range tests {
		_, _, _, err := b.artifacts.Upload(ctx, b.ada, "quote", tt.upload)
		registrytest.RequireRefused(t, err, tt.kind, tt.path, tt.says)
	}
	_, _, _, err = b.artifacts.Upload(ctx, b.bob, a.ID, upload("", "theirs"))
	require.Equal(t, tool.NotFound, tool.KindOf(err))
	_, _, _, err = b.artifacts.Upload(ctx, tool.Principal{Tenant: b.ada.Tenant}, a.ID, upload("", "theirs"))
	require.Equal(t, tool.Denied, tool.KindOf(err))
	_, versions, err := b.artifacts.Versions(ctx, b.ada, "quote")
	require.NoError(t, err)
	require.Len(t, versions, 2)
}

// A program that is none, or does not compile, is not kept.
func TestUploadsAreJudged(t *testing.T) {
	t.Parallel()

	b, ctx := setup(), t.Context()
	r := artifact.New(b.store, artifact.Rules{
		CheckProgram: func(language string, _ []byte) error {
			if language == "wasm" {
				return &tool.Error{Kind: tool.Invalid, Path: "/content_base64", Msg: "no module"}
			}
			return nil
		},
		Compile: func(_ context.Context, tenant tool.TenantID, _ string, program []byte) error {
			if tenant != b.ada.Tenant || string(program) == "(" {
				return &tool.Error{Kind: tool.Invalid, Path: "/source", Msg: "does not compile"}
			}
			return nil
		},
	})
	_, _, err := r.Create(ctx, b.ada, definition.ArtifactSpec{
		Slug: "a", Language: "wasm", ArtifactUpload: upload("", "x"),
	})
	registrytest.RequireRefused(t, err, tool.Invalid, "/content_base64", "no module")
	_, _, err = r.Create(ctx, b.ada, definition.ArtifactSpec{
		Slug: "a", Language: "jq", ArtifactUpload: upload("", "("),
	})
	registrytest.RequireRefused(t, err, tool.Invalid, "/source", "does not compile")
	_, err = r.Get(ctx, b.ada, "a")
	require.Equal(t, tool.NotFound, tool.KindOf(err), "nothing is written")
	_, _, err = r.Create(ctx, b.ada, definition.ArtifactSpec{Slug: "a", Language: "python"})
	registrytest.RequireRefused(t, err, tool.Invalid, "/language", "python")
}
