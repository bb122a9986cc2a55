package storetest

import (
	"crypto/rand"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/access"
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
	"UseKey": func(t *testing.T, f foreign) {
		t.Helper()
		_, _, err := f.Store.UseKey(t.Context(), WithTenant(t, f.Key(t, f.Tenant), f.stranger), store.Draw{Take: true})
		RequireKind(t, tool.Denied, err)
	},
	"BeginWebSession": func(t *testing.T, f foreign) {
		t.Helper()
		err := f.Store.BeginWebSession(t.Context(), store.WebSession{Tenant: tool.TenantID(NewID(t)), KeyID: NewID(t)}, nil,
			f.browser(t))
		RequireKind(t, tool.NotFound, err)
	},
	"FindWebSession": func(t *testing.T, f foreign) {
		t.Helper()
		_, err := f.Store.FindWebSession(t.Context(), f.stranger, f.browser(t), true)
		RequireKind(t, tool.NotFound, err)
	},
	"ListWebSessions": func(t *testing.T, f foreign) {
		t.Helper()
		current := f.browser(t)
		own, err := f.Store.ListWebSessions(t.Context(), f.Tenant, store.SessionQuery{Current: current, Limit: 10})
		require.NoError(t, err)
		require.Len(t, own, 1)
		for _, subject := range []string{"", own[0].Subject} {
			found, err := f.Store.ListWebSessions(t.Context(), f.stranger, store.SessionQuery{
				Subject: subject, Current: current, Limit: 10,
			})
			require.NoError(t, err)
			require.Empty(t, found)
		}
	},
	"EndWebSession": func(t *testing.T, f foreign) {
		t.Helper()
		current := f.browser(t)
		own, err := f.Store.ListWebSessions(t.Context(), f.Tenant, store.SessionQuery{Limit: 10})
		require.NoError(t, err)
		for _, subject := range []string{"", own[0].Subject} {
			_, err = f.Store.EndWebSession(t.Context(), f.stranger, own[0].ID, subject)
			RequireKind(t, tool.NotFound, err)
		}
		_, err = f.Store.FindWebSession(t.Context(), f.Tenant, current, true)
		require.NoError(t, err)
	},
	"EndOtherWebSessions": func(t *testing.T, f foreign) {
		t.Helper()
		current := f.browser(t)
		own, err := f.Store.ListWebSessions(t.Context(), f.Tenant, store.SessionQuery{Limit: 10})
		require.NoError(t, err)
		ended, err := f.Store.EndOtherWebSessions(t.Context(), f.stranger, own[0].Subject, nil)
		require.NoError(t, err)
		require.Empty(t, ended)
		_, err = f.Store.FindWebSession(t.Context(), f.Tenant, current, true)
		require.NoError(t, err)
	},
	"UseSessionKey": func(t *testing.T, f foreign) {
		t.Helper()
		w, err := f.Store.FindWebSession(t.Context(), f.Tenant, f.browser(t), true)
		require.NoError(t, err)
		w.Tenant = f.stranger
		_, _, err = f.Store.UseSessionKey(t.Context(), w, store.Draw{})
		RequireKind(t, tool.Denied, err)
	},
	"UseToken": func(t *testing.T, f foreign) {
		t.Helper()
		made := f.role(t, "clerk", "runs.read")
		p, _, err := f.Store.UseToken(t.Context(), store.TokenUser{
			Tenant: f.stranger, Subject: "user:corp/ada", Roles: []string{made.Name},
		}, store.Draw{})
		require.NoError(t, err)
		require.Empty(t, p.Permissions, "a role of another tenant permits nothing")
	},
	"ListTokenUsers": func(t *testing.T, f foreign) {
		t.Helper()
		_, _, err := f.Store.UseToken(t.Context(), store.TokenUser{Tenant: f.Tenant, Subject: "user:corp/ada"}, store.Draw{})
		require.NoError(t, err)
		users, err := f.Store.ListTokenUsers(t.Context(), f.stranger, 10)
		require.NoError(t, err)
		require.Empty(t, users)
	},
	"CreateRole": func(t *testing.T, f foreign) {
		t.Helper()
		f.role(t, "clerk", "runs.read")
		_, err := f.Store.CreateRole(t.Context(), store.Role{
			Role: access.Role{Name: "clerk", Permissions: []string{"runs.read"}}, Tenant: f.stranger,
		})
		require.NoError(t, err, "a name is taken in its own tenant only")
	},
	"FindRole": func(t *testing.T, f foreign) {
		t.Helper()
		_, err := f.Store.FindRole(t.Context(), f.stranger, f.role(t, "clerk", "runs.read").Name)
		RequireKind(t, tool.NotFound, err)
	},
	"ListRoles": func(t *testing.T, f foreign) {
		t.Helper()
		f.role(t, "clerk", "runs.read")
		roles, err := f.Store.ListRoles(t.Context(), f.stranger)
		require.NoError(t, err)
		require.Empty(t, roles)
	},
	"ChangeRole": func(t *testing.T, f foreign) {
		t.Helper()
		r := f.role(t, "clerk", "runs.read")
		r.Tenant = f.stranger
		_, err := f.Store.ChangeRole(t.Context(), r)
		RequireKind(t, tool.Conflict, err)
	},
	"DeleteRole": func(t *testing.T, f foreign) {
		t.Helper()
		_, err := f.Store.DeleteRole(t.Context(), f.stranger, f.role(t, "clerk", "runs.read").Name)
		RequireKind(t, tool.NotFound, err)
	},
	"Authenticate": func(t *testing.T, f foreign) { // A key's tenant cannot be exchanged for another.
		t.Helper()
		_, err := f.Store.Authenticate(t.Context(), WithTenant(t, f.Key(t, f.Tenant), f.stranger))
		RequireKind(t, tool.Denied, err)
	},
}

// browser returns the digest of the secret of a browser that is signed in to the tenant.
func (f foreign) browser(t *testing.T) []byte {
	t.Helper()
	key, err := f.Store.Authenticate(t.Context(), f.Key(t, f.Tenant))
	require.NoError(t, err)
	hash := make([]byte, 32)
	_, _ = rand.Read(hash)
	require.NoError(t, f.Store.BeginWebSession(t.Context(), store.WebSession{Tenant: f.Tenant, KeyID: key.ID}, nil, hash))
	return hash
}
