package storetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/internal/vault"
	"github.com/toolcrib/toolcrib/tool"
)

// Credential stores a credential of a tenant, with its first data key. Neither can be
// decrypted: the store does not look at the ciphertext.
func (d *Database) Credential(tb testing.TB, tenant tool.TenantID, ref string) vault.Sealed {
	tb.Helper()
	_, err := d.Store.AddDataKey(tb.Context(), vault.DataKey{
		Tenant: tenant, Version: 1, Wrapped: []byte("wrapped"), KEK: "kek-test",
	})
	require.NoError(tb, err)
	created, err := d.Store.CreateCredential(tb.Context(), vault.Sealed{
		Credential: vault.Credential{
			ID: NewID(tb), Tenant: tenant, Ref: ref, Hosts: []string{"api.example.com"}, Version: 1, KeyVersion: 1,
			Selector: secret.Selector{Category: "custom", Provider: ref},
		},
		Ciphertext: []byte("sealed"),
	})
	require.NoError(tb, err)
	found, err := d.Store.FindCredential(tb.Context(), tenant, created.ID)
	require.NoError(tb, err)
	return found
}

// credentialCases are the foreign-tenant cases of credentials and data keys.
var credentialCases = map[string]func(t *testing.T, f foreign){
	"CreateCredential": func(t *testing.T, f foreign) { // The same ref and selector are free.
		t.Helper()
		f.Database.Credential(t, f.Tenant, "shop")
		f.Database.Credential(t, f.stranger, "shop")
	},
	"ChangeCredential": func(t *testing.T, f foreign) {
		t.Helper()
		stolen := f.Database.Credential(t, f.Tenant, "shop")
		stolen.Tenant, stolen.Hosts = f.stranger, []string{"evil.example.com"}
		_, err := f.Store.ChangeCredential(t.Context(), stolen)
		RequireKind(t, tool.Conflict, err) // Like one that does not exist.
		f.requireSame(t, stolen)
	},
	"RevokeCredential": func(t *testing.T, f foreign) {
		t.Helper()
		_, err := f.Store.RevokeCredential(t.Context(), f.stranger, f.Database.Credential(t, f.Tenant, "shop").ID)
		RequireKind(t, tool.NotFound, err)
	},
	"FindCredential": func(t *testing.T, f foreign) {
		t.Helper()
		for _, name := range []string{"shop", f.Database.Credential(t, f.Tenant, "shop").ID} {
			_, err := f.Store.FindCredential(t.Context(), f.stranger, name)
			RequireKind(t, tool.NotFound, err)
		}
	},
	"ListCredentials": func(t *testing.T, f foreign) {
		t.Helper()
		f.Database.Credential(t, f.Tenant, "shop")
		all, err := f.Store.ListCredentials(t.Context(), f.stranger, "", 10)
		require.NoError(t, err)
		require.Empty(t, all)
	},
	"OpenCredential": func(t *testing.T, f foreign) {
		t.Helper()
		f.Database.Credential(t, f.Tenant, "shop")
		_, err := f.Store.OpenCredential(t.Context(), f.stranger, "shop")
		RequireKind(t, tool.NotFound, err)
	},
	"OpenSelected": func(t *testing.T, f foreign) {
		t.Helper()
		_, err := f.Store.OpenSelected(t.Context(), f.stranger, f.Database.Credential(t, f.Tenant, "shop").Selector)
		RequireKind(t, tool.NotFound, err)
	},
	"NoteUse": func(t *testing.T, f foreign) {
		t.Helper()
		theirs := f.Database.Credential(t, f.Tenant, "shop")
		require.NoError(t, f.Store.NoteUse(t.Context(), f.stranger, theirs.ID)) // No effect.
		f.requireSame(t, theirs)
	},
	"AddDataKey": func(t *testing.T, f foreign) {
		t.Helper()
		_, err := f.Store.AddDataKey(t.Context(), vault.DataKey{
			Tenant: tool.TenantID(NewID(t)), Version: 1, Wrapped: []byte("x"), KEK: "k",
		})
		RequireKind(t, tool.NotFound, err)
	},
	"NewestDataKey": func(t *testing.T, f foreign) {
		t.Helper()
		f.Database.Credential(t, f.Tenant, "shop")
		_, err := f.Store.NewestDataKey(t.Context(), f.stranger)
		RequireKind(t, tool.NotFound, err)
	},
	"ListDataKeys": func(t *testing.T, f foreign) {
		t.Helper()
		f.Database.Credential(t, f.Tenant, "shop")
		keys, err := f.Store.ListDataKeys(t.Context(), f.stranger)
		require.NoError(t, err)
		require.Empty(t, keys)
	},
	"RewrapDataKey": func(t *testing.T, f foreign) {
		t.Helper()
		theirs := f.Database.Credential(t, f.Tenant, "shop")
		stolen := theirs.Key
		stolen.Tenant, stolen.Wrapped = f.stranger, []byte("other")
		require.NoError(t, f.Store.RewrapDataKey(t.Context(), stolen, theirs.Key.KEK)) // No effect.
		f.requireSame(t, theirs)
	},
	"ListSealedBefore": func(t *testing.T, f foreign) {
		t.Helper()
		f.Database.Credential(t, f.Tenant, "shop")
		all, err := f.Store.ListSealedBefore(t.Context(), f.stranger, 2, 10)
		require.NoError(t, err)
		require.Empty(t, all)
	},
	"ResealCredential": func(t *testing.T, f foreign) {
		t.Helper()
		theirs := f.Database.Credential(t, f.Tenant, "shop")
		stolen := theirs
		stolen.Tenant, stolen.Ciphertext = f.stranger, []byte("other")
		done, err := f.Store.ResealCredential(t.Context(), stolen)
		require.NoError(t, err)
		require.False(t, done)
		f.requireSame(t, theirs)
	},
}

// requireSame requires that a credential of the fixture's tenant is unchanged.
func (f foreign) requireSame(t *testing.T, was vault.Sealed) {
	t.Helper()
	is, err := f.Store.FindCredential(t.Context(), f.Tenant, was.ID)
	require.NoError(t, err)
	was.Tenant, was.Hosts = is.Tenant, is.Hosts
	require.Equal(t, was, is)
	require.Equal(t, []string{"api.example.com"}, is.Hosts)
}
