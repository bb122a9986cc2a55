package registrytest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/registry/artifact"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/tool"
)

func testArtifactRoundTrip(t *testing.T, f Fixture) {
	t.Helper()
	ctx := t.Context()
	want := artifact.Artifact{
		ID: newID(), Tenant: f.Tenant, Slug: "quote", Name: "Quote \"it\"", Description: "Says <so>.", Language: "wasm",
		Status: definition.ArtifactActive, CreatedBy: "user:ada",
	}
	a, err := f.Store.CreateArtifact(ctx, want)
	require.NoError(t, err)
	want.Revision, want.CreatedAt, want.UpdatedAt = 1, a.CreatedAt, a.UpdatedAt
	require.Equal(t, want, a)
	_, err = f.Store.CreateArtifact(ctx, artifact.Artifact{
		Tenant: f.Tenant, Slug: "quote", Language: "jq", Status: definition.ArtifactActive,
	})
	require.Equal(t, tool.Conflict, tool.KindOf(err))

	program := []byte("\x00asm\x01\x00\x00\x00\xff")
	v := artifact.Version{
		Number: "1.0.0", Digest: "d1", CreatedBy: "user:ada",
		Inputs: []tool.ArtifactInput{
			{Name: "lines", Type: "array", Description: "The lines.", Required: true}, {Name: "tax"},
		},
	}
	was := a
	a, stored, err := f.Store.AddArtifactVersion(ctx, a, v, program)
	require.NoError(t, err)
	require.Equal(t, "1.0.0", a.Version)
	require.Equal(t, int64(2), a.Revision)
	v.CreatedAt, v.Size = stored.CreatedAt, len(program)
	require.Equal(t, v, stored)
	_, _, err = f.Store.AddArtifactVersion(ctx, a, artifact.Version{Number: "1.0.0", Digest: "d2"}, program)
	require.Equal(t, tool.Conflict, tool.KindOf(err), "a version never changes")
	_, _, err = f.Store.AddArtifactVersion(ctx, was, artifact.Version{Number: "1.0.1", Digest: "d2"}, program)
	require.ErrorIs(t, err, definition.ErrChanged)
	_, err = f.Store.SaveArtifact(ctx, was)
	require.ErrorIs(t, err, definition.ErrChanged)

	a.Status = definition.ArtifactDisabled
	a, err = f.Store.SaveArtifact(ctx, a)
	require.NoError(t, err)
	a, _, err = f.Store.AddArtifactVersion(ctx, a, artifact.Version{Number: "1.1.0", Digest: "d2"},
		[]byte("second"))
	require.NoError(t, err)
	versions, err := f.Store.ListArtifactVersions(ctx, f.Tenant, a.ID)
	require.NoError(t, err)
	require.Len(t, versions, 2)
	require.Equal(t, "1.1.0", versions[0].Number)
	require.Empty(t, versions[0].Inputs)
	require.Equal(t, v, versions[1])
	code, err := f.Store.LoadArtifact(ctx, f.Tenant, a.ID, "1.0.0")
	require.NoError(t, err)
	require.Equal(t, tool.ArtifactCode{Language: "wasm", Digest: "d1", Inputs: v.Inputs, Content: program}, code)
	_, err = f.Store.LoadArtifact(ctx, f.Tenant, a.ID, "2.0.0")
	require.Equal(t, tool.NotFound, tool.KindOf(err))

	for _, name := range []string{"quote", a.ID} {
		found, err := f.Store.FindArtifact(ctx, f.Tenant, name)
		require.NoError(t, err)
		require.Equal(t, a, found)
	}
	other, err := f.Store.CreateArtifact(ctx, artifact.Artifact{
		Tenant: f.Tenant, Slug: "another", Language: "jq", Status: definition.ArtifactActive,
	})
	require.NoError(t, err)
	page, err := f.Store.ListArtifacts(ctx, f.Tenant, "", 1)
	require.NoError(t, err)
	require.Equal(t, []artifact.Artifact{other}, page)
	page, err = f.Store.ListArtifacts(ctx, f.Tenant, "another", 10)
	require.NoError(t, err)
	require.Equal(t, []artifact.Artifact{a}, page)
}

func testArtifactIsolation(t *testing.T, f Fixture) {
	t.Helper()
	ctx := t.Context()
	a, err := f.Store.CreateArtifact(ctx, artifact.Artifact{
		Tenant: f.Tenant, Slug: "quote", Language: "jq", Status: definition.ArtifactActive,
	})
	require.NoError(t, err)
	a, _, err = f.Store.AddArtifactVersion(ctx, a, artifact.Version{Number: "1.0.0", Digest: "d1"}, []byte("."))
	require.NoError(t, err)
	_, err = f.Store.FindArtifact(ctx, f.Other, a.ID)
	require.Equal(t, tool.NotFound, tool.KindOf(err))
	_, err = f.Store.LoadArtifact(ctx, f.Other, a.ID, "1.0.0")
	require.Equal(t, tool.NotFound, tool.KindOf(err))
	_, err = f.Store.ListArtifactVersions(ctx, f.Other, a.ID)
	require.Equal(t, tool.NotFound, tool.KindOf(err))
	stolen := a
	stolen.Tenant = f.Other
	_, err = f.Store.SaveArtifact(ctx, stolen)
	require.Equal(t, tool.NotFound, tool.KindOf(err))
	_, _, err = f.Store.AddArtifactVersion(ctx, stolen, artifact.Version{Number: "1.0.1", Digest: "d1"},
		[]byte("."))
	require.Equal(t, tool.NotFound, tool.KindOf(err))
	page, err := f.Store.ListArtifacts(ctx, f.Other, "", 10)
	require.NoError(t, err)
	require.Empty(t, page)
}
