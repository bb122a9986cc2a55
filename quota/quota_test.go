package quota_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/quota"
	"github.com/toolcrib/toolcrib/tool"
)

// A refusal names the quota, its numbers and what to do, and is worth another attempt only where room
// comes by itself.
func TestFailure(t *testing.T) {
	t.Parallel()
	for _, info := range quota.All() {
		over := &quota.ExceededError{Name: info.Name, Limit: 50, Used: 49, More: 2}
		err := over.Failure("op")
		failed := tool.AsError(err)
		require.Contains(t, failed.Msg, "and 49 are used, so that 2 more are beyond it: ")
		passing := info.Name == quota.Runs || info.Name == quota.IdempotencyKeys
		require.Equal(t, map[bool]tool.Kind{true: tool.RateLimited, false: tool.Conflict}[passing], failed.Kind, info.Name)
		require.Equal(t, passing, failed.RetryAfter > 0)
		got, ok := errors.AsType[*quota.ExceededError](err)
		require.True(t, ok)
		require.Equal(t, over, got)
	}
	unknown := tool.AsError((&quota.ExceededError{Name: "later", Limit: 1, Used: 1, More: 1}).Failure("op"))
	require.Equal(t, `the tenant's quota "later" is 1, and 1 are used: delete some, or ask the operator for a higher quota`,
		unknown.Msg)
	require.Equal(t, tool.Conflict, unknown.Kind)
}

func TestFind(t *testing.T) {
	t.Parallel()
	for _, name := range quota.Names() {
		info, err := quota.Find(string(name))
		require.NoError(t, err)
		require.Equal(t, name, info.Name)
		require.NotEmpty(t, info.Counts)
	}
	_, err := quota.Find("elephants")
	require.Equal(t, tool.Invalid, tool.KindOf(err))
	require.ErrorContains(t, err, "storage_bytes")
}

// Rules that mean nothing are refused with the field.
func TestCheck(t *testing.T) {
	t.Parallel()
	limit := func(n int64) *int64 { return &n }
	for path, wrong := range map[string][]quota.Rule{
		"name": {{Name: "elephants"}, {Name: quota.Runs, Limit: limit(1)}},
		"limit": {
			{Name: quota.Tools, Limit: limit(-1)},
			{Name: quota.Tools, Limit: limit(quota.MaxLimit + 1)},
			{Tenant: "t", Name: quota.Runs},
			{Tenant: "t", Name: quota.Runs, Limit: limit(0)},
			{Tenant: "t", Name: quota.Runs, Limit: limit(quota.MaxRuns + 1)},
		},
	} {
		for _, r := range wrong {
			err := r.Check()
			require.Equal(t, tool.Invalid, tool.KindOf(err), r)
			require.Equal(t, path, tool.AsError(err).Path, r)
		}
	}
	for _, right := range []quota.Rule{
		{Name: quota.Tools},
		{Name: quota.Tools, Limit: limit(0)},
		{Name: quota.StorageBytes, Limit: limit(quota.MaxLimit)},
		{Tenant: "t", Name: quota.Runs, Limit: limit(1)},
	} {
		require.NoError(t, right.Check(), right)
	}
}
