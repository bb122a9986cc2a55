package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/store/storetest"
)

// A tenant whose canaries cannot be judged stops those of no other.
func TestCanariesAreJudgedPastAFailingTenant(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	failing, other := storetest.NewFixture(t, d), storetest.NewFixture(t, d)
	conn := d.Conn(t)
	for i, f := range []*storetest.Fixture{failing, other} {
		f.Canary(t, "2.0.0")
		_, err := conn.Exec(t.Context(), "update tool_canaries set judged_at = now() - make_interval(mins => $2) where tenant_id = $1",
			string(f.Tenant), 10-i)
		require.NoError(t, err)
	}
	require.Equal(t, []string{string(failing.Tenant), string(other.Tenant)},
		texts(t, conn, "select json_array_elements_text(canary_tenants(10))"), "those that waited longest are first")
	for _, sql := range []string{
		`create function refuse_judgement() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$`,
		`create trigger refused before update on tool_canaries for each row when (old.tenant_id = '` + string(failing.Tenant) +
			`') execute function refuse_judgement()`,
	} {
		_, err := conn.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	judged, err := d.Store.JudgeCanaries(t.Context(), 0)
	require.ErrorContains(t, err, string(failing.Tenant))
	require.Equal(t, 1, judged)
	for _, f := range []*storetest.Fixture{failing, other} {
		listed, err := f.Store.ListCanaries(t.Context(), f.Tenant, f.Tool.ID, "", 1)
		require.NoError(t, err)
		require.Equal(t, registry.CanaryRunning, listed[0].State)
	}
}
