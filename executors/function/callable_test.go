package function_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/tool"
)

// Only what the host made callable is called by name, and only by those who
// may run it.
func TestCallable(t *testing.T) {
	t.Parallel()

	reg := function.NewRegistry()
	echo := func(_ context.Context, in struct{}) (struct{}, error) { return in, nil }
	require.NoError(t, function.Define(reg, "forTools", "For tools alone.", echo))
	require.NoError(t, function.Define(reg, "forAll", "For everybody.", echo, function.Callable()))
	require.NoError(
		t, function.Define(reg, "forOne", "For one tenant.", echo, function.Callable(), function.Tenants("t1")),
	)
	require.NoError(t, function.Define(reg, "forPeople", "For people.", echo, function.Callable(), function.ForUsers()))
	names := func(tenant tool.TenantID) []string {
		var out []string
		for _, d := range function.New(reg).Callable(tenant) {
			out = append(out, d.Name)
		}
		return out
	}
	require.Equal(t, []string{"forAll", "forOne"}, names("t1"))
	require.Equal(t, []string{"forAll"}, names("t2"))
}
