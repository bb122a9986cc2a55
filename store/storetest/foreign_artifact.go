package storetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/tool"
)

// upload makes an artifact of a tenant, with a version.
func (f foreign) upload(t *testing.T, tenant tool.TenantID) registry.Artifact {
	t.Helper()
	a, err := f.Store.CreateArtifact(t.Context(), registry.Artifact{
		Tenant: tenant, Slug: "quote", Language: "jq", Status: registry.ArtifactActive,
	})
	require.NoError(t, err)
	a, _, err = f.Store.AddArtifactVersion(t.Context(), a, registry.ArtifactVersion{Number: "1.0.0", Digest: digestB},
		[]byte("."))
	require.NoError(t, err)
	return a
}
