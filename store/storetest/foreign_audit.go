package storetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/audit"
	"github.com/toolcrib/toolcrib/tool"
)

// auditCases are the foreign-tenant cases of the audit log.
var auditCases = map[string]func(t *testing.T, f foreign){
	"ListAudit": func(t *testing.T, f foreign) {
		t.Helper()
		own := f.audited(t)
		rows, err := f.Store.ListAudit(t.Context(), f.stranger, audit.Query{Object: own.Object.ID, Limit: 10})
		require.NoError(t, err)
		require.Empty(t, rows)
	},
	"FindAudit": func(t *testing.T, f foreign) {
		t.Helper()
		_, err := f.Store.FindAudit(t.Context(), f.stranger, f.audited(t).ID)
		RequireKind(t, tool.NotFound, err)
	},
	"AuditChain": func(t *testing.T, f foreign) {
		t.Helper()
		f.audited(t)
		require.NoError(t, f.Store.SealAudit(t.Context()))
		rows, err := f.Store.AuditChain(t.Context(), f.stranger, 0, 100)
		require.NoError(t, err)
		require.NotEmpty(t, rows)
		for _, row := range rows {
			require.Equal(t, f.stranger, row.Tenant)
		}
	},
	"AuditState": func(t *testing.T, f foreign) {
		t.Helper()
		require.NoError(t, f.Store.SealAudit(t.Context()))
		before, err := f.Store.AuditState(t.Context(), f.stranger)
		require.NoError(t, err)
		f.audited(t)
		require.NoError(t, f.Store.SealAudit(t.Context()))
		after, err := f.Store.AuditState(t.Context(), f.stranger)
		require.NoError(t, err)
		require.Equal(t, before, after)
	},
	"RefuseAudit": func(t *testing.T, f foreign) {
		t.Helper()
		require.NoError(t, f.Store.RefuseAudit(t.Context(), f.stranger, "tool.deleted", audit.Object{ID: f.Tool.ID}, "no"))
		rows, err := f.Store.ListAudit(t.Context(), f.Tenant, audit.Query{Outcome: audit.Refused, Limit: 10})
		require.NoError(t, err)
		require.Empty(t, rows)
	},
}

// audited returns a row of the tenant's log.
func (f foreign) audited(tb testing.TB) audit.Entry {
	tb.Helper()
	f.Key(tb, f.Tenant)
	rows, err := f.Store.ListAudit(tb.Context(), f.Tenant, audit.Query{Limit: 1})
	require.NoError(tb, err)
	require.Len(tb, rows, 1)
	return rows[0]
}
