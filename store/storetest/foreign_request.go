package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// requestCases are the foreign-tenant cases of idempotency keys.
var requestCases = map[string]func(t *testing.T, f foreign){
	"BeginRequest": func(t *testing.T, f foreign) { // The same key, of the same subject, is free.
		t.Helper()
		key := f.begin(t)
		key.Tenant = f.stranger
		r, err := f.Store.BeginRequest(t.Context(), key, digestB, time.Minute, time.Hour)
		require.NoError(t, err)
		require.True(t, r.Taken)
	},
	"FinishRequest": func(t *testing.T, f foreign) {
		t.Helper()
		key := f.begin(t)
		key.Tenant = f.stranger
		RequireKind(t, tool.Conflict, f.Store.FinishRequest(t.Context(), key, 1, store.Answer{Status: 200}))
	},
	"ReleaseRequest": func(t *testing.T, f foreign) {
		t.Helper()
		key := f.begin(t)
		key.Tenant = f.stranger
		RequireKind(t, tool.Conflict, f.Store.ReleaseRequest(t.Context(), key, 1, true))
	},
	"RenewRequest": func(t *testing.T, f foreign) {
		t.Helper()
		key := store.RequestKey{Tenant: f.stranger, Text: "k"}
		RequireKind(t, tool.Conflict, f.Store.RenewRequest(t.Context(), key, 1, time.Minute))
	},
}

// begin takes a key of the fixture's tenant.
func (f foreign) begin(t *testing.T) store.RequestKey {
	t.Helper()
	key := store.RequestKey{Tenant: f.Tenant, Subject: "key:a", Text: "k"}
	r, err := f.Store.BeginRequest(t.Context(), key, digestA, time.Minute, time.Hour)
	require.NoError(t, err)
	require.EqualValues(t, 1, r.Fence)
	return key
}
