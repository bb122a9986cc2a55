package storetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/quota"
)

// quotaCases are the foreign-tenant cases of quotas.
var quotaCases = map[string]func(t *testing.T, f foreign){
	"ListQuotas": func(t *testing.T, f foreign) {
		t.Helper()
		require.NoError(t, f.Platform.Quotas().SetQuota(t.Context(), quota.Rule{
			Tenant: f.Tenant, Name: quota.Agents, Limit: new(int64(7)),
		}))
		listed, err := f.Store.ListQuotas(t.Context(), f.stranger)
		require.NoError(t, err)
		for _, q := range listed {
			require.Zero(t, q.Used, q.Name)
			require.Nil(t, q.Limit, q.Name)
		}
	},
}
