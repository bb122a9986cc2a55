package storetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/registry/artifact"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/tool"
)

// upload creates an artifact of a tenant, with a version.
func (f foreign) upload(t *testing.T, tenant tool.TenantID) artifact.Artifact {
	t.Helper()
	a, err := f.Store.CreateArtifact(t.Context(), artifact.Artifact{
		Tenant: tenant, Slug: "quote", Language: "jq", Status: definition.ArtifactActive,
	})
	require.NoError(t, err)
	a, _, err = f.Store.AddArtifactVersion(t.Context(), a, artifact.Version{Number: "1.0.0", Digest: digestB},
		[]byte("."))
	require.NoError(t, err)
	return a
}
