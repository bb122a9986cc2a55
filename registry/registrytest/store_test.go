package registrytest_test

import (
	"testing"

	"github.com/toolcrib/toolcrib/registry/registrytest"
)

func TestStore(t *testing.T) {
	t.Parallel()

	registrytest.Run(t, func(*testing.T) registrytest.Fixture {
		s := registrytest.NewStore()
		return registrytest.Fixture{
			Store: s, Platform: s.Platform(), Source: s,
			Tenant: s.AddTenant("acme"), Slug: "acme", Other: s.AddTenant("other"),
		}
	})
}
