package storetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// keyCases are the foreign-tenant cases of API keys.
var keyCases = map[string]func(t *testing.T, f foreign){
	"CreateKey": func(t *testing.T, f foreign) {
		t.Helper()
		_, _, err := f.Store.CreateKey(t.Context(), store.Key{Tenant: tool.TenantID(NewID(t)), Name: "of no tenant"})
		RequireKind(t, tool.NotFound, err)
	},
	"ListKeys": func(t *testing.T, f foreign) {
		t.Helper()
		f.Key(t, f.Tenant)
		keys, err := f.Store.ListKeys(t.Context(), f.stranger)
		require.NoError(t, err)
		require.Empty(t, keys)
	},
	"RevokeKey": func(t *testing.T, f foreign) {
		t.Helper()
		key, err := f.Store.Authenticate(t.Context(), f.Key(t, f.Tenant))
		require.NoError(t, err)
		_, err = f.Store.RevokeKey(t.Context(), f.stranger, key.ID)
		RequireKind(t, tool.NotFound, err)
	},
	"FindKey": func(t *testing.T, f foreign) {
		t.Helper()
		key, err := f.Store.Authenticate(t.Context(), f.Key(t, f.Tenant))
		require.NoError(t, err)
		_, err = f.Store.FindKey(t.Context(), f.stranger, key.ID)
		RequireKind(t, tool.NotFound, err)
	},
	"Authenticate": func(t *testing.T, f foreign) { // A key's tenant cannot be exchanged for another.
		t.Helper()
		_, err := f.Store.Authenticate(t.Context(), WithTenant(t, f.Key(t, f.Tenant), f.stranger))
		RequireKind(t, tool.Denied, err)
	},
}
